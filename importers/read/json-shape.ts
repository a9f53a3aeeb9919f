import type { z } from 'zod';
import { isStorable } from '../../src/base/text.ts';
import { ImportError, type Kind } from '../../src/read/import-error.ts';
import { excerpt } from './source-text.ts';

const maxDepth = 64;

/** Checks JSON against a schema, and its depth and texts. Throws `ImportError` with the pointer of the first fault. */
export function readShape<T>(schema: z.ZodType<T>, value: unknown, kind: Kind): T {
  checkValue(value, [], kind);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  if (issue.code === 'unrecognized_keys')
    throw new ImportError(`${pointerOf([...issue.path, issue.keys[0]!])}: unknown key`, kind);
  const where = issue.path.length === 0 ? 'the document' : pointerOf(issue.path);
  throw new ImportError(`${where}: ${issue.message.replace(/^Invalid input: /, '')}`, kind);
}

function checkValue(value: unknown, path: (string | number)[], kind: Kind): void {
  if (typeof value === 'string') {
    if (!isStorable(value))
      throw new ImportError(`${pointerOf(path)}: a text with characters that cannot be stored`, kind);
  } else if (typeof value === 'object' && value !== null) {
    if (path.length >= maxDepth) throw new ImportError(`the JSON is nested deeper than ${maxDepth}`, kind);
    for (const [key, child] of Object.entries(value)) {
      path.push(key);
      checkValue(child, path, kind);
      path.pop();
    }
  }
}

/** A JSON pointer for messages. */
export function pointerOf(path: PropertyKey[]): string {
  return path.map((step) => `/${excerpt(String(step)).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
