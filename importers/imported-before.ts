import type { Database } from '../src/db/database.ts';
import { filesToReadAgain } from '../src/db/read-again.ts';
import { discover, type FoundSource, listFiles } from './discover.ts';
import { archivesAround, type LedgerLine } from './ledger-lines.ts';

/** Paths by what of them earlier imports stored. */
export interface ImportedBefore {
  fresh: string[];
  /** SHA-256 of the content of the other paths; archives are not opened. */
  met: string[];
  /** Hashes in `held` that the ledger no longer has: an operator took them back (rule D42.8). */
  takenBack: Set<string>;
  leftOut: string[];
}

const hashOf = (found: FoundSource) => (found.type === 'unreadable' ? null : found.sha256);

/**
 * Finds paths with content that neither the ledger names, with its source, nor an operator took back: by its hash, and
 * by name and reason if it is unreadable. It does not open known archives (rule D33.1), and follows no links with
 * `noLinks`. What an older version skipped and this one reads counts as new, with the archives around it (rule D42.9).
 */
export async function notYetImported(
  { sqlite }: Database,
  paths: string[],
  held: Set<string>,
  noLinks: boolean,
): Promise<ImportedBefore> {
  const rows = sqlite
    .prepare<[], Pick<LedgerLine, 'sha256' | 'source' | 'reason'>>(
      'SELECT DISTINCT sha256, source, reason FROM import_ledger',
    )
    .all();
  const ledger = new Set(rows.map((row) => row.sha256));
  const takenBack = new Set([...held].filter((hash) => !ledger.has(hash)));
  const again = new Set(filesToReadAgain(sqlite).flatMap((source) => [source, ...archivesAround(source)]));
  const lines = new Set(
    rows
      .filter(({ source }) => !again.has(source))
      .map(({ source, sha256, reason }) => `${source}\0${sha256 ?? reason}`),
  );
  const isKnown = (source: string, hash: string | null, reason = '') =>
    (hash !== null && takenBack.has(hash)) || lines.has(`${source}\0${hash ?? reason}`);

  const result: ImportedBefore = { fresh: [], met: [], leftOut: [], takenBack };
  for (const path of paths) {
    const hashes: string[] = [];
    const isSkipped = (hash: string, source: string) => isKnown(source, hash) && hashes.push(hash) > 0;
    let isFresh = false;
    const take = async (found: FoundSource) => {
      const hash = hashOf(found);
      isFresh = !isKnown(found.source, hash, found.type === 'unreadable' ? found.reason : '');
      if (!isFresh && hash !== null) hashes.push(hash);
      return !isFresh;
    };
    await discover(listFiles([path], { noLinks }), take, isSkipped);
    if (isFresh) result.fresh.push(path);
    else for (const hash of hashes) result.met.push(hash);
    if (hashes.some((hash) => takenBack.has(hash))) result.leftOut.push(path);
  }
  return result;
}
