import { z } from 'zod';
import { isObject } from '../../src/base/json.ts';

const document = z.object({ doc_identifier: z.string(), name: z.string(), version: z.string() });

const element = z.object({
  element_type: z.string(),
  element_identifier: z.string(),
  title: z.string(),
  text: z.string(),
});

const relationship = z.object({
  source_element_identifier: z.string(),
  dest_element_identifier: z.string(),
  dest_doc_identifier: z.string(),
  relationship_identifier: z.string(),
});

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
  const response = memberOf(value, 'response');
  const body = response === undefined ? value : memberOf(response, 'elements');
  const isBody = ['documents', 'elements', 'relationships'].every((name) =>
    Array.isArray(memberOf(body, name)),
  );
  return isBody ? (body as object) : null;
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The id of the document in a CPRT export, such as `SP_800_171_2_0_0`; `""` without one, null for other JSON. */
export function cprtDocument(value: unknown): string | null {
  const body = cprtBodyOf(value);
  if (body === null) return null;
  const [first] = memberOf(body, 'documents') as unknown[];
  const identifier = memberOf(first, 'doc_identifier');
  return typeof identifier === 'string' ? identifier : '';
}
