import type { Database } from '../src/db/database.ts';
import { digestOf, storedDigest } from '../src/db/digest.ts';
import { storageFault } from '../src/db/faults.ts';

/**
 * Makes the digest of the catalog that is committed and stores it, so that no server has to. It takes no lock for that, and
 * stores nothing where another import came between. What cannot be stored now is left to the next import.
 */
export function storeDigest({ sqlite, requireInPlace }: Database): void {
  const make = () => {
    if (storedDigest(sqlite) !== null) return null;
    const generation = sqlite.prepare<[], number>('SELECT generation FROM catalog').pluck().get()!;
    return { generation, digest: digestOf(sqlite) };
  };
  const store = (generation: number, digest: string) => {
    requireInPlace();
    sqlite.prepare('UPDATE catalog SET digest = ? WHERE generation = ?').run(digest, generation);
  };
  try {
    const made = sqlite.transaction(make).deferred();
    if (made !== null) sqlite.transaction(store).immediate(made.generation, made.digest);
  } catch (error) {
    // What was imported is committed. Without a digest the server makes it itself, in slices.
    if (storageFault(error) === null) throw error;
  }
}
