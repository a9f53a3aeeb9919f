import { chmodSync, chownSync, copyFileSync, linkSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../base/errors.ts';
import { hasNoLinks, realFile, syncPath } from '../base/files.ts';
import { connect, identityOf } from './connect.ts';
import { storageFault } from './faults.ts';
import { logBytes } from './header.ts';

/** A catalog locked against writes until it is disposed. */
export interface HeldCatalog extends Disposable {
  /** Whether `exchange` put another file in its place. */
  exchanged: boolean;
  /**
   * Renames a sealed file to the catalog's name in one step; open connections go on reading the former file. With
   * `keptAs` the former file stays under that name. Throws `CommandError` where nothing was exchanged.
   */
  exchange(sealed: string, keptAs: string | null): void;
}

/**
 * Takes the write lock of a catalog, with its log checkpointed and empty. So the file is the whole catalog, and SQLite
 * cannot apply its log to the file that gets its name: an importer that gets the lock later sees the exchange before it
 * writes (`requireInPlace`). Readers go on. Throws `CommandError` where the lock is not free within `patience` ms.
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
          throw new CommandError(`${file} was replaced meanwhile: run the command again`);
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

function attempt(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (storageFault(error) !== 'busy') throw error;
    return false;
  }
}

/** Gives the new file owner, group and mode of the former: the operator is not always the user that serves. */
export function likeFormer(temporary: string, file: string): void {
  const former = statSync(file, { throwIfNoEntry: false });
  if (!former) return;
  const own = statSync(temporary);
  if (former.uid !== own.uid || former.gid !== own.gid) chownSync(temporary, former.uid, former.gid);
  chmodSync(temporary, former.mode & 0o777);
}

/** Adds a second name, or a copy on a disk without hard links: the first name always has a file. */
function keep(file: string, keptAs: string): void {
  try {
    linkSync(file, keptAs);
  } catch (error) {
    if (!hasNoLinks(error)) throw new CommandError(`${keptAs} cannot be made: ${(error as Error).message}`);
    copyFileSync(file, keptAs);
    syncPath(keptAs);
  }
}

export function isSameFile(a: string, b: string): boolean {
  const identity = identityOf(a);
  return identity !== null && identity === identityOf(b);
}
