import { sha256 } from '../../src/base/ids.ts';
import { compareCodePoints, strip } from '../../src/base/text.ts';
import type { Signpost } from '../../src/catalog/guidance/document-schema.ts';
import { decodeText } from '../../src/read/decode.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { createLosses } from '../read/losses.ts';
import type { GroupFile } from '../read/parsed.ts';
import { type Parsed, skipped, stored } from '../read/parsed.ts';
import { collapseLine, excerpt, firstOf } from '../read/source-text.ts';
import { actionableItemsOf } from './actions.ts';
import { type DocumentSection, readSections } from './blocks.ts';
import { categoriesOf } from './csf.ts';
import type { DocumentsContent } from './document-record.ts';
import { type DocumentRecord, inOrder, recordShape, statusField } from './document-record.ts';
import { statusOf } from './document-status.ts';
import { dateAlone, type Head, readHead, withoutHead } from './markdown-head.ts';
import { sentencesOf } from './sentences.ts';

const kind = 'regdoc-markdown';

/** Why Markdown is no document of its own (rule D9.1). */
export const headlessMarkdown =
  'Markdown without a head: a part of a publication is read in its folder, with cover.md and sec*.md';

/** Reads Markdown with a YAML head (rule D9.1 a), or gives why it is no document. Throws `ImportError`. */
export function parseHeadedMarkdown(text: string): Parsed<DocumentsContent> {
  const head = readHead(text);
  if (head === null) return skipped('Markdown without a head that has a title');
  const { place, body, warnings } = head;
  if (place !== null)
    return skipped(
      `a part of a publication, as ${place} in its head says: it is read in its folder, with cover.md and sec*.md`,
    );
  const sections = readSections(body);
  if (sections.length < 2) return skipped('Markdown without a heading');
  const published = head.published ?? firstDate(body);
  if (published === null) warnings.push('no line contains only a date: the date of publication is unknown');
  const stated = { ...head, published, documentId: slugOf(head.title) };
  const document = toDocument(stated, sections, sections, [text]);
  return stored(kind, { type: 'documents', documents: [document] }, warnings);
}

/** Reads a folder with `cover.md` and `sec*.md` as one document (D9.1 b), its id, title and date from the cover. */
export function parseMarkdownFolder(files: GroupFile[], strict: boolean): Parsed<DocumentsContent> {
  const warnings: string[] = [];
  const textOf = ({ name, bytes }: GroupFile) => {
    const decoded = decodeText(bytes, strict);
    warnings.push(...decoded.warnings.map((warning) => `${excerpt(name)}: ${warning}`));
    return decoded.text;
  };
  const coverText = textOf(files.find((file) => file.name === 'cover.md')!);
  const cover = withoutHead(coverText);
  const parts = partsIn(files, warnings).map((part) => withoutHead(textOf(part)));
  const sections = readSections(...parts);
  const coverSections = readSections(cover);
  const doi = /\bdoi\.org\/10\.6028\/([A-Za-z0-9._:-]{1,190}[A-Za-z0-9])/.exec(cover)?.[1];
  const title = titleOf(coverSections.slice(1)) || readHead(coverText)?.title;
  if (!title)
    throw new ImportError('cover.md has neither a heading of the first level nor a head with a title', kind);
  const day = firstDate(cover);
  const published = day ?? firstDate(cover.replace(/^[ \t]*([A-Z][a-z]+) (\d{4})[ \t]*$/gm, '$1 1, $2'));
  if (published === null)
    warnings.push('no line of cover.md contains only a date: the date of publication is unknown');
  else if (day === null) warnings.push('the date in cover.md has no day: the first of the month is used');
  const stated = {
    documentId: doi ?? slugOf(title),
    title,
    published,
    sourceUrl: doi === undefined ? '' : `https://doi.org/10.6028/${doi}`,
  };
  const document = toDocument(stated, sections, coverSections, [cover, ...parts]);
  return stored(kind, { type: 'documents', documents: [document] }, warnings);
}

const translation = /\.[a-z]{2}(?:-[A-Za-z]{2})?\.md$/;

/** The files with sections in their order: `sec*` by number, `app*`, others by name. */
function partsIn(files: GroupFile[], warnings: string[]): GroupFile[] {
  const translations = files.map(({ name }) => name).filter((name) => translation.test(name));
  if (translations.length > 0)
    warnings.push(`translations are left out: ${firstOf(translations.map((name) => excerpt(name)))}`);
  const losses = createLosses();
  for (const { name } of files) if (/^(?:README|errata)\.md$/.test(name)) losses.add(`the file ${name}`);
  warnings.push(...losses.warnings());
  const number = ({ name }: GroupFile) => Number(/^sec(\d{1,6})/.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
  const rank = ({ name }: GroupFile) => [/^sec/, /^app[A-Z]/, /^/].findIndex((each) => each.test(name));
  return files
    .filter(({ name }) => !translation.test(name) && !/^(?:cover|README|errata)\.md$/.test(name))
    .sort((a, b) => rank(a) - rank(b) || number(a) - number(b) || compareCodePoints(a.name, b.name));
}

/** The title of the last title page: designation, title and subtitle; empty without one. */
function titleOf(sections: DocumentSection[]): string {
  const first = sections.findLastIndex((section) => section.level === 1 && /\d/.test(section.heading));
  const from = first === -1 ? sections.findIndex((section) => section.level === 1) : first;
  if (from === -1) return '';
  const end = sections.findIndex((section, index) => index >= from && section.blocks.length > 0);
  const page = sections.slice(from, end === -1 ? from + 3 : Math.min(from + 3, end + 1));
  const [designation, title, subtitle] = page.map((section) => section.heading);
  return [[designation, title].filter(Boolean).join(', '), subtitle].filter(Boolean).join(': ');
}

type StagedFacts = Pick<Head, 'title' | 'published' | 'sourceUrl'> &
  Partial<Pick<Head, 'publisher' | 'doctype' | 'jurisdiction' | 'status'>> & { documentId: string };

/** A document with what the rule fills in (data/REGULATORY.md); the sections of `front` may say its status. */
function toDocument(
  stated: StagedFacts,
  sections: DocumentSection[],
  front: DocumentSection[],
  texts: string[],
): DocumentRecord {
  const { title, sourceUrl, publisher } = stated;
  const filled = publisherOf(sourceUrl, title);
  const record = inOrder(recordShape, {
    documentId: stated.documentId,
    title,
    publisher: publisher ?? filled.publisher,
    publisherId: publisher === undefined ? filled.publisherId : slugOf(publisher),
    doctype: stated.doctype ?? doctypeOf(title),
    jurisdiction: stated.jurisdiction ?? filled.jurisdiction,
    published: stated.published,
    sourceUrl,
    cyberScore: null,
    sectorLevel1: null,
    sectorLevel2: null,
    sectorLevel3: null,
    sectorLevel4: null,
    authoritative: false,
    restriction: null,
    signposts: sections.filter((section) => section.ordinal > 0).map(toSignpost),
    actionableItems: actionableItemsOf(sections),
  });
  // The same for texts that differ only in white space.
  const text = sha256(texts.map(collapseLine).join('\0'));
  const headings = front.map(({ heading }) => heading).filter((heading) => heading !== '');
  const paragraphs = front
    .flatMap(({ blocks }) => blocks.map((block) => block.text))
    .filter((paragraph) => dateAlone(paragraph) === null);
  const status = stated.status ?? statusOf(title, paragraphs.slice(0, 5), headings.slice(0, 2));
  return { ...record, text, ...statusField(status) };
}

const formal = /^this (?:section|appendix) (?:is|contains)\b.*\b(?:normative|informative)\b/i;

function toSignpost({ ordinal, heading, blocks }: DocumentSection): Signpost {
  const telling = blocks.filter(({ text }) => !formal.test(text) && dateAlone(text) === null);
  const first = telling.find((block) => block.kind === 'paragraph') ?? telling[0];
  return {
    tag: heading,
    page: ordinal,
    inferenceText: first === undefined ? heading : sentencesOf(first.text)[0]!,
    nistCsf: categoriesOf(heading, blocks.map((block) => block.text).join(' ')),
  };
}

const firstDate = (text: string) =>
  text
    .split(/\r?\n/)
    .map(dateAlone)
    .find((date) => date !== null) ?? null;

function slugOf(title: string): string {
  const slug = strip(title.toLowerCase().replace(/[^a-z0-9]+/g, '-'), /-/).slice(0, 200);
  if (slug === '') throw new ImportError(`the title "${excerpt(title)}" does not give an id`, kind);
  return slug;
}

interface Publisher {
  publisher: string;
  publisherId: string;
  jurisdiction: string;
}

const unknown: Publisher = { publisher: '', publisherId: '', jurisdiction: '' };

const cisa: Publisher = {
  publisher: 'Cybersecurity and Infrastructure Security Agency',
  publisherId: 'cisa',
  jurisdiction: 'US',
};
const nist: Publisher = {
  publisher: 'National Institute of Standards and Technology',
  publisherId: 'nist',
  jurisdiction: 'US',
};

const directive = /\b(?:binding operational|emergency) directive \d{2}-\d{2}\b/i;

/** The publisher by address, else by a title that only one uses; empty if unknown. */
function publisherOf(url: string, title: string): Publisher {
  if (url === '') return directive.test(title) ? cisa : unknown;
  const { hostname, pathname } = new URL(url);
  const isAt = (domain: string) => `.${hostname}`.endsWith(`.${domain}`);
  if (isAt('cisa.gov') || isAt('cyber.dhs.gov')) return cisa;
  return isAt('nist.gov') || (hostname === 'doi.org' && pathname.startsWith('/10.6028/')) ? nist : unknown;
}

const doctypes = {
  directive: 'directive',
  guideline: 'guidelines?|special publication',
  standard: 'standards?',
  framework: 'framework',
  regulation: 'regulations?',
  policy: 'polic(?:y|ies)',
  law: 'act',
};

/** The kind of a document by the first words that its title has. */
function doctypeOf(title: string): string {
  const hasWords = (words: string) => new RegExp(`\\b(?:${words})\\b`, 'i').test(title);
  return Object.entries(doctypes).find(([, words]) => hasWords(words))?.[0] ?? 'other';
}
