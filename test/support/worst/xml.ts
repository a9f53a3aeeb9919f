import { numbered, type Shape } from './json.ts';

/** A file of XML in every bad shape: each text and attribute long, each element of many, wide or deep; a place of one path once. */
export function* worstXml(sample: string): Generator<Shape> {
  const filled = (name: string, from: number, to: number, make: (room: number) => string): Shape => ({
    name,
    make: (size) => sample.slice(0, from) + make(size - Buffer.byteLength(sample)) + sample.slice(to),
  });
  const repeat = (text: string, room: number) =>
    text.repeat(Math.max(1, Math.floor(room / Buffer.byteLength(text))));
  const open: { name: string; from: number }[] = [];
  const seen = new Set<string>();
  for (const match of sample.matchAll(/<(\/?)([\w:.-]+)([^<>]*?)(\/?)>([^<]*)/g)) {
    const [tag, closing, name, attributes, empty, text] = match as unknown as string[];
    const from = match.index;
    const path = [...open.map((each) => each.name), name].join('/');
    if (closing === '/') {
      const first = open.pop()!;
      const end = from + tag!.length - text!.length;
      if (seen.has(`/${path.replace(/\/[^/]*$/, '')}`) || open.length === 0) continue;
      seen.add(`/${path.replace(/\/[^/]*$/, '')}`);
      const whole = sample.slice(first.from, end);
      yield filled(`many <${name}>`, end, end, (room) => repeat(whole, room));
      // Of what holds nothing else the text alone would differ.
      if (/<\/.*<\//s.test(whole))
        yield filled(`many different <${name}>`, end, end, (room) => numbered(whole, room).join(''));
      continue;
    }
    const after = from + tag!.length - text!.length;
    const inside = after - 1 - empty!.length;
    if (!seen.has(path)) {
      seen.add(path);
      yield filled(`wide <${name}>`, inside, inside, (room) => numbered(' a1=""', room).join(''));
      for (const attribute of attributes!.matchAll(/([\w:.-]+)="([^"]*)"/g)) {
        const at = from + 1 + name!.length + attribute.index + attribute[0].length - 1;
        yield filled(`a long @${attribute[1]} of <${name}>`, at, at, (room) => repeat('a', room));
      }
      if (empty === '') {
        yield filled(`a long <${name}>`, after, after, (room) => repeat('a', room));
        yield filled(`entities in <${name}>`, after, after, (room) => repeat('&amp;', room));
        yield filled(
          `deep <${name}>`,
          after,
          after,
          (room) => repeat('<a>', (room * 3) / 7) + repeat('</a>', (room * 4) / 7),
        );
        yield filled(`empty elements in <${name}>`, after, after, (room) => repeat('<a/>', room));
      }
    }
    if (empty === '') open.push({ name: name!, from });
  }
}
