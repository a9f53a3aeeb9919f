import { storageFault } from '../src/base/faults.ts';
import type { Database } from '../src/db/database.ts';
import { digestOf, storedDigest } from '../src/db/digest.ts';

/**
 * Computes the digest of the committed catalog and stores it, so that no server must. It holds no lock, and stores
 * nothing after another import. A failure leaves the digest to the next import.
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
    // The import is committed. Without a digest, a server computes it in slices.
    if (storageFault(error) === null) throw error;
  }
}
