import { attributesOf } from '../pages.ts';
import { type Shape, worstJson } from './json.ts';
import { worstXml } from './xml.ts';

/** A form of a page: where it goes, and the values of its fields. */
export interface PageForm {
  action: string;
  method: 'get' | 'post';
  fields: [name: string, value: string][];
}

/** The forms of a page; a form with buttons that send it elsewhere counts once for each place. */
export function formsOf(html: string): PageForm[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].flatMap(([, head, inside]) => {
    const controls = [...inside!.matchAll(/<(?:input|select|textarea|button)\b[^>]*>/g)].map(([tag]) => tag);
    const fields = controls.flatMap((tag): [string, string][] => {
      const [name] = attributesOf(tag, 'name');
      return name === undefined ? [] : [[name, attributesOf(tag, 'value')[0] ?? '']];
    });
    const method = /\smethod="post"/i.test(head!) ? 'post' : 'get';
    const actions = [attributesOf(head!, 'action')[0] ?? '', ...attributesOf(inside!, 'formaction')];
    return [...new Set(actions)].map((action): PageForm => ({ action, method, fields }));
  });
}

const fillers = ['a', '+', '%0A', '1%2C%0A', '%F0%9F%98%80'];
/** Long enough to stand in no file by chance. */
export const boundary = 'a-boundary-between-parts-of-forms';

const repeat = (text: string, room: number) => text.repeat(Math.max(1, Math.floor(room / text.length)));

/** A form as URL-encoded text in every bad shape. */
export function* worstFields(fields: PageForm['fields']): Generator<Shape> {
  const names = [...new Set(fields.map(([name]) => name))];
  for (const text of ['a&', '&', '=&', '%', '%41=%41&', 'a[', '\u{1f600}'])
    yield {
      name: `many ${text}`,
      make: (size) => repeat(text, (size / Buffer.byteLength(text)) * text.length),
    };
  yield {
    name: 'wide',
    make: (size) =>
      Array.from({ length: size / 8 }, (_, index) => `${index}=`)
        .join('&')
        .slice(0, size),
  };
  for (const name of names) {
    const others = encoded(fields.filter(([each]) => each !== name));
    const [, value = ''] = fields.find(([each]) => each === name)!;
    const one = `${encoded([[name, value || 'a']])}&`;
    yield { name: `many ${name}`, make: (size) => others + repeat(one, size - others.length) };
    for (const filler of fillers) {
      const before = `${others}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
      yield { name: `long ${filler} ${name}`, make: (size) => before + repeat(filler, size - before.length) };
    }
  }
}

const encoded = (fields: PageForm['fields']) =>
  fields.map((each) => `${each.map(encodeURIComponent).join('=')}&`).join('');

const part = (name: string, value: string, file = '') =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file === '' ? '' : `; filename="${file}"`}\r\n\r\n${value}\r\n`;

/** A form in parts in every bad shape; the files of one that takes any are varied as what they are. */
export function* worstParts(fields: PageForm['fields'], files: string[]): Generator<Shape> {
  const end = `--${boundary}--\r\n`;
  const whole = (name: string, make: (room: number) => string): Shape => ({
    name: `${name} in parts`,
    make: (size) => make(size - end.length) + end,
  });
  const all = fields.map(([name, value]) => part(name, value)).join('');
  yield whole('many parts', (room) => repeat(part('a', ''), room));
  yield whole('many files', (room) => repeat(part('file', 'a', 'a'), room));
  yield whole('many lines', (room) => all + part('a', repeat('\r\n--', room - all.length - 200)));
  yield whole('a long part', (room) => all + part('a', repeat('a', room - all.length - 200)));
  yield whole('a long name', (room) => all + part(repeat('a', room - all.length - 200), ''));
  const field = fields.find(([name]) => name === 'file');
  if (field === undefined) return;
  const others = fields
    .filter(([name]) => name !== 'file')
    .map(([name, value]) => part(name, value))
    .join('');
  for (const file of files)
    for (const { name, make } of file.startsWith('<') ? worstXml(file) : worstJson(JSON.parse(file), ['a']))
      yield {
        ...whole(`${name} of a file`, (room) => others + part('file', make(room - others.length - 200), 'a')),
        isFile: true,
      };
}
