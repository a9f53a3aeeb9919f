import { chmodSync, chownSync, copyFileSync, linkSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../base/errors.ts';
import { hasNoLinks, realFile, syncPath } from '../base/files.ts';
import { connect, identityOf } from './connect.ts';
import { storageFault } from './faults.ts';
import { logBytes } from './header.ts';

/** A catalog that nobody writes to until it is let go. */
export interface HeldCatalog extends Disposable {
  /** Whether another file has its name by now. */
  exchanged: boolean;
  /**
   * Gives the name of the catalog to a sealed file, in one step; whoever has the former one open reads on in it. With `keptAs`
   * the former one has that name then. Throws `CommandError` where nothing was exchanged.
   */
  exchange(sealed: string, keptAs: string | null): void;
}

/**
 * Takes the lock for writing of a catalog, with its log written into it and empty. So the file is the whole catalog, and its
 * log cannot be taken for that of the file which gets its name: an importer that gets the lock later finds the catalog
 * exchanged before it writes a byte (`requireInPlace`). Readers go on. Throws `CommandError` where it is not free in time.
 */
export async function holdCatalog(file: string, patience = 10_000): Promise<HeldCatalog> {
  const place = realFile(file);
  const identity = identityOf(place);
  const sqlite = connect(file, 'catalog', { asItIs: true, busyTimeout: 1000 });
  const close = () => sqlite.close();
  const deadline = performance.now() + patience;
  try {
    for (;;) {
      if (attempt(() => emptyLog()) && attempt(() => sqlite.exec('BEGIN IMMEDIATE'))) {
        if (identityOf(place) !== identity)
          throw new CommandError(`${file} was exchanged meanwhile: give the command once more`);
        if (logBytes(place) === 0) break;
        sqlite.exec('ROLLBACK');
      }
      if (performance.now() >= deadline)
        throw new CommandError(
          `${file} is in use: an import, a check or a backup is under way. Try again when it has ended`,
        );
      await pause(50);
    }
  } catch (error) {
    close();
    throw error;
  }

  /** What is read of the log at this moment cannot be emptied. */
  function emptyLog(): void {
    const [{ busy } = { busy: 0 }] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
    if (busy !== 0) throw Object.assign(new Error('the log is read'), { code: 'SQLITE_BUSY' });
  }

  const held: HeldCatalog = {
    exchanged: false,
    exchange(sealed, keptAs) {
      if (logBytes(place) > 0) throw new CommandError(`${file} was written to: nothing was exchanged`);
      likeFormer(sealed, place);
      if (keptAs !== null) keep(place, keptAs);
      renameSync(sealed, place);
      held.exchanged = true;
      syncPath(dirname(place));
    },
    [Symbol.dispose]: close,
  };
  return held;
}

/** Does something that a lock may hinder; gives whether it was done. */
function attempt(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (storageFault(error) !== 'busy') throw error;
    return false;
  }
}

/** The new file belongs to whom the former one belonged, with its rights: who exchanges it is not always who serves. */
export function likeFormer(temporary: string, file: string): void {
  const former = statSync(file, { throwIfNoEntry: false });
  if (!former) return;
  const own = statSync(temporary);
  if (former.uid !== own.uid || former.gid !== own.gid) chownSync(temporary, former.uid, former.gid);
  chmodSync(temporary, former.mode & 0o777);
}

/** Gives a file a second name, or where the disk knows none a copy: at no moment is there no file under the first. */
function keep(file: string, keptAs: string): void {
  try {
    linkSync(file, keptAs);
  } catch (error) {
    if (!hasNoLinks(error)) throw new CommandError(`${keptAs} cannot be made: ${(error as Error).message}`);
    copyFileSync(file, keptAs);
    syncPath(keptAs);
  }
}

/** Whether two names are of one file. */
export function isSameFile(a: string, b: string): boolean {
  const identity = identityOf(a);
  return identity !== null && identity === identityOf(b);
}
