import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { realFile } from '../base/files.ts';
import type { Database } from '../db/database.ts';
import { catalogDigest } from '../db/digest.ts';
import { prepareInsert } from '../db/insert.ts';

/** One exchange of the catalog for a bundle's, as users' data records it. */
export interface Exchange {
  id: number;
  bundle: string;
  channel: string;
  sequence: number;
  digest: string;
  signedBy: string;
  fingerprint: string;
  builtAt: string;
  appliedAt: string;
  state: 'begun' | 'applied' | 'rolled-back';
}

export const selectExchanges = `SELECT id, bundle, channel, sequence, digest, signed_by AS signedBy, fingerprint,
  built_at AS builtAt, applied_at AS appliedAt, state FROM content_bundles`;

/** The file of the catalog from before an exchange. */
export const beforeOf = (db: string, id: number) => `${realFile(db)}.before-${id}`;

/** The file of the catalog that a rollback replaced. */
export const undoneOf = (db: string, id: number) => `${realFile(db)}.undone-${id}`;

/** The files beside a database whose names continue its own, spelled as `beforeOf` does, each with what follows. */
export function beside(db: string): { path: string; rest: string }[] {
  const own = realFile(db);
  return readdirSync(dirname(own))
    .filter((name) => name.startsWith(`${basename(own)}.`))
    .map((name) => name.slice(basename(own).length))
    .map((rest) => ({ path: `${own}${rest}`, rest }));
}

/** Removes kept catalogs, with the logs beside them, except one: a site keeps one besides the served catalog. */
export function removeFormerCatalogs(db: string, but: string | null): void {
  for (const { path, rest } of beside(db))
    if (
      /^\.(before|undone)-\d+(-wal|-shm|-journal)?$/.test(rest) &&
      path.replace(/-(wal|shm|journal)$/, '') !== but
    )
      rmSync(path);
}

/** Removes what killed calls left. A call that waits to replace the catalog has opened its files before. */
export function removeParts(db: string): void {
  for (const { path, rest } of beside(db))
    if (/^\.(content|before-\d+|undone-\d+)\.part-/.test(rest))
      rmSync(path, { recursive: true, force: true });
}

// The record of bundles that a site applied and rolled back (rule D32.3).

export const allExchanges = ({ sqlite }: Database): Exchange[] =>
  sqlite.prepare<[], Exchange>(`${selectExchanges} ORDER BY id`).all();

export const lastExchange = (db: Database): Exchange | null => allExchanges(db).at(-1) ?? null;

/** Records an exchange that is about to happen; gives its id. */
export const beginExchange = (db: Database, row: Omit<Exchange, 'id' | 'state'>): number =>
  prepareInsert(db, 'content_bundles')({ ...row, id: null, state: 'begun' });

/** Records a finished exchange; an applied bundle raises the sequence of its channel. */
export function endExchange({ sqlite }: Database, { id, state, channel, sequence, bundle }: Exchange): void {
  sqlite.prepare('UPDATE content_bundles SET state = ? WHERE id = ?').run(state, id);
  if (state === 'applied')
    sqlite
      .prepare('INSERT OR REPLACE INTO content_sequences (channel, sequence, bundle) VALUES (?, ?, ?)')
      .run(channel, sequence, bundle);
}

export const forgetExchange = ({ sqlite }: Database, id: number): void =>
  void sqlite.prepare('DELETE FROM content_bundles WHERE id = ?').run(id);

/**
 * Why a bundle may not be applied now; null where it may. Its sequence must be greater than all earlier ones of its
 * channel, or it must be the bundle with the greatest one while another catalog is served (rule D42.8).
 */
export function replayProblem(
  db: Database,
  bundle: string,
  { channel, sequence }: Pick<Exchange, 'channel' | 'sequence'>,
): string | null {
  const greatest = db.sqlite
    .prepare<[string], Pick<Exchange, 'sequence' | 'bundle'>>(
      'SELECT sequence, bundle FROM content_sequences WHERE channel = ?',
    )
    .get(channel);
  if (greatest === undefined || sequence > greatest.sequence) return null;
  if (bundle !== greatest.bundle)
    return `its sequence ${sequence} is not greater than ${greatest.sequence}, which the channel ${channel} had already`;
  const newest = allExchanges(db).findLast(({ state }) => state !== 'begun');
  const isServed =
    newest?.bundle === bundle && newest.state === 'applied' && newest.digest === catalogDigest(db);
  return isServed ? `it is applied already: sequence ${sequence} of the channel ${channel}` : null;
}
