import type { Database } from '../src/db/database.ts';
import { filesToReadAgain } from '../src/db/read-again.ts';
import { discover, type FoundSource, listFiles } from './discover.ts';
import type { LedgerLine } from './ledger-lines.ts';

/** Paths by what of them earlier imports stored. */
export interface ImportedBefore {
  fresh: string[];
  /** SHA-256 of the content of the other paths; archives are not opened. */
  met: string[];
  /** Hashes in `held` that the ledger no longer has: an operator took them back (rule D42.8). */
  takenBack: Set<string>;
  leftOut: string[];
}

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
  const again = new Set(filesToReadAgain(sqlite).flatMap(withArchives));
  const isRead = (row: { source: string }) => !again.has(row.source);
  const lines = new Set(rows.filter(isRead).map((row) => `${row.source}\0${row.sha256 ?? row.reason}`));
  const isStored = (found: FoundSource) =>
    found.type === 'unreadable'
      ? lines.has(`${found.source}\0${found.reason}`)
      : takenBack.has(found.sha256) || lines.has(`${found.source}\0${found.sha256}`);
  const fresh: string[] = [];
  const leftOut: string[] = [];
  const met: string[] = [];
  for (const path of paths) {
    const hashes: string[] = [];
    let isFresh = false;
    const passedBy = (hash: string, source: string) =>
      (takenBack.has(hash) || lines.has(`${source}\0${hash}`)) && hashes.push(hash) > 0;
    const look = (found: FoundSource) => {
      isFresh = !isStored(found);
      if (!isFresh && found.type !== 'unreadable') hashes.push(found.sha256);
      return !isFresh;
    };
    await discover(listFiles([path], { noLinks }), look, { isSkipped: passedBy });
    if (isFresh) fresh.push(path);
    else for (const hash of hashes) met.push(hash);
    if (hashes.some((hash) => takenBack.has(hash))) leftOut.push(path);
  }
  return { fresh, met, leftOut, takenBack };
}

/** A source, and the archives around it. */
function withArchives(source: string): string[] {
  const steps = source.split('!/');
  return steps.map((_, index) => steps.slice(0, index + 1).join('!/'));
}
