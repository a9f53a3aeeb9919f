import { statSync } from 'node:fs';
import type { JWTVerifyGetKey } from 'jose';
import type { Log } from '../base/log.ts';

/** Keys to verify tokens with. */
export interface KeySet extends JWTVerifyGetKey {
  /** Another number once the keys may be others: what was verified before has to be verified again. */
  version(): number;
  /** Names the local issuer's key as its file holds it now; empty for a pinned set. */
  id(): Promise<string>;
}

/** What a file of keys holds; the local issuer's key has a name. */
export type ReadKeys = JWTVerifyGetKey & { id?: string };

/** How often the file is looked at, at most: tokens with keys of any name cost no more than this. */
const checkEvery = 1000;

/**
 * A key set that follows its file: looked at on use, at most once a second, and read again when it changed. A file that
 * is missing or bad leaves the last good set in place and an event in the log. Throws when it is bad at the start.
 */
export async function watchKeySet(
  file: string,
  read: (file: string) => Promise<ReadKeys>,
  log: Log,
  elapsed: () => number = () => performance.now(),
  /** Called after every attempt: null, or why the set was kept. */
  onReload: (reason: string | null) => void = () => undefined,
): Promise<KeySet> {
  let seen = stampOf(file);
  let keys = await read(file);
  let checked = elapsed();
  let reading: Promise<void> | null = null;
  let version = 0;

  async function refresh(stamp: string): Promise<void> {
    try {
      keys = await read(file);
      log.info('key set reloaded');
      onReload(null);
    } catch (error) {
      const reason = (error as Error).message;
      log.warn('key set not reloaded: the new file cannot be used', { reason });
      onReload(reason);
    }
    seen = stamp;
  }

  /** Looks at the file when it is time, and begins to read it when it changed. */
  function look(): void {
    if (reading !== null || elapsed() - checked < checkEvery) return;
    checked = elapsed();
    const stamp = stampOf(file);
    if (stamp === seen) return;
    version++;
    reading = refresh(stamp).finally(() => {
      reading = null;
    });
  }

  async function current(): Promise<ReadKeys> {
    look();
    await reading;
    return keys;
  }

  const find: JWTVerifyGetKey = async (header, token) => (await current())(header, token);
  return Object.assign(find, {
    version() {
      look();
      return version;
    },
    id: async () => (await current()).id ?? '',
  });
}

/** What changes when a file is written, replaced or removed, or can no longer be looked at. */
function stampOf(file: string): string {
  try {
    const stat = statSync(file, { bigint: true });
    return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}
