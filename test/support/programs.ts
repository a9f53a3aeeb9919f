import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Need } from './harness.ts';

/** Programs of the machine that a test calls. */
export function programs(...names: string[]): Need {
  const missing = names.filter((name) => !isHere(name));
  return { here: missing.length === 0, bring: `Install ${missing.join(' and ')}.` };
}

function isHere(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
