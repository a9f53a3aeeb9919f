import { numberOf } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import type { Identity } from './identity.ts';
import { type Named, newestStigFirst } from './names.ts';
import { newestReleaseFirst } from './printings.ts';
import type { StoredPrinting } from './store.ts';

/** A slug that led to a STIG and does no more, and how much of users' data refers to that STIG. */
export interface SlugChange {
  from: string;
  /** The slug of that STIG now; null where it is gone. */
  to: string | null;
  listEntries: number;
  favorites: number;
}

/** What became of the rows: those of the STIGs that changed, by their ids, and the slugs that did. */
export interface Written {
  touched: Set<number>;
  changes: SlugChange[];
}

interface StigRow {
  id: number;
  slug: string;
  kind: string;
  title: string;
  current: number | null;
}

/**
 * Writes what was decided about the stored printings: only what differs from what is stored. The row of a STIG follows
 * its releases, so that what refers to it stays with it whatever its slug becomes.
 */
export function writeIdentity(db: Database, printings: StoredPrinting[], identity: Identity): Written {
  const { sqlite } = db;
  const { stigs, fates, aliases } = identity;
  const stored = new Map(printings.map((printing) => [printing.sha256, printing]));
  const before = sqlite
    .prepare<[], StigRow>('SELECT id, slug, kind, title, current_release_id AS current FROM stigs')
    .all();
  const rowOf = matchRows(db, before, stored, stigs);
  const kept = new Set(rowOf.values());
  const gone = before.filter((row) => !kept.has(row));
  const ids = new Map([...rowOf].map(([stig, { id }]) => [stig, id]));
  const touched = new Set(gone.map(({ id }) => id));
  const changes: SlugChange[] = [];

  // Slugs and versions are exchanged without meeting: what changes is taken away before it is given.
  const vacate = sqlite.prepare(
    "UPDATE stigs SET slug = '-' || id, number = -id, current_release_id = NULL WHERE id = ?",
  );
  for (const { id } of gone) vacate.run(id);
  const changed = stigs.filter((stig) => {
    const row = rowOf.get(stig);
    if (row === undefined) return true;
    const { slug, kind, current } = stig;
    const wanted = [slug, kind, current.title, stored.get(current.sha256)!.id];
    if ([row.slug, row.kind, row.title, row.current].every((each, index) => each === wanted[index]))
      return false;
    vacate.run(row.id);
    if (row.slug !== slug) changes.push({ from: row.slug, to: slug, ...referencesTo(db, row.id) });
    return true;
  });
  const insert = sqlite
    .prepare<unknown[], number>(
      `INSERT INTO stigs (id, number, slug, kind, title, title_fold, current_release_id) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET number = excluded.number, slug = excluded.slug, kind = excluded.kind,
           title = excluded.title, title_fold = excluded.title_fold, current_release_id = excluded.current_release_id
         RETURNING id`,
    )
    .pluck();
  for (const stig of changed) {
    const { slug, kind, current } = stig;
    const release = stored.get(current.sha256)!.id;
    const row = [
      ids.get(stig) ?? null,
      numberOf(slug),
      slug,
      kind,
      current.title,
      fold(current.title),
      release,
    ];
    ids.set(stig, insert.get(...row)!);
    touched.add(ids.get(stig)!);
  }

  const moved = printings.flatMap((printing) => {
    const { stig, keptBy } = fates.get(printing.sha256)!;
    const stigId = ids.get(stig)!;
    const supersededBy = keptBy === null ? null : stored.get(keptBy.sha256)!.id;
    const isSame = printing.stigId === stigId && printing.supersededBy === supersededBy;
    return isSame ? [] : [{ printing, stigId, supersededBy }];
  });
  const place = sqlite.prepare('UPDATE stig_printings SET stig_id = ?, superseded_by = ? WHERE id = ?');
  for (const { printing } of moved) place.run(null, null, printing.id);
  for (const { printing, stigId, supersededBy } of moved) place.run(stigId, supersededBy, printing.id);
  const aim = sqlite.prepare('UPDATE sources SET target = ? WHERE id = ?');
  for (const { sha256, sourceId, target } of printings) {
    const { slug } = fates.get(sha256)!.stig;
    if (target !== slug) aim.run(slug, sourceId);
  }
  for (const id of writeAliases(db, new Map([...aliases].map(([alias, stig]) => [alias, ids.get(stig)!]))))
    touched.add(id);
  for (const row of gone) {
    const heir =
      stigs.find((stig) => stig.printings.some(({ sha256 }) => stored.get(sha256)!.stigId === row.id)) ??
      stigs.find(({ slug }) => slug === row.slug) ??
      aliases.get(row.slug);
    const references = referencesTo(db, row.id);
    leave(db, row, heir === undefined ? null : ids.get(heir)!);
    if (row.current !== null) changes.push({ from: row.slug, to: heir?.slug ?? null, ...references });
  }
  return { touched, changes };
}

/**
 * The row of each STIG that has one: that of the newest of its releases that was in one, else of its benchmark ids; the STIG
 * with the newest release chooses first, what is set apart last. Where all were read anew no row holds any: then it is the
 * empty one that its names led to.
 */
function matchRows(db: Database, rows: StigRow[], stored: Map<string, StoredPrinting>, stigs: Named[]) {
  const free = new Map(rows.map((row) => [row.id, row]));
  const bySlug = new Map(rows.map((row) => [row.slug, row.id]));
  const led = db.sqlite.prepare<[string], number>('SELECT stig_id FROM stig_aliases WHERE alias = ?').pluck();
  const rowsOfKey = new Map<string, Set<number>>();
  const full = new Set<number>();
  for (const { idKey, stigId } of stored.values()) {
    if (stigId === null) continue;
    full.add(stigId);
    rowsOfKey.set(idKey, (rowsOfKey.get(idKey) ?? new Set()).add(stigId));
  }
  const rowOf = new Map<Named, StigRow>();
  for (const stig of [...stigs].sort(newestStigFirst)) {
    const own = stig.printings.map(({ sha256 }) => stored.get(sha256)!).sort(newestReleaseFirst);
    const held = own.flatMap(({ stigId }) => stigId ?? []);
    const ofKeys =
      stig.apartFrom.size > 0 ? [] : own.flatMap(({ idKey }) => [...(rowsOfKey.get(idKey) ?? [])]);
    const names = own.map(({ benchmarkId }) => led.get(benchmarkId.toLowerCase()));
    const emptied = [...names, bySlug.get(stig.slug)].filter((id) => id !== undefined && !full.has(id));
    const row = [...held, ...ofKeys, ...emptied]
      .map((id) => free.get(id!))
      .find((each) => each !== undefined);
    if (row === undefined) continue;
    rowOf.set(stig, row);
    free.delete(row.id);
  }
  return rowOf;
}

/** Makes the stored aliases these; gives the STIGs that lost or got one. */
function writeAliases({ sqlite }: Database, wanted: Map<string, number>): Set<number> {
  const touched = new Set<number>();
  const remove = sqlite.prepare('DELETE FROM stig_aliases WHERE alias = ?');
  const rows = sqlite.prepare<[], [string, number]>('SELECT alias, stig_id FROM stig_aliases').raw().all();
  for (const [alias, stigId] of rows) {
    if (wanted.get(alias) === stigId) wanted.delete(alias);
    else {
      remove.run(alias);
      touched.add(stigId);
    }
  }
  const insert = sqlite.prepare('INSERT INTO stig_aliases VALUES (?, ?)');
  for (const [alias, stigId] of wanted) {
    insert.run(alias, stigId);
    touched.add(stigId);
  }
  return touched;
}

function referencesTo({ sqlite }: Database, id: number): { listEntries: number; favorites: number } {
  return sqlite
    .prepare<[number, number], { listEntries: number; favorites: number }>(
      `SELECT (SELECT count(*) FROM list_stigs WHERE stig_id = ?) AS listEntries,
              (SELECT count(*) FROM favorite_stigs WHERE stig_id = ?) AS favorites`,
    )
    .get(id, id)!;
}

/** Gives what refers to a STIG that is no more to the one that has its releases; the row stays while anything refers to it. */
function leave(db: Database, { id, slug }: StigRow, heir: number | null): void {
  const { sqlite } = db;
  if (heir !== null)
    for (const table of ['list_stigs', 'favorite_stigs'])
      sqlite.prepare(`UPDATE OR IGNORE ${table} SET stig_id = ? WHERE stig_id = ?`).run(heir, id);
  sqlite.prepare('DELETE FROM role_mappings WHERE stig_id = ?').run(id);
  const { listEntries, favorites } = referencesTo(db, id);
  if (listEntries + favorites === 0) {
    sqlite.prepare('DELETE FROM stigs WHERE id = ?').run(id);
    return;
  }
  const isTaken = sqlite.prepare('SELECT 1 FROM stigs WHERE slug = ?').pluck();
  let free = slug;
  for (let n = 2; isTaken.get(free) !== undefined; n++) free = `${slug}_${n}`;
  sqlite.prepare('UPDATE stigs SET slug = ?, number = ? WHERE id = ?').run(free, numberOf(free), id);
}
