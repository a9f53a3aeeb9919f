import type { Database } from '../src/db/database.ts';
import { importLedger } from '../src/db/tables.ts';
import { discover, type Found, listFiles } from './discover.ts';

/**
 * Gives those paths that hold something which the ledger does not name yet: by its bytes, and what cannot be read by its name and
 * reason. Archives that it names are not opened (rule D33.1).
 */
export async function notMet({ orm }: Database, paths: string[]): Promise<string[]> {
  const { sha256, source, reason } = importLedger;
  const rows = orm.selectDistinct({ sha256, source, reason }).from(importLedger).all();
  const hashes = new Set(rows.map((row) => row.sha256));
  const unreadable = new Set(
    rows.filter((row) => row.sha256 === null).map((row) => `${row.source}\0${row.reason}`),
  );
  const isMet = (found: Found) =>
    found.type === 'unreadable'
      ? unreadable.has(`${found.source}\0${found.reason}`)
      : hashes.has(found.sha256);
  const fresh: string[] = [];
  for (const path of paths) {
    for await (const found of discover(listFiles([path]), { isMet: (hash) => hashes.has(hash) })) {
      if (isMet(found)) continue;
      fresh.push(path);
      break;
    }
  }
  return fresh;
}
