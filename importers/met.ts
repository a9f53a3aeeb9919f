import type { Database } from '../src/db/database.ts';
import { importLedger } from '../src/db/tables.ts';
import { discover, type Found, listFiles } from './discover.ts';

/** What a look at paths found. */
export interface Met {
  /** The paths that hold something new. */
  fresh: string[];
  /** SHA-256 of what the other paths hold; archives are not opened for it. */
  met: string[];
  /** SHA-256 of what was held before and is no longer in the ledger: an operator took it back (rule D42.8). */
  takenBack: Set<string>;
  /** The paths that hold something of that. */
  leftOut: string[];
}

/**
 * Finds the paths that hold something which neither the ledger nor `held` names yet: by its bytes, and what cannot be read by its name
 * and reason. Archives that they name are not opened (rule D33.1), links under `noLinks` not followed.
 */
export async function notMet(
  { orm }: Database,
  paths: string[],
  held: Set<string>,
  noLinks: boolean,
): Promise<Met> {
  const { sha256, source, reason } = importLedger;
  const rows = orm.selectDistinct({ sha256, source, reason }).from(importLedger).all();
  const ledger = new Set(rows.map((row) => row.sha256));
  const takenBack = new Set([...held].filter((hash) => !ledger.has(hash)));
  const isKnown = (hash: string) => ledger.has(hash) || takenBack.has(hash);
  const unreadable = new Set(
    rows.filter((row) => row.sha256 === null).map((row) => `${row.source}\0${row.reason}`),
  );
  const isMet = (found: Found) =>
    found.type === 'unreadable' ? unreadable.has(`${found.source}\0${found.reason}`) : isKnown(found.sha256);
  const fresh: string[] = [];
  const leftOut: string[] = [];
  const met: string[] = [];
  for (const path of paths) {
    const hashes: string[] = [];
    let isFresh = false;
    const passedBy = (hash: string) => isKnown(hash) && hashes.push(hash) > 0;
    for await (const found of discover(listFiles([path], { noLinks }), { isMet: passedBy })) {
      isFresh = !isMet(found);
      if (isFresh) break;
      if (found.type !== 'unreadable') hashes.push(found.sha256);
    }
    if (isFresh) fresh.push(path);
    else for (const hash of hashes) met.push(hash);
    if (hashes.some((hash) => takenBack.has(hash))) leftOut.push(path);
  }
  return { fresh, met, leftOut, takenBack };
}
