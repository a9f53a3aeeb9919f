import { z } from 'zod';
import { isObject, repeatedMember } from '../../src/base/json.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { pointerOf, readShape } from '../read/json-shape.ts';
import { createLosses, type Losses } from '../read/losses.ts';
import { type Parsed, stored } from '../read/parsed.ts';
import { excerpt } from '../read/source-text.ts';
import { completeCsf } from './csf.ts';
import type { DocumentsContent } from './document-record.ts';
import { type DocumentRecord, statusField } from './document-record.ts';
import { statedStatus, statusOf, statusWords } from './document-status.ts';

const kind = 'regdoc';

const required = z.string().min(1).max(100_000);
const optional = (length: number) => z.string().max(length).default('');
const nullable = (length: number) => z.string().max(length).nullable().default(null);
const flag = z.boolean().default(false);

/** The origin of the text: validated, not stored. */
const origin = {
  language: z.string().max(100).optional(),
  version: z.string().max(100).optional(),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, { error: 'must be 64 hexadecimal digits' })
    .optional(),
  retrievedAt: z.iso.datetime({ offset: true }).optional(),
};

const document = z.strictObject({
  documentId: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,200}$/, { error: 'must be 1 to 200 of A-Z a-z 0-9 . _ : -' }),
  title: required,
  publisher: required,
  publisherId: optional(500),
  doctype: required,
  published: z.iso.date(),
  cyberScore: z.number().min(0).max(1).nullable().default(null),
  jurisdiction: optional(500),
  sectorLevel1: nullable(500),
  sectorLevel2: nullable(500),
  sectorLevel3: nullable(500),
  sectorLevel4: nullable(500),
  authoritative: flag,
  sourceUrl: z.url({ protocol: /^https?$/ }).default(''),
  restriction: nullable(10_000),
  status: z
    .string()
    .refine((text) => statedStatus(text) !== null, { error: `must be one of ${statusWords.join(', ')}` })
    .optional(),
  ...origin,
});

const signpost = z.strictObject({
  tag: required,
  page: z.int().min(1).default(1),
  inferenceText: required,
  nistCsf: z
    .array(
      z.strictObject({
        csfFunction: optional(20),
        csfCategory: optional(20),
        csfCategoryName: optional(200),
      }),
    )
    .default([]),
});

const actionableItem = z.strictObject({
  actionId: z.string().min(1).max(200),
  text: required,
  originText: optional(100_000),
  sourceReference: optional(10_000),
  pageIndex: z.int().min(0).default(0),
  obligation: flag,
  psc: flag,
  specification: flag,
  timingOrTrigger: flag,
  applicationConditions: optional(100_000),
  exemptConditions: optional(100_000),
});

/** One document of the interchange (rule F10.2). */
const interchange = z.strictObject({
  formatVersion: z.literal('1'),
  document,
  signposts: z.array(signpost).default([]),
  actionableItems: z.array(actionableItem).default([]),
});

/** A document with its place in the source, for messages. */
interface PlacedValue {
  value: unknown;
  place: string;
}

/** True for a JSON value with the shape of the interchange: one document, or an array of them. */
export function isInterchange(value: unknown): boolean {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(first)) return false;
  return (
    'formatVersion' in first || ('document' in first && ('signposts' in first || 'actionableItems' in first))
  );
}

/** True for a line that is a document of the interchange. */
export function isInterchangeLine(line: string): boolean {
  try {
    return isInterchange(JSON.parse(line));
  } catch {
    return false;
  }
}

/** The beginning of an interchange text: it identifies a damaged one, and one with a document on each line. */
export const interchangeBeginning = /^\s*(?:\[\s*)?\{\s*"(?:formatVersion|document)"\s*:/;

/** Reads documents; one bad document rejects the source. `text` is the JSON of `value`. Throws `ImportError`. */
export function parseInterchange(value: unknown, text: string): Parsed<DocumentsContent> {
  refuseRepeatedMember(text, '');
  if (!Array.isArray(value)) return readDocuments([{ value, place: '' }]);
  return readDocuments(value.map((each, index) => ({ value: each, place: `/${index}` })));
}

/** Reads one document on each line. Throws `ImportError` naming the line. */
export function parseInterchangeLines(text: string): Parsed<DocumentsContent> {
  const values = text.split(/\r?\n/).flatMap((line, index): PlacedValue[] => {
    if (line.trim() === '') return [];
    const place = `line ${index + 1}: `;
    try {
      const value: unknown = JSON.parse(line);
      refuseRepeatedMember(line, place);
      return [{ value, place }];
    } catch (error) {
      if (error instanceof ImportError) throw error;
      throw new ImportError(`${place}not valid JSON: ${excerpt((error as Error).message, 150)}`, kind);
    }
  });
  return readDocuments(values);
}

/** JSON.parse uses the last of two members with one name and drops the other without an error. */
function refuseRepeatedMember(json: string, place: string): void {
  const path = repeatedMember(json);
  if (path !== null) throw new ImportError(`${place}${pointerOf(path)} occurs twice`, kind);
}

function readDocuments(values: PlacedValue[]): Parsed<DocumentsContent> {
  const warnings: string[] = [];
  const losses = createLosses();
  const documents = values.map(({ value, place }) => {
    try {
      return readDocument(value, warnings, losses);
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      throw new ImportError(`${nameOf(value)}: ${place}${error.message}`, kind);
    }
  });
  const repeated = firstRepeated(documents.map((each) => each.documentId));
  if (repeated !== -1)
    throw new ImportError(`the document ${documents[repeated]!.documentId} occurs twice`, kind);
  return stored(kind, { type: 'documents', documents }, warnings, losses.warnings());
}

/** The index of the first text that occurred before, or -1. */
function firstRepeated(texts: string[]): number {
  const seen = new Set<string>();
  return texts.findIndex((text) => seen.size === seen.add(text).size);
}

function nameOf(value: unknown): string {
  const id = (value as { document?: { documentId?: unknown } } | null)?.document?.documentId;
  return typeof id === 'string' ? `document "${excerpt(id)}"` : 'a document without an id';
}

function readDocument(value: unknown, warnings: string[], losses: Losses): DocumentRecord {
  const { document: head, signposts, actionableItems } = readShape(interchange, value, kind);
  const { language, version, sha256, retrievedAt, status, ...fields } = head;
  for (const [name, stated] of Object.entries({ language, version, sha256, retrievedAt }))
    if (stated !== undefined) losses.add(`document/${name}`);
  const repeated = firstRepeated(actionableItems.map((item) => item.actionId));
  if (repeated !== -1) {
    const { actionId } = actionableItems[repeated]!;
    throw new ImportError(`/actionableItems/${repeated}/actionId: "${excerpt(actionId)}" occurs twice`, kind);
  }
  const completed = (stated: Parameters<typeof completeCsf>[0]) => {
    const { reference, warnings: told } = completeCsf(stated);
    warnings.push(...told.map((warning) => `document "${fields.documentId}": ${warning}`));
    return reference;
  };
  const beginning = signposts.slice(0, 3).map(({ inferenceText }) => inferenceText);
  return {
    ...fields,
    signposts: signposts.map((each) => ({ ...each, nistCsf: each.nistCsf.map(completed) })),
    actionableItems,
    ...statusField(statedStatus(status ?? '') ?? statusOf(fields.title, beginning)),
  };
}
