import { createHash } from 'node:crypto';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** The most files and folders that one look reads: it bounds memory and time. */
export const mostSeen = 200_000;

/** How many files a look may still read, and whether there were more. */
export interface LookBounds {
  left: number;
  exceeded: boolean;
  signal: AbortSignal;
}

/**
 * Gives the names in a folder that do not begin with a dot, each with its state: a text that changes with the file, or
 * with any file of the folder; empty where it cannot be read or exceeds the bounds.
 */
export async function lookAt(folder: string, bounds: LookBounds): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  for await (const { name } of await opendir(folder)) {
    if (bounds.signal.aborted) return states;
    if (name.startsWith('.')) continue;
    if (bounds.left <= 0) {
      bounds.exceeded = true;
      return states;
    }
    states.set(name, await stateOf(join(folder, name), bounds));
  }
  return states;
}

async function stateOf(path: string, bounds: LookBounds): Promise<string> {
  const seen = createSum();
  const isWhole = await addAll(path, seen, bounds);
  return isWhole ? seen.text() : '';
}

/** Adds a file, or every file of a folder, by name, size and times. False where the bounds were reached. */
async function addAll(path: string, seen: Sum, bounds: LookBounds): Promise<boolean> {
  if (bounds.left <= 0 || bounds.signal.aborted) {
    bounds.exceeded ||= bounds.left <= 0;
    return false;
  }
  bounds.left--;
  try {
    const stat = await lstat(path, { bigint: true });
    if (stat.isFile()) seen.add(`${path} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}`);
    if (!stat.isDirectory()) return true;
    for await (const { name } of await opendir(path))
      if (!(await addAll(join(path, name), seen, bounds))) return false;
  } catch (error) {
    // ENOENT: removed meanwhile, or a name that is not UTF-8. The import reports unreadable folders.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') seen.add(`${path} ${(error as Error).message}`);
  }
  return true;
}

type Sum = ReturnType<typeof createSum>;

/** A text for a set of lines in any order, as a folder gives them; empty for none. */
function createSum() {
  const sum = Buffer.alloc(32);
  let count = 0;
  return {
    add(line: string): void {
      const hash = createHash('sha256').update(line).digest();
      for (const [index, byte] of hash.entries()) sum[index]! ^= byte;
      count++;
    },
    text: () => (count === 0 ? '' : `${count} ${sum.toString('base64')}`),
  };
}
