import { badRequest } from '../base/errors.ts';
import { ImportError } from '../read/import-error.ts';
import { readXmlEvents, type XmlElement, type XmlHandler } from '../read/xml.ts';

/** Elements of one tree: a rule has some hundred, and each takes some 200 bytes. */
export const largestTree = 100_000;

/** Reads XML of a caller: bytes, or decoded text. Messages begin with `name`. Returns warnings; throws a 400. */
export function readUploadedXml(
  given: string | Uint8Array,
  name: string,
  choose: (root: XmlElement) => XmlHandler,
): string[] {
  try {
    if (typeof given !== 'string') return readXmlEvents(given, {}, choose).warnings;
    if (!given.isWellFormed()) throw new ImportError('must not contain lone surrogates');
    // The text is decoded already: the encoding in its declaration no longer applies.
    const body = given.replace(/^\uFEFF?\s*<\?xml\s[^>]{0,1000}\?>/, '');
    return readXmlEvents(Buffer.from(body), { strict: true }, choose).warnings;
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    // Some messages contain names of the file: cut them (rule D2.2).
    const message = error.message.replace(/\S{65,}/g, (word) => word.slice(0, 64)).slice(0, 200);
    throw badRequest(`${name}: ${message}`, `/${name}`);
  }
}
