import { sha256 } from '../../src/base/ids.ts';
import { compareCodePoints, strip } from '../../src/base/text.ts';
import type { DocumentStatus, Signpost } from '../../src/catalog/guidance/document-schema.ts';
import { decodeText } from '../../src/read/decode.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { GroupFile } from '../read/group-file.ts';
import { createLosses } from '../read/losses.ts';
import { collapseLine, excerpt, firstOf } from '../read/source-text.ts';
import { actionableItemsOf } from './actions.ts';
import { type DocumentSection, readSections } from './blocks.ts';
import { categoriesOf } from './csf.ts';
import { type DocumentRecord, inOrder, recordShape, statusField } from './document-record.ts';
import { statusOf } from './document-status.ts';
import { dateAlone, readHead, withoutHead } from './markdown-head.ts';
import { doctypeOf, publisherOf } from './publishers.ts';
import { sentencesOf } from './sentences.ts';

const kind = 'regdoc-markdown';

/** Why Markdown is no document of its own (rule D9.1). */
export const headlessMarkdown =
  'Markdown without a head: a part of a publication is read in its folder, with cover.md and sec*.md';

const translation = /\.[a-z]{2}(?:-[A-Za-z]{2})?\.md$/;

export type MarkdownResult = { document: DocumentRecord; warnings: string[] } | { reason: string };

/** Reads Markdown with a YAML head (rule D9.1 a), or gives why it is no document. Throws `ImportError`. */
export function parseHeadedMarkdown(text: string): MarkdownResult {
  const head = readHead(text);
  if (head === null) return { reason: 'Markdown without a head that has a title' };
  if (head.place !== null)
    return {
      reason: `a part of a publication, as ${head.place} in its head says: it is read in its folder, with cover.md and sec*.md`,
    };
  const { fields, body, warnings } = head;
  const sections = readSections(body);
  if (sections.length < 2) return { reason: 'Markdown without a heading' };
  const published = fields.published ?? firstDate(body);
  if (published === null) warnings.push('no line contains only a date: the date of publication is unknown');
  const url = fields.sourceUrl ?? '';
  const { publisher, publisherId, jurisdiction } = publisherOf(url, fields.title);
  const document = toDocument(sections, {
    documentId: slugOf(fields.title),
    title: fields.title,
    publisher: fields.publisher ?? publisher,
    publisherId: fields.publisher === undefined ? publisherId : slugOf(fields.publisher),
    doctype: fields.doctype ?? doctypeOf(fields.title),
    jurisdiction: fields.jurisdiction ?? jurisdiction,
    published,
    sourceUrl: url,
    status: fields.status ?? statusIn(fields.title, sections),
    text: textHash(text),
  });
  return { document, warnings };
}

/** The same for texts that differ only in white space. */
function textHash(...texts: string[]): string {
  return sha256(texts.map(collapseLine).join('\0'));
}

/** Reads a folder with `cover.md` and `sec*.md` as one document (D9.1 b), its id, title and date from the cover. */
export function parseMarkdownFolder(files: GroupFile[], strict: boolean): MarkdownResult {
  const warnings: string[] = [];
  const textOf = ({ name, bytes }: GroupFile) => {
    const decoded = decodeText(bytes, strict);
    warnings.push(...decoded.warnings.map((warning) => `${excerpt(name)}: ${warning}`));
    return decoded.text;
  };
  const coverText = textOf(files.find((file) => file.name === 'cover.md')!);
  const cover = withoutHead(coverText);
  const number = ({ name }: GroupFile) => Number(/^sec(\d{1,6})/.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
  const rank = ({ name }: GroupFile) => [/^sec/, /^app[A-Z]/, /^/].findIndex((each) => each.test(name));
  const parts = files
    .filter(({ name }) => !translation.test(name) && !/^(?:cover|README|errata)\.md$/.test(name))
    .sort((a, b) => rank(a) - rank(b) || number(a) - number(b) || compareCodePoints(a.name, b.name));
  const leftOut = files.map(({ name }) => name).filter((name) => translation.test(name));
  if (leftOut.length > 0)
    warnings.push(`translations are left out: ${firstOf(leftOut.map((name) => excerpt(name)))}`);
  const losses = createLosses();
  for (const { name } of files) if (/^(?:README|errata)\.md$/.test(name)) losses.add(`the file ${name}`);
  warnings.push(...losses.warnings());
  const texts = parts.map((part) => withoutHead(textOf(part)));
  const sections = readSections(...texts);
  const { title: heading, doi } = readCover(cover);
  const title = heading || (readHead(coverText)?.fields.title ?? '');
  if (title === '')
    throw new ImportError('cover.md has neither a heading of the first level nor a head with a title', kind);
  const url = doi === null ? '' : `https://doi.org/10.6028/${doi}`;
  const day = firstDate(cover);
  const published = day ?? firstDate(cover, firstDay);
  if (published === null)
    warnings.push('no line of cover.md contains only a date: the date of publication is unknown');
  else if (day === null) warnings.push('the date in cover.md has no day: the first of the month is used');
  const document = toDocument(sections, {
    documentId: doi ?? slugOf(title),
    title,
    ...publisherOf(url, title),
    doctype: doctypeOf(title),
    published,
    sourceUrl: url,
    status: statusIn(title, readSections(cover)),
    text: textHash(cover, ...texts),
  });
  return { document, warnings };
}

const unstated = {
  cyberScore: null,
  sectorLevel1: null,
  sectorLevel2: null,
  sectorLevel3: null,
  sectorLevel4: null,
  authoritative: false,
  restriction: null,
};

type DocumentHead = Required<
  Omit<DocumentRecord, keyof typeof unstated | 'status' | 'signposts' | 'actionableItems'>
> & { status: DocumentStatus };

/** By the title, the first headings and the first paragraphs. */
function statusIn(title: string, sections: DocumentSection[]): DocumentStatus {
  const headings = sections.map(({ heading }) => heading).filter((heading) => heading !== '');
  const paragraphs = sections
    .flatMap(({ blocks }) => blocks.map(({ text }) => text))
    .filter((text) => dateAlone(text) === null);
  return statusOf(title, paragraphs.slice(0, 5), headings.slice(0, 2));
}

function toDocument(sections: DocumentSection[], head: DocumentHead): DocumentRecord {
  const signposts = sections.filter((section) => section.ordinal > 0).map(toSignpost);
  const actionableItems = actionableItemsOf(sections);
  const { text, status, ...stated } = head;
  const record = inOrder(recordShape, { ...stated, ...unstated, signposts, actionableItems });
  return { ...record, text, ...statusField(status) };
}

const formal = /^this (?:section|appendix) (?:is|contains)\b.*\b(?:normative|informative)\b/i;

function toSignpost({ ordinal, heading, blocks }: DocumentSection): Signpost {
  const telling = blocks.filter(({ text }) => !formal.test(text) && dateAlone(text) === null);
  const first = telling.find((block) => block.kind === 'paragraph') ?? telling[0];
  const body = blocks.map((block) => block.text).join(' ');
  return {
    tag: heading,
    page: ordinal,
    inferenceText: first === undefined ? heading : sentencesOf(first.text)[0]!,
    nistCsf: categoriesOf(heading, body),
  };
}

/** The last title page: designation, title and subtitle; and NIST's part of the DOI. */
function readCover(cover: string): { title: string; doi: string | null } {
  const doi = /\bdoi\.org\/10\.6028\/([A-Za-z0-9._:-]{1,190}[A-Za-z0-9])/.exec(cover)?.[1] ?? null;
  const sections = readSections(cover).slice(1);
  const first = sections.findLastIndex((section) => section.level === 1 && /\d/.test(section.heading));
  const from = first === -1 ? sections.findIndex((section) => section.level === 1) : first;
  if (from === -1) return { title: '', doi };
  const page = [sections[from]!];
  for (const next of sections.slice(from + 1)) {
    if (page.at(-1)!.blocks.length > 0 || page.length === 3) break;
    page.push(next);
  }
  const [designation, title, subtitle] = page.map((section) => section.heading);
  return {
    title: [[designation, title].filter(Boolean).join(', '), subtitle].filter(Boolean).join(': '),
    doi,
  };
}

function firstDate(text: string, written = (line: string) => line): string | null {
  for (const line of text.split(/\r?\n/)) {
    const date = dateAlone(written(line));
    if (date !== null) return date;
  }
  return null;
}

const firstDay = (line: string) => line.trim().replace(/^([A-Z][a-z]+) (\d{4})$/, '$1 1, $2');

function slugOf(title: string): string {
  const slug = strip(title.toLowerCase().replace(/[^a-z0-9]+/g, '-'), /-/).slice(0, 200);
  if (slug === '') throw new ImportError(`the title "${excerpt(title)}" does not give an id`, kind);
  return slug;
}
