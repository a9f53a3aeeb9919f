import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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

/** Removes kept catalogs, with the logs beside them, except one: a site keeps one besides the served catalog. */
export function removeKept(db: string, but: string | null): void {
  const place = realFile(db);
  const kept = but === null ? null : basename(but);
  for (const name of readdirSync(dirname(place))) {
    const [, own] = /^(.*\.(?:before|undone)-\d+)(?:-wal|-shm|-journal)?$/.exec(name) ?? [];
    if (own?.startsWith(`${basename(place)}.`) && own !== kept) rmSync(join(dirname(place), name));
  }
}

/** Removes what killed calls left. A call that waits to replace the catalog has opened its files before. */
export function removeParts(db: string): void {
  const place = realFile(db);
  for (const name of readdirSync(dirname(place)))
    if (name.startsWith(`${basename(place)}.`) && /\.(content|before-\d+|undone-\d+)\.part-/.test(name))
      rmSync(join(dirname(place), name), { recursive: true, force: true });
}

/** The record of bundles that a site applied and rolled back (rule D32.3). */
export function createExchanges(db: Database) {
  const { sqlite } = db;
  const all = (): Exchange[] => sqlite.prepare<[], Exchange>(`${selectExchanges} ORDER BY id`).all();
  return {
    last: () => all().at(-1) ?? null,

    all,

    /** Records an exchange that is about to happen; gives its id. */
    begin: (row: Omit<Exchange, 'id' | 'state'>): number =>
      prepareInsert(db, 'content_bundles')({ ...row, id: null, state: 'begun' }),

    /** Records a finished exchange; an applied bundle raises the sequence of its channel. */
    settle({ id, state, channel, sequence, bundle }: Exchange): void {
      sqlite.prepare('UPDATE content_bundles SET state = ? WHERE id = ?').run(state, id);
      if (state !== 'applied') return;
      sqlite
        .prepare('INSERT OR REPLACE INTO content_sequences (channel, sequence, bundle) VALUES (?, ?, ?)')
        .run(channel, sequence, bundle);
    },

    forget: (id: number): void => void sqlite.prepare('DELETE FROM content_bundles WHERE id = ?').run(id),

    /**
     * Why a bundle may not be applied now; null where it may. Its sequence must be greater than all earlier ones of its
     * channel, or it must be the bundle with the greatest one while another catalog is served (rule D42.8).
     */
    replayProblem(bundle: string, channel: string, sequence: number): string | null {
      const greatest = sqlite
        .prepare<[string], Pick<Exchange, 'sequence' | 'bundle'>>(
          'SELECT sequence, bundle FROM content_sequences WHERE channel = ?',
        )
        .get(channel);
      if (greatest === undefined || sequence > greatest.sequence) return null;
      if (bundle !== greatest.bundle)
        return `its sequence ${sequence} is not greater than ${greatest.sequence}, which the channel ${channel} had already`;
      const newest = all().findLast(({ state }) => state !== 'begun');
      const isServed =
        newest?.bundle === bundle && newest.state === 'applied' && newest.digest === catalogDigest(db);
      return isServed ? `it is applied already: sequence ${sequence} of the channel ${channel}` : null;
    },
  };
}
