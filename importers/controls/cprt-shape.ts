import { z } from 'zod';
import { isObject } from '../../src/base/json.ts';

const document = z.object({
  doc_identifier: z.string(),
  name: z.string(),
  version: z.string(),
});

const element = z
  .object({
    element_type: z.string(),
    element_identifier: z.string(),
    title: z.string(),
    text: z.string(),
  })
  .transform(({ element_type: type, element_identifier: id, title, text }) => ({ type, id, title, text }));

const relationship = z
  .object({
    source_element_identifier: z.string(),
    dest_element_identifier: z.string(),
    dest_doc_identifier: z.string(),
    relationship_identifier: z.string(),
  })
  .transform((stated) => ({
    from: stated.source_element_identifier,
    to: stated.dest_element_identifier,
    document: stated.dest_doc_identifier,
    type: stated.relationship_identifier,
  }));

/** The body of a CPRT export of any publication. */
export const cprtBody = z.object({
  documents: z.array(document).min(1),
  elements: z.array(element),
  relationships: z.array(relationship),
});

export type Cprt = z.infer<typeof cprtBody>;
export type CprtElement = z.infer<typeof element>;

/** The body of a CPRT export, alone or in NIST's `response`; null for other JSON. */
export function cprtBodyOf(value: unknown): object | null {
  const body = isObject(value) && isObject(value.response) ? value.response.elements : value;
  const lists = ['documents', 'elements', 'relationships'];
  return isObject(body) && lists.every((name) => Array.isArray(body[name])) ? body : null;
}

/** The id of the document in a CPRT export, such as `SP_800_171_2_0_0`; `""` without one, null for other JSON. */
export function cprtDocument(value: unknown): string | null {
  const body = cprtBodyOf(value) as { documents: unknown[] } | null;
  if (body === null) return null;
  const [first] = body.documents;
  return isObject(first) && typeof first.doc_identifier === 'string' ? first.doc_identifier : '';
}
