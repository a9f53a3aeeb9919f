import { createHash } from 'node:crypto';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Files and folders that one look takes in: past them memory and time would have no bound. */
export const mostSeen = 200_000;

/** What one look may still take in, and whether it wanted more. */
export interface LookBounds {
  left: number;
  exceeded: boolean;
  signal: AbortSignal;
}

/**
 * Looks at what is in a folder, one file after the other, so that nothing holds the event loop. Yields each name with its state:
 * another text when the file, or any file of the folder, is another one; empty for what is neither or gone, or not seen whole.
 * Names that begin with a dot are left out.
 */
export async function* lookAt(folder: string, bounds: LookBounds): AsyncGenerator<[string, string]> {
  for await (const { name } of await opendir(folder)) {
    if (bounds.signal.aborted) return;
    if (name.startsWith('.')) continue;
    if (bounds.left <= 0) {
      bounds.exceeded = true;
      return;
    }
    yield [name, await stateOf(join(folder, name), bounds)];
  }
}

async function stateOf(path: string, bounds: LookBounds): Promise<string> {
  const seen = createSum();
  const isWhole = await addAll(path, seen, bounds);
  return isWhole ? seen.text() : '';
}

/** Adds a file, or every file of a folder, by name, size and times. False where the bounds stopped it. */
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
    // It was removed while it was looked at, or its name is no UTF-8; what cannot be entered is the import's to tell.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') seen.add(`${path} ${(error as Error).message}`);
  }
  return true;
}

type Sum = ReturnType<typeof createSum>;

/** A text for a set of lines that does not depend on their order: folders have none. Empty for none. */
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
