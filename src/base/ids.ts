import { createHash } from 'node:crypto';
import { v5 } from 'uuid';

const namespace = v5('gapstone', v5.URL);

/** The namespace of Gapstone's OSCAL properties (rule D30.1). */
export const oscalNamespace = 'urn:uuid:b4297738-d13c-598a-9893-4e8748ea0db2';

/** The UUIDv5 of a kind and its natural key: the same on every machine (rules D5.1, D6.1). */
export function stableId(kind: string, ...key: string[]): string {
  // As bytes: for a text the package builds one three to six times as long, and a key may be a whole checklist.
  return v5(Buffer.from(JSON.stringify([kind, ...key])), namespace);
}

/** The integer id of the mapping of a STIG to an occupation, independent of other rows. */
export function mappingNumber(slug: string, occupationCode: string): number {
  return numberOf(`${slug} ${occupationCode}`);
}

/** The first 52 bits of SHA-256 of a text; for a slug the integer id of its STIG (rule D5.1). */
export function numberOf(key: string): number {
  return Number.parseInt(sha256(key).slice(0, 13), 16);
}

/** SHA-256 in lower-case hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
