import { AppError, badRequest } from '../base/errors.ts';
import { refuseHeavyJson } from '../base/json.ts';
import { type DecodedText, decodeFile, headOf, wideEncodingOf } from '../read/decode.ts';
import { ImportError } from '../read/import-error.ts';
import { readCkl } from './ckl-reader.ts';
import { type OldChecklist, readCklb } from './cklb-reader.ts';
import { badChecklist, type OnFault } from './fields.ts';

/** Bytes of a checklist, or of a body with one (rule D2.3). */
export const maxChecklist = 32 * 1024 * 1024;

/** Whether bytes are XML, in any encoding that an import reads. */
export function isXml(bytes: Uint8Array): boolean {
  return headOf(bytes, 1024).trimStart().startsWith('<');
}

/** Reads a ckl (XML) or cklb (JSON) as text or bytes, or a cklb as an object. Throws a 400. */
export function readChecklist(given: string | object, onFault?: OnFault): OldChecklist {
  if (given instanceof Uint8Array) {
    const { text, warnings } = checklistText(given);
    const read = readChecklist(text, onFault);
    return {
      ...read,
      warnings: [...warnings.map((warning) => `The checklist is ${warning}`), ...read.warnings],
    };
  }
  if (typeof given !== 'string') return { format: 'cklb', ...readCklb(given, onFault) };
  try {
    return readText(given, onFault);
  } catch (error) {
    // A JSON pointer does not lead into a text.
    throw error instanceof AppError ? badRequest(error.message, '/checklist') : error;
  }
}

function readText(given: string, onFault?: OnFault): OldChecklist {
  const start = /[^\s\uFEFF]/.exec(given)?.[0];
  if (start === '<') return readCkl(given, onFault);
  if (start !== '{') throw badChecklist('', 'is neither a .ckl (XML) nor a .cklb (JSON)');
  refuseHeavyJson(given, 'checklist');
  let value: unknown;
  try {
    value = JSON.parse(given.replace(/^\uFEFF/, ''));
  } catch {
    throw badRequest('checklist: the text is not valid JSON');
  }
  return { format: 'cklb', ...readCklb(value, onFault) };
}

/** Decodes the file of a checklist, as PowerShell and old tools write it, with warnings. Throws a 400. */
function checklistText(bytes: Uint8Array): DecodedText {
  try {
    return decodeFile(bytes);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    throw badRequest(`The checklist is not valid ${(wideEncodingOf(bytes) ?? 'utf-8').toUpperCase()}`);
  }
}

/** Whether content is XML but no ckl, by its root element: nothing is parsed yet. */
export function isResults(given: string | object | Uint8Array): given is string | Uint8Array {
  if (given instanceof Uint8Array)
    return isXml(given) && !/^(?:.*:)?CHECKLIST$/.test(rootOf(latinHeadOf(given)));
  return (
    typeof given === 'string' && /^[\s\uFEFF]*</.test(given) && !/^(?:.*:)?CHECKLIST$/.test(rootOf(given))
  );
}

function latinHeadOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 1024 * 1024))
    .toString('latin1')
    .replaceAll('\0', '');
}

function rootOf(text: string): string {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const end = text.startsWith('<?', at) ? '?>' : text.startsWith('<!--', at) ? '-->' : null;
    if (end === null)
      return /^<(?:!DOCTYPE\s{1,9})?([\w.:-]{1,64})(?=[\s>/])/i.exec(text.slice(at, at + 100))?.[1] ?? '';
    at = text.indexOf(end, at + 2);
    if (at < 0) return '';
  }
  return '';
}
