import { badRequest } from '../errors.ts';
import { refuseHeavyJson } from '../json.ts';
import { readCkl } from './ckl.ts';
import { type OldChecklist, readCklb } from './cklb.ts';
import { badChecklist } from './fields.ts';

/** Bytes that a checklist may have, and a body with one (DECISIONS D2.3). */
export const maxChecklist = 32 * 1024 * 1024;

/** Reads a checklist: the text of a ckl (XML) or cklb (JSON), told apart by how it begins, or the object of a cklb. Throws a 400. */
export function readChecklist(given: string | object): OldChecklist {
  if (typeof given !== 'string') return { format: 'cklb', ...readCklb(given) };
  const start = /[^\s\uFEFF]/.exec(given)?.[0];
  if (start === '<') return readCkl(given);
  if (start !== '{') throw badChecklist('', 'is neither a .ckl (XML) nor a .cklb (JSON)');
  refuseHeavyJson(given, 'checklist');
  let value: unknown;
  try {
    value = JSON.parse(given.replace(/^\uFEFF/, ''));
  } catch {
    throw badRequest('checklist: the text is not valid JSON');
  }
  return { format: 'cklb', ...readCklb(value) };
}
