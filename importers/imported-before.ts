import type { Database } from '../src/db/database.ts';
import { filesToReadAgain } from '../src/db/read-again.ts';
import { discover, listFiles } from './discover.ts';
import { archivesAround, type LedgerLine } from './ledger-lines.ts';

/** Paths by what of them earlier imports stored. */
export interface ImportedBefore {
  fresh: string[];
  /** SHA-256 of the content of the other paths; archives are not opened. */
  knownHashes: string[];
  /** The other paths with content that an operator removed from the catalog. */
  removedPaths: string[];
  /** The hashes of that content (rule D42.8): the inbox held it, and the ledger lacks it. */
  removedHashes: Set<string>;
}

/**
 * Finds paths with content that neither the ledger names, with its source, nor an operator removed: by its hash, and by
 * name and reason if it is unreadable. `held` are the hashes that the inbox held. It does not open known archives (rule
 * D33.1), and follows no links with `noLinks`. What an older version skipped and this one reads counts as new, with the
 * archives around it (rule D42.9).
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
  const inLedger = new Set(rows.map((row) => row.sha256));
  const removedHashes = new Set([...held].filter((hash) => !inLedger.has(hash)));
  const again = new Set(filesToReadAgain(sqlite).flatMap((source) => [source, ...archivesAround(source)]));
  const known = new Set(
    rows
      .filter(({ source }) => !again.has(source))
      .map(({ source, sha256, reason }) => `${source}\0${sha256 ?? reason}`),
  );
  const result: ImportedBefore = { fresh: [], knownHashes: [], removedPaths: [], removedHashes };
  for (const path of paths) {
    const hashes: string[] = [];
    let isFresh = false;
    const isKnown = (sha256: string, source: string) => {
      if (!removedHashes.has(sha256) && !known.has(`${source}\0${sha256}`)) return false;
      hashes.push(sha256);
      return true;
    };
    await discover(
      listFiles([path], { noLinks }),
      async ({ source, sha256, refusal }) => {
        isFresh = sha256 === null ? !known.has(`${source}\0${refusal?.reason}`) : !isKnown(sha256, source);
        return !isFresh;
      },
      isKnown,
    );
    if (isFresh) result.fresh.push(path);
    else result.knownHashes = result.knownHashes.concat(hashes);
    if (hashes.some((hash) => removedHashes.has(hash))) result.removedPaths.push(path);
  }
  return result;
}
