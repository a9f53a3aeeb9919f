import { badRequest } from '../base/errors.ts';
import { ImportError } from '../read/import-error.ts';
import { type ChooseHandler, readXml } from '../read/xml.ts';

/**
 * Reads XML of a caller through the one reader: bytes as an import reads them, or a text that is decoded already. `name`
 * leads the message. Gives what there is to warn of; throws a 400 for what is no well-formed XML within the bounds.
 */
export function readUploadedXml(given: string | Uint8Array, name: string, choose: ChooseHandler): string[] {
  try {
    if (typeof given !== 'string') return readXml(given, {}, choose).warnings;
    if (!given.isWellFormed()) throw new ImportError('must not contain lone surrogates');
    // What its declaration says of an encoding is of the file that it was.
    const body = given.replace(/^\uFEFF?\s*<\?xml\s[^>]{0,1000}\?>/, '');
    return readXml(Buffer.from(body), { strict: true }, choose).warnings;
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    // Names of the file's own stand in some messages: they are cut (rule D2.2).
    const message = error.message.replace(/\S{65,}/g, (word) => word.slice(0, 64)).slice(0, 200);
    throw badRequest(`${name}: ${message}`);
  }
}
