import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { isStorable } from '../../src/base/text.ts';
import type { DocumentStatus } from '../../src/catalog/guidance/document-schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { monthOf } from '../../src/read/months.ts';
import { createLosses } from '../read/losses.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import { statedStatus, statusWords } from './document-status.ts';

const kind = 'regdoc-markdown';
const longestHead = 64 * 1024;

/** The number of a section or the letter of an appendix: `5`, `A`, `4.2`. */
const ordinal = /^(?:\d{1,4}|[A-Z])(?:\.\d{1,4}){0,5}$/;

/** Fields of the head of a Markdown file. */
export interface HeadFields {
  title: string;
  sourceUrl?: string | undefined;
  publisher?: string | undefined;
  doctype?: string | undefined;
  jurisdiction?: string | undefined;
  published?: string | undefined;
  status?: DocumentStatus | undefined;
}

/** The fields that are stored, and those by which a site generator lays out and finds its pages. */
const stored = ['title', 'sourceUrl', 'publisher', 'doctype', 'jurisdiction', 'published', 'status'];
const ofTheSite =
  /^(?:layout|permalink|redirect_(?:to|from)|subnav|sidenav|nav_exclude|parent|section|nav_?order)$/i;

/** True for a text that begins like a Markdown file with a head. */
export function beginsWithHead(text: string): boolean {
  return /^---[ \t]*\r?\n/.test(text);
}

/** Without the flag `m`: later lines of hyphens are no head. */
function splitHead(text: string): { open: string; yaml: string; close: string } | null {
  const [, open, yaml, close] =
    /^(---[ \t]*\r?\n)([\s\S]{0,65536}?)(?<=\n)(---[ \t]*\r?)(?=\n|$)/.exec(text) ?? [];
  return open === undefined ? null : { open, yaml: yaml!, close: close! };
}

function isUnclosed(text: string): boolean {
  const beginning = text.slice(0, longestHead);
  return beginsWithHead(text) && /^title[ \t]*:/m.test(beginning) && /^#{2,6}[ \t]+\S/m.test(beginning);
}

/** A text without its head: a section of a document may have one for its site. */
export function withoutHead(text: string): string {
  const head = beginsWithHead(text) ? splitHead(text) : null;
  if (head === null || !/^[\w-]+[ \t]*:/m.test(head.yaml)) return text;
  return text.slice(head.open.length + head.yaml.length + head.close.length);
}

/** What a head says: `place` is the field by which a page states its place in a publication, with its value. */
interface Head {
  fields: HeadFields;
  body: string;
  warnings: string[];
  place: string | null;
}

/** Splits Markdown into head and body; null without a title. Throws `ImportError` naming the line. */
export function readHead(text: string): Head | null {
  const { open, yaml, close } = splitHead(text) ?? {};
  if (yaml === undefined) {
    if (isUnclosed(text))
      throw new ImportError('the head, line 1: it does not end with a line of three hyphens', kind);
    return null;
  }
  // Other YAML begins with the same line: only a document has a title.
  if (!/^title[ \t]*:/m.test(yaml) || yaml.length > longestHead) return null;
  const lineCounter = new LineCounter();
  const head = parseDocument(yaml, { uniqueKeys: false, strict: true, prettyErrors: false, lineCounter });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line + 1;
  const [error] = head.errors;
  if (error) {
    throw new ImportError(
      `the head, line ${lineAt(error.pos[0])}: ${excerpt(error.message.split('\n')[0]!, 150)}`,
      kind,
    );
  }
  if (!isMap(head.contents))
    throw new ImportError('the head, line 2: it is not a list of keys and values', kind);
  const warnings: string[] = [];
  const values = new Map<string, string>();
  const lines = new Map<string, number>();
  for (const { key, value } of head.contents.items) {
    const name = isScalar(key) ? String(key.value) : '';
    const stated = isScalar(value) ? String(value.value ?? '') : JSON.stringify(value);
    const before = values.get(name);
    const line = lineAt(isScalar(key) ? (key.range?.[0] ?? 0) : 0);
    if (before !== undefined && before !== stated)
      throw new ImportError(
        `the head, line ${line}: ${excerpt(name)} occurs twice with different values`,
        kind,
      );
    lines.set(name, line);
    if (before !== undefined) warnings.push(`the head states ${excerpt(name)} twice with the same value`);
    values.set(name, stated);
  }
  const field = (name: string) => {
    const value = values.get(name);
    if (value !== undefined && !isStorable(value))
      throw new ImportError(`the head, line ${lines.get(name)}: characters that cannot be stored`, kind);
    return value === undefined || collapseLine(value) === '' ? undefined : collapseLine(value);
  };
  const title = field('title');
  if (title === undefined) return null;
  const published = field('published');
  if (published !== undefined && dateAlone(published) === null)
    throw new ImportError(
      `the head, line ${lines.get('published')}: "${excerpt(published)}" is not a date`,
      kind,
    );
  const losses = createLosses();
  for (const name of values.keys())
    if (field(name) !== undefined && !stored.includes(name) && !ofTheSite.test(name))
      losses.add(`the field ${name} of the head`);
  const statedAs = field('status');
  const status = statedAs === undefined ? null : statedStatus(statedAs);
  if (statedAs !== undefined && status === null)
    warnings.push(
      `the status "${excerpt(statedAs)}" of the head is not one of ${statusWords.join(', ')}: the text decides`,
    );
  warnings.push(...losses.warnings());
  const url = field('sourceUrl') ?? field('redirect_to');
  const fields = {
    title,
    sourceUrl: url !== undefined && URL.canParse(url) && /^https?:/i.test(url) ? url : undefined,
    publisher: field('publisher'),
    doctype: field('doctype'),
    jurisdiction: field('jurisdiction'),
    published: published === undefined ? undefined : dateAlone(published)!,
    status: status ?? undefined,
  };
  const place = ['section', 'navOrder', 'nav_order'].find((name) => ordinal.test(field(name) ?? ''));
  return {
    fields,
    body: text.slice(open!.length + yaml.length + close!.length),
    warnings,
    place: place === undefined ? null : `${place} ${field(place)}`,
  };
}

/** The date of a line with only a date: `May 21, 2015`, `21 May 2015` or `2015-05-21`; null for other lines. */
export function dateAlone(line: string): string | null {
  const text = line
    .trim()
    .replace(/^#+\s+/, '')
    .replace(/^([*_]{1,3})([^*_]+)\1$/, '$2')
    .trim();
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (iso) return checked(iso[1]!, Number(iso[2]), Number(iso[3]));
  const american = /^([A-Za-z]{3,9}) (\d{1,2}), (\d{4})$/.exec(text);
  if (american) return checked(american[3]!, monthOf(american[1]!), Number(american[2]));
  const dayFirst = /^(\d{1,2}) ([A-Za-z]{3,9}) (\d{4})$/.exec(text);
  return dayFirst ? checked(dayFirst[3]!, monthOf(dayFirst[2]!), Number(dayFirst[1])) : null;
}

function checked(year: string, month: number, day: number): string | null {
  const date = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  const time = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date) ? date : null;
}
