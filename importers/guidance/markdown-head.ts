import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { isStorable } from '../../src/base/text.ts';
import type { DocumentStatus } from '../../src/catalog/guidance/document-schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { monthOf } from '../../src/read/months.ts';
import { createLosses } from '../read/losses.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import { statedStatus, statusWords } from './document-status.ts';

const longestHead = 64 * 1024;
const statesTitle = /^title[ \t]*:/m;

/** The number of a section or the letter of an appendix: `5`, `A`, `4.2`. */
const ordinal = /^(?:\d{1,4}|[A-Z])(?:\.\d{1,4}){0,5}$/;

/** The fields that are stored, and those by which a site generator lays out and finds its pages. */
const stored = ['title', 'sourceUrl', 'publisher', 'doctype', 'jurisdiction', 'published', 'status'];
const ofTheSite =
  /^(?:layout|permalink|redirect_(?:to|from)|subnav|sidenav|nav_exclude|parent|section|nav_?order)$/i;

/** What a head states. */
export interface Head {
  title: string;
  sourceUrl: string;
  publisher: string | undefined;
  doctype: string | undefined;
  jurisdiction: string | undefined;
  published: string | null;
  status: DocumentStatus | null;
  /** The field by which a page states its place in a publication, with its value. */
  place: string | null;
  body: string;
  warnings: string[];
}

/** True for a text that begins like a Markdown file with a head. */
export function beginsWithHead(text: string): boolean {
  return /^---[ \t]*\r?\n/.test(text);
}

/** Without the flag `m`: later lines of hyphens are no head. */
function splitHead(text: string): { yaml: string; body: string } | null {
  const [head, yaml] = /^---[ \t]*\r?\n([\s\S]{0,65536}?)(?<=\n)---[ \t]*\r?(?=\n|$)/.exec(text) ?? [];
  return yaml === undefined ? null : { yaml, body: text.slice(head!.length) };
}

/** A text without its head: a section of a document may have one for its site. */
export function withoutHead(text: string): string {
  const head = splitHead(text);
  return head !== null && /^[\w-]+[ \t]*:/m.test(head.yaml) ? head.body : text;
}

/** Reads the head of a Markdown file; null without a title: only a document has one. Throws `ImportError` naming the line. */
export function readHead(text: string): Head | null {
  const head = splitHead(text);
  if (head === null) {
    const beginning = text.slice(0, longestHead);
    if (beginsWithHead(text) && statesTitle.test(beginning) && /^#{2,6}[ \t]+\S/m.test(beginning))
      throw faultIn(1, 'it does not end with a line of three hyphens');
    return null;
  }
  const { yaml, body } = head;
  if (!statesTitle.test(yaml) || yaml.length > longestHead) return null;
  const warnings: string[] = [];
  const fields = readFields(yaml, warnings);
  const field = (name: string) => fields.get(name)?.text || undefined;
  const title = field('title');
  if (title === undefined) return null;
  const date = field('published');
  const published = date === undefined ? null : dateAlone(date);
  if (date !== undefined && published === null)
    throw faultIn(fields.get('published')!.line, `"${excerpt(date)}" is not a date`);
  const status = statedStatus(field('status') ?? '');
  if (status === null && field('status') !== undefined)
    warnings.push(
      `the status "${excerpt(field('status')!)}" of the head is not one of ${statusWords.join(', ')}: the text decides`,
    );
  const losses = createLosses();
  for (const name of fields.keys())
    if (field(name) !== undefined && !stored.includes(name) && !ofTheSite.test(name))
      losses.add(`the field ${name} of the head`);
  const url = field('sourceUrl') ?? field('redirect_to') ?? '';
  const place = ['section', 'navOrder', 'nav_order'].find((name) => ordinal.test(field(name) ?? ''));
  return {
    title,
    sourceUrl: URL.canParse(url) && /^https?:/i.test(url) ? url : '',
    publisher: field('publisher'),
    doctype: field('doctype'),
    jurisdiction: field('jurisdiction'),
    published,
    status,
    place: place === undefined ? null : `${place} ${field(place)}`,
    body,
    warnings: [...warnings, ...losses.warnings()],
  };
}

function faultIn(line: number, what: string): ImportError {
  return new ImportError(`the head, line ${line}: ${what}`, 'regdoc-markdown');
}

/** The values by key with their lines. Aliases are not expanded: they could multiply. */
function readFields(yaml: string, warnings: string[]): Map<string, { text: string; line: number }> {
  const lineCounter = new LineCounter();
  const lineAt = (offset: number) => lineCounter.linePos(offset).line + 1;
  const options = { uniqueKeys: false, strict: true, prettyErrors: false, lineCounter };
  const { contents, errors } = parseDocument(yaml, options);
  const [error] = errors;
  if (error) throw faultIn(lineAt(error.pos[0]), excerpt(error.message.split('\n')[0]!, 150));
  if (!isMap(contents)) throw faultIn(2, 'it is not a list of keys and values');
  const fields = new Map<string, { text: string; line: number }>();
  for (const { key, value } of contents.items) {
    const name = isScalar(key) ? String(key.value) : '';
    const line = lineAt(isScalar(key) ? (key.range?.[0] ?? 0) : 0);
    const text = collapseLine(isScalar(value) ? String(value.value ?? '') : JSON.stringify(value));
    if (!isStorable(text)) throw faultIn(line, 'characters that cannot be stored');
    const before = fields.get(name);
    if (before !== undefined && before.text !== text)
      throw faultIn(line, `${excerpt(name)} occurs twice with different values`);
    if (before !== undefined) warnings.push(`the head states ${excerpt(name)} twice with the same value`);
    fields.set(name, { text, line });
  }
  return fields;
}

const dates = [
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})$/,
  /^(?<month>[A-Za-z]{3,9}) (?<day>\d{1,2}), (?<year>\d{4})$/,
  /^(?<day>\d{1,2}) (?<month>[A-Za-z]{3,9}) (?<year>\d{4})$/,
];

/** The date of a line with only a date: `May 21, 2015`, `21 May 2015` or `2015-05-21`; null for other lines. */
export function dateAlone(line: string): string | null {
  const text = line
    .trim()
    .replace(/^#+\s+/, '')
    .replace(/^([*_]{1,3})([^*_]+)\1$/, '$2')
    .trim();
  const stated = dates.map((date) => date.exec(text)?.groups).find((groups) => groups !== undefined);
  if (stated === undefined) return null;
  const { year, month, day } = stated as { year: string; month: string; day: string };
  const number = /^\d/.test(month) ? month : String(monthOf(month)).padStart(2, '0');
  const date = `${year}-${number}-${day.padStart(2, '0')}`;
  return z.iso.date().safeParse(date).success ? date : null;
}
