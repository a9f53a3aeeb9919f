/** A body in a bad shape: what is bad where, and how it is made to be so many bytes at most. */
export interface Shape {
  name: string;
  make(size: number): string;
}

const bytesOf = (text: string) => Buffer.byteLength(text);
const repeat = (text: string, room: number) => text.repeat(Math.max(1, Math.floor(room / bytesOf(text))));

type Path = (string | number)[];

/** Every place of a value that is or holds something, with what stands there. */
function* places(value: unknown, path: Path = []): Generator<[Path, unknown]> {
  yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    yield* places(inner, [...path, Array.isArray(value) ? Number(key) : key]);
}

/** A value whose part at a path is another. */
function replaced(value: unknown, [key, ...rest]: Path, part: unknown): unknown {
  if (key === undefined) return part;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, part);
  return copy;
}

/** JSON whose part at a path is made for the room that the rest leaves. */
function around(sample: unknown, path: Path, make: (room: number) => string): Shape['make'] {
  const [before = '', after = ''] = JSON.stringify(replaced(sample, path, '@hole@')).split('"@hole@"');
  return (size) => before + make(size - bytesOf(before) - bytesOf(after)) + after;
}

/** So many texts as fit, each with another number in the place of its digits. */
function numbered(text: string, room: number): string[] {
  const parts = /\d/.test(text)
    ? text.split(/\d+/g)
    : [text.replace(/"(?=[^"]*$)/, ''), text.includes('"') ? '"' : ''];
  const one = bytesOf(parts.join('100000')) + 1;
  return Array.from({ length: Math.max(1, Math.floor(room / one)) }, (_, index) =>
    parts.join(String(100_000 + index)),
  );
}

/**
 * A value in every bad shape: each object of it wide, each place deep, each text long, each array of many items, good and
 * wrong. A text that is a file of another format is varied as that, too.
 */
export function* jsonShapes(sample: unknown, fillers: string[]): Generator<Shape> {
  for (const [path, value] of places(sample)) {
    const at = path.join('.') || 'the body';
    const shape = (name: string, make: (room: number) => string): Shape => ({
      name: `${name} ${at}`,
      make: around(sample, path, make),
    });
    if (typeof value === 'object')
      yield shape('deep', (room) => repeat('[', room / 2) + repeat(']', room / 2));
    if (typeof value === 'string') {
      for (const filler of fillers) {
        const escaped = JSON.stringify(filler).slice(1, -1);
        yield shape(`long ${escaped}`, (room) => `"${repeat(escaped, room - 3)}!"`);
      }
      // Quotation marks take twice the room in a text.
      for (const { name, make } of fileShapes(value))
        yield shape(`${name} in`, (room) => JSON.stringify(make(room / 2)));
    } else if (Array.isArray(value)) {
      const first = JSON.stringify(value[0] ?? 'a');
      for (const item of ['0', '""', '{}', first])
        yield shape(`many ${item.slice(0, 20)}`, (room) => `[${repeat(`${item},`, room - 2).slice(0, -1)}]`);
      yield shape('many different', (room) => `[${numbered(first, room - 2).join()}]`);
    } else if (typeof value === 'object' && value !== null) {
      const own = JSON.stringify(value).slice(1, -1);
      const more = own === '' ? '' : `${own},`;
      yield shape('wide', (room) => `{${more}${numbered('"m1":0', room - 2 - bytesOf(more)).join()}}`);
      yield shape('nested', (room) => `${repeat('{"a":', (room * 5) / 6)}0${repeat('}', room / 6)}`);
    } else yield shape('a long number', (room) => '1'.repeat(room));
  }
}

/** A file in the bad shapes of its format; nothing of a text that is none. */
export function* fileShapes(file: string): Generator<Shape> {
  if (file.startsWith('<')) yield* xmlShapes(file);
  if (file.startsWith('{')) yield* jsonShapes(JSON.parse(file), ['a']);
}

/** A file of XML in every bad shape: each text and attribute long, each element of many, wide or deep; a place of one path once. */
function* xmlShapes(sample: string): Generator<Shape> {
  const filled = (name: string, at: number, make: (room: number) => string): Shape => ({
    name,
    make: (size) => sample.slice(0, at) + make(size - bytesOf(sample)) + sample.slice(at),
  });
  const open: { name: string; from: number }[] = [];
  const seen = new Set<string>();
  const isNew = (path: string) => !seen.has(path) && seen.add(path);
  for (const match of sample.matchAll(/<(\/?)([\w:.-]+)([^<>]*?)(\/?)>/g)) {
    const [tag, closing, name, attributes, empty] = match as unknown as string[];
    const [from, after] = [match.index, match.index + tag!.length];
    const path = [...open.map((each) => each.name), closing ? '' : name].join('/');
    if (closing) {
      const first = open.pop()!;
      if (open.length === 0 || !isNew(path)) continue;
      const whole = sample.slice(first.from, after);
      yield filled(`many <${name}>`, after, (room) => repeat(whole, room));
      // Of what holds nothing else the text alone would differ.
      if (/<\/.*<\//s.test(whole))
        yield filled(`many different <${name}>`, after, (room) => numbered(whole, room).join(''));
      continue;
    }
    if (!empty) open.push({ name: name!, from });
    if (!isNew(path)) continue;
    yield filled(`wide <${name}>`, after - 1 - empty!.length, (room) => numbered(' a1=""', room).join(''));
    for (const attribute of attributes!.matchAll(/([\w:.-]+)="([^"]*)"/g)) {
      const at = from + 1 + name!.length + attribute.index + attribute[0].length - 1;
      yield filled(`a long @${attribute[1]} of <${name}>`, at, (room) => repeat('a', room));
    }
    if (empty) continue;
    for (const [what, text] of [
      ['a long', 'a'],
      ['entities in', '&amp;'],
      ['empty elements in', '<a/>'],
    ] as const)
      yield filled(`${what} <${name}>`, after, (room) => repeat(text, room));
    yield filled(
      `deep <${name}>`,
      after,
      (room) => repeat('<a>', (room * 3) / 7) + repeat('</a>', (room * 4) / 7),
    );
  }
}

/** A form as URL-encoded text in every bad shape. */
export function* formShapes(fields: Record<string, string>, fillers: string[]): Generator<Shape> {
  for (const text of ['a&', '&', '=&', '%', '%41=%41&', 'a[', '\u{1f600}'])
    yield { name: `many ${text}`, make: (size) => repeat(text, size) };
  yield { name: 'wide', make: (size) => numbered('a1=', size).join('&') };
  for (const [name, value] of Object.entries(fields)) {
    const { [name]: _, ...others } = fields;
    const start = `${new URLSearchParams(others)}&${name}=`;
    const one = `${name}=${encodeURIComponent(value || 'a')}&`;
    yield { name: `many ${name}`, make: (size) => start + repeat(one, size - start.length) };
    for (const filler of fillers.map(encodeURIComponent))
      yield {
        name: `long ${filler} ${name}`,
        make: (size) => start + value + repeat(filler, size - start.length - 200),
      };
  }
}

/** Long enough to stand in no file by chance. */
export const boundary = 'a-boundary-between-parts-of-forms';

const part = (name: string, value: string, file = '') =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file && `; filename="${file}"`}\r\n\r\n${value}\r\n`;

/** A form in parts in every bad shape, and with a file in each of its bad shapes. */
export function* partShapes(fields: Record<string, string>, files: string[]): Generator<Shape> {
  const all = Object.entries(fields)
    .map(([name, value]) => part(name, value))
    .join('');
  const whole = (name: string, make: (room: number) => string): Shape => ({
    name: `${name} in parts`,
    make: (size) => `${all}${make(size - all.length - 300)}--${boundary}--\r\n`,
  });
  yield whole('many', (room) => repeat(part('a', ''), room));
  yield whole('many files', (room) => repeat(part('file', 'a', 'a'), room));
  yield whole('many lines', (room) => part('a', repeat('\r\n--', room)));
  yield whole('a long part', (room) => part('a', repeat('a', room)));
  yield whole('a long name', (room) => part(repeat('a', room), ''));
  for (const file of files)
    for (const { name, make } of fileShapes(file))
      yield whole(`${name} of a file`, (room) => part('file', make(room), 'a'));
}
