import type { JWTVerifyGetKey } from 'jose';
import { stampOf } from '../base/follow.ts';
import type { Log } from '../base/log.ts';

export interface KeySet extends JWTVerifyGetKey {
  /** A number that changes when the keys may have changed: then earlier verifications no longer count. */
  version(): number;
  /** The id of the local issuer's key in its file now; empty for a pinned set. */
  id(): Promise<string>;
}

/** The keys of a file; the local issuer's has an id. */
export type ReadKeys = JWTVerifyGetKey & { id?: string };

/** Milliseconds between two checks of the file, so that tokens with unknown key ids cost no more than this. */
const checkEvery = 1000;

/**
 * A key set that follows its file, checked once a second. A bad file leaves the last good set in place. Throws when it
 * is invalid at the start.
 */
export async function watchKeySet(
  file: string,
  read: (file: string) => Promise<ReadKeys>,
  log: Log,
  elapsed: () => number = () => performance.now(),
  /** Called after every reload: with null, or with the reason why the former keys stay in use. */
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
