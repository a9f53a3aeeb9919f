import { worstXml } from './xml.ts';

/** A body in a bad shape: what is bad where, and how it is made to be so many bytes at most. */
export interface Shape {
  name: string;
  make(size: number): string;
  /** Whether it is a file in a bad shape, which only forms for files of that kind read. */
  isFile?: boolean;
}

/** What long texts are made of: a letter, what is trimmed, and what divides lists behind a character of two UTF-16 units. */
export const fillers = ['a', ' ', '\u{1f600},\n'];

type Path = (string | number)[];

const hole = '@hole@';

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
  const copy: Record<string | number, unknown> = (
    Array.isArray(value) ? [...value] : { ...(value as object) }
  ) as never;
  copy[key] = replaced(copy[key], rest, part);
  return copy;
}

/** JSON whose part at a path is a text of JSON that is made for the room that the rest leaves. */
function around(sample: unknown, path: Path, make: (room: number) => string): Shape['make'] {
  const [before = '', after = ''] = JSON.stringify(replaced(sample, path, hole)).split(`"${hole}"`);
  return (size) => before + make(size - Buffer.byteLength(before) - Buffer.byteLength(after)) + after;
}

/** So many copies of a text as fit, divided by commas. */
const listed = (text: string, room: number) =>
  `${text},`.repeat(Math.max(1, Math.floor(room / (Buffer.byteLength(text) + 1)))).slice(0, -1);

/** So many texts as fit, each with another number in the place of its digits. */
export function numbered(text: string, room: number): string[] {
  const made: string[] = [];
  const parts = /\d/.test(text)
    ? text.split(/\d+/g)
    : [text.replace(/"(?=[^"]*$)/, ''), text.includes('"') ? '"' : ''];
  for (let index = 0, left = room; ; index++) {
    const next = parts.join(String(100_000 + index));
    left -= Buffer.byteLength(next) + 1;
    if (left < 0) return made;
    made.push(next);
  }
}

/** A text of JSON in which a filler is repeated to fill a room. */
function long(filler: string, room: number): string {
  const escaped = JSON.stringify(filler).slice(1, -1);
  return `"${escaped.repeat(Math.floor((room - 2) / Buffer.byteLength(escaped)))}"`;
}

/**
 * A value in every bad shape: each object of it wide, each place deep, each text long, each array of many items, good and
 * wrong. A text that is a file of another format (XML, JSON) is varied as that, too. What is in the members `known` is left.
 */
export function* worstJson(sample: unknown, fill: string[], known: readonly string[] = []): Generator<Shape> {
  for (const [path, value] of places(sample)) {
    if (known.includes(String(path[0]))) continue;
    const at = path.join('.') || 'the body';
    const shape = (name: string, make: (room: number) => string): Shape => ({
      name: `${name} ${at}`,
      make: around(sample, path, make),
    });
    if (typeof value === 'object') yield shape('deep', (room) => '['.repeat(room / 2) + ']'.repeat(room / 2));
    if (typeof value === 'string') {
      for (const filler of fill) yield shape(`long ${JSON.stringify(filler)}`, (room) => long(filler, room));
      yield* files(value, shape);
    } else if (Array.isArray(value)) {
      for (const item of ['0', '""', '{}', JSON.stringify(value[0] ?? 'a')])
        yield shape(`many ${item.slice(0, 20)}`, (room) => `[${listed(item, room - 2)}]`);
      yield shape(
        'many different',
        (room) => `[${numbered(JSON.stringify(value[0] ?? 'a'), room - 2).join()}]`,
      );
    } else if (typeof value === 'object' && value !== null) {
      const own = JSON.stringify(value).slice(1, -1);
      const more = own === '' ? '' : `${own},`;
      yield shape(
        'wide',
        (room) => `{${more}${numbered('"m1":0', room - 2 - Buffer.byteLength(more)).join()}}`,
      );
      yield shape('nested', (room) => `${'{"a":'.repeat((room - 1) / 6)}0${'}'.repeat((room - 1) / 6)}`);
    } else yield shape('a long number', (room) => '1'.repeat(room));
  }
}

/** A text that is a file, in the bad shapes of its format; quotation marks take twice the room in a text. */
function* files(
  text: string,
  shape: (name: string, make: (room: number) => string) => Shape,
): Generator<Shape> {
  if (text.startsWith('<'))
    for (const { name, make } of worstXml(text))
      yield shape(`${name} in`, (room) => JSON.stringify(make(room * 0.8)));
  if (text.startsWith('{'))
    for (const { name, make } of worstJson(JSON.parse(text), ['a']))
      yield shape(`${name} in`, (room) => JSON.stringify(make(room / 2)));
}
