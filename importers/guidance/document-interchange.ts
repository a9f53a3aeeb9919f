import { z } from 'zod';
import { isObject, repeatedMember } from '../../src/base/json.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { pointerOf, readShape } from '../read/json-shape.ts';
import { createLosses, type Losses } from '../read/losses.ts';
import { excerpt } from '../read/source-text.ts';
import { completeCsf } from './csf.ts';
import { type DocumentRecord, statusField } from './document-record.ts';
import { statedStatus, statusOf, statusWords } from './document-status.ts';

const kind = 'regdoc';

const words = z.string().min(1).max(100_000);
const sector = z.string().max(500).nullable().default(null);

const document = z.strictObject({
  documentId: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,200}$/, { error: 'must be 1 to 200 of A-Z a-z 0-9 . _ : -' }),
  title: words,
  publisher: words,
  publisherId: z.string().max(500).default(''),
  doctype: words,
  published: z.iso.date(),
  cyberScore: z.number().min(0).max(1).nullable().default(null),
  jurisdiction: z.string().max(500).default(''),
  sectorLevel1: sector,
  sectorLevel2: sector,
  sectorLevel3: sector,
  sectorLevel4: sector,
  authoritative: z.boolean().default(false),
  sourceUrl: z.url({ protocol: /^https?$/ }).default(''),
  restriction: z.string().max(10_000).nullable().default(null),
  status: z
    .string()
    .refine((text) => statedStatus(text) !== null, { error: `must be one of ${statusWords.join(', ')}` })
    .optional(),
  // The origin of the text: validated, not stored.
  language: z.string().max(100).optional(),
  version: z.string().max(100).optional(),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, { error: 'must be 64 hexadecimal digits' })
    .optional(),
  retrievedAt: z.iso.datetime({ offset: true }).optional(),
});

const signpost = z.strictObject({
  tag: words,
  page: z.int().min(1).default(1),
  inferenceText: words,
  nistCsf: z
    .array(
      z.strictObject({
        csfFunction: z.string().max(20).optional(),
        csfCategory: z.string().max(20).optional(),
        csfCategoryName: z.string().max(200).optional(),
      }),
    )
    .default([]),
});

const actionableItem = z.strictObject({
  actionId: z.string().min(1).max(200),
  text: words,
  originText: z.string().max(100_000).default(''),
  sourceReference: z.string().max(10_000).default(''),
  pageIndex: z.int().min(0).default(0),
  obligation: z.boolean().default(false),
  psc: z.boolean().default(false),
  specification: z.boolean().default(false),
  timingOrTrigger: z.boolean().default(false),
  applicationConditions: z.string().max(100_000).default(''),
  exemptConditions: z.string().max(100_000).default(''),
});

/** One document of the interchange (rule F10.2). */
const interchange = z.strictObject({
  formatVersion: z.literal('1'),
  document,
  signposts: z.array(signpost).default([]),
  actionableItems: z.array(actionableItem).default([]),
});

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
export function parseInterchange(
  value: unknown,
  text: string,
): { documents: DocumentRecord[]; warnings: string[] } {
  refuseRepeatedMember(text, '');
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return fromValues(
    list.map((each, index) => ({ value: each, place: Array.isArray(value) ? `/${index}` : '' })),
  );
}

/** Reads one document on each line. Throws `ImportError` naming the line. */
export function parseInterchangeLines(text: string): { documents: DocumentRecord[]; warnings: string[] } {
  const values = text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const place = `line ${index + 1}: `;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw new ImportError(`${place}not valid JSON: ${excerpt((error as Error).message, 150)}`, kind);
    }
    refuseRepeatedMember(line, place);
    return [{ value, place }];
  });
  return fromValues(values);
}

/** JSON.parse uses the last of two members with one name and drops the other without an error. */
function refuseRepeatedMember(json: string, place: string): void {
  const path = repeatedMember(json);
  if (path !== null) throw new ImportError(`${place}${pointerOf(path)} occurs twice`, kind);
}

function fromValues(values: { value: unknown; place: string }[]) {
  const warnings: string[] = [];
  const losses = createLosses();
  const ids = new Set<string>();
  const documents = values.map(({ value, place }) => {
    let record: DocumentRecord;
    try {
      record = fromValue(value, warnings, losses);
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      throw new ImportError(`${nameOf(value)}: ${place}${error.message}`, kind);
    }
    if (ids.has(record.documentId))
      throw new ImportError(`the document ${record.documentId} occurs twice`, kind);
    ids.add(record.documentId);
    return record;
  });
  return { documents, warnings: [...warnings, ...losses.warnings()] };
}

function nameOf(value: unknown): string {
  const id = (value as { document?: { documentId?: unknown } } | null)?.document?.documentId;
  return typeof id === 'string' ? `document "${excerpt(id)}"` : 'a document without an id';
}

function fromValue(value: unknown, warnings: string[], losses: Losses): DocumentRecord {
  const { document: head, signposts, actionableItems } = readShape(interchange, value, kind);
  const { language, version, sha256, retrievedAt, status, ...fields } = head;
  for (const [name, stated] of Object.entries({ language, version, sha256, retrievedAt }))
    if (stated !== undefined) losses.add(`document/${name}`);
  const seen = new Set<string>();
  for (const [index, { actionId }] of actionableItems.entries()) {
    if (seen.has(actionId))
      throw new ImportError(`/actionableItems/${index}/actionId: "${excerpt(actionId)}" occurs twice`, kind);
    seen.add(actionId);
  }
  return {
    ...fields,
    signposts: signposts.map((each) => ({
      ...each,
      nistCsf: each.nistCsf.map((stated) => {
        const completed = completeCsf(stated);
        warnings.push(...completed.warnings.map((each) => `document "${fields.documentId}": ${each}`));
        return completed.reference;
      }),
    })),
    actionableItems,
    ...statusField(
      (status === undefined ? null : statedStatus(status)) ??
        statusOf(
          fields.title,
          signposts.slice(0, 3).map(({ inferenceText }) => inferenceText),
        ),
    ),
  };
}
