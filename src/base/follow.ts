import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A text that changes when a file is written, replaced, removed or becomes unreadable. */
export function stampOf(file: string): string {
  try {
    const stat = statSync(file, { bigint: true });
    return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The files of a folder, sorted, without hidden ones; another path is its only file. */
export function filesAt(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && !entry.isDirectory())
      .map(({ name }) => join(path, name))
      .sort();
  } catch {
    return [path];
  }
}

/** Milliseconds between two looks at the files. */
const everyMilliseconds = 200;

/** Files or folders that are read again when one of them changes. */
export interface Followed {
  paths: readonly string[];
  /** Reads them anew; it handles its own failures. */
  reload(): void | Promise<void>;
}

/**
 * Looks at files five times a second, and reloads those that changed and then stayed as they are for one look, as a half
 * written file may be a good one; one reload of each group at a time. Gives what reloads all at once, and what stops it.
 */
export function followFiles(groups: readonly Followed[]) {
  const stampsOf = ({ paths }: Followed) =>
    paths
      .flatMap(filesAt)
      .map((file) => `${file} ${stampOf(file)}`)
      .join('\n');
  const seen = groups.map(stampsOf);
  const last = [...seen];
  const busy = groups.map(() => false);

  async function reload(index: number, stamp: string): Promise<void> {
    busy[index] = true;
    seen[index] = stamp;
    await groups[index]!.reload();
    busy[index] = false;
  }

  const look = (all: boolean) =>
    groups.forEach((group, index) => {
      if (busy[index]) return;
      const stamp = stampsOf(group);
      const isSettled = stamp === last[index];
      last[index] = stamp;
      if (all || (isSettled && stamp !== seen[index])) void reload(index, stamp);
    });
  const timer = setInterval(look, everyMilliseconds, false).unref();
  return { reloadAll: () => look(true), stop: () => clearInterval(timer) };
}
