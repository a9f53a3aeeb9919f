import { isUtf8 } from 'node:buffer';
import { AppError, badRequest } from '../base/errors.ts';
import { refuseHeavyJson } from '../base/json.ts';
import { decodeText } from '../read/decode.ts';
import { ImportError } from '../read/import-error.ts';
import { readCkl } from './ckl-reader.ts';
import { type OldChecklist, readCklb } from './cklb-reader.ts';
import { badChecklist, type OnFault } from './fields.ts';

/** Bytes of a checklist, or of a body with one (rule D2.3). */
export const maxChecklist = 32 * 1024 * 1024;

/** Whether bytes are XML, in any encoding that an import reads. */
export function isXml(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return /^(?:\xef\xbb\xbf)?\s*</.test(head) || /^(?:\xff\xfe<\0|\xfe\xff\0<)/.test(head);
}

/** Reads a ckl (XML) or cklb (JSON) as text or bytes, or a cklb as an object. Throws a 400. */
export function readChecklist(given: string | object, onFault?: OnFault): OldChecklist {
  if (given instanceof Uint8Array) {
    const { text, warnings } = checklistText(Buffer.from(given));
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

/**
 * Decodes the file of a checklist: UTF-16 after its byte-order mark, as PowerShell writes it; valid UTF-8 whatever the
 * XML declaration says; else as an import does (rule D20), with warnings. Throws a 400.
 */
function checklistText(bytes: Buffer): { text: string; warnings: string[] } {
  const mark = bytes.toString('hex', 0, 2);
  const encoding = mark === 'fffe' ? 'UTF-16LE' : mark === 'feff' ? 'UTF-16BE' : 'UTF-8';
  try {
    if (encoding === 'UTF-8' && !isUtf8(bytes)) return decodeText(bytes);
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), warnings: [] };
  } catch (error) {
    if (error instanceof ImportError || error instanceof TypeError)
      throw badRequest(`The checklist is not valid ${encoding}`);
    throw error;
  }
}
