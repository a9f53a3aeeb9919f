import { numberOf } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import type { Named } from './give-slugs.ts';
import type { Identity } from './identity.ts';
import type { StoredPrinting } from './store.ts';

/** A slug that now leads to another STIG. */
export interface SlugChange {
  from: string;
  to: string | null;
}

/** The ids of STIGs that were added, changed or removed, and the changed slugs. */
export interface Written {
  touched: Set<number>;
  changes: SlugChange[];
}

interface StigRow {
  id: number;
  slug: string;
  kind: string;
  title: string;
  current: number;
}

/** Writes the differences between the decision and what is stored. */
export function writeIdentity(db: Database, printings: StoredPrinting[], identity: Identity): Written {
  const { sqlite } = db;
  const { stigs, fates, aliases } = identity;
  const stored = new Map(printings.map((printing) => [printing.sha256, printing]));
  const before = sqlite
    .prepare<[], StigRow>('SELECT id, slug, kind, title, current_release_id AS current FROM stigs')
    .all();
  const rowOf = new Map(before.map((row) => [row.slug, row]));
  const releaseOf = ({ current }: Named) => stored.get(current.sha256)!.id;
  const changed = stigs.filter((stig) => {
    const row = rowOf.get(stig.slug);
    const { kind, current } = stig;
    return row?.kind !== kind || row.title !== current.title || row.current !== releaseOf(stig);
  });
  const insert = sqlite.prepare(
    `INSERT INTO stigs (id, slug, kind, title, title_fold, current_release_id) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, title = excluded.title, title_fold = excluded.title_fold,
         current_release_id = excluded.current_release_id`,
  );
  for (const stig of changed) {
    const { slug, kind, current } = stig;
    insert.run(numberOf(slug), slug, kind, current.title, fold(current.title), releaseOf(stig));
  }

  const moved = printings.flatMap((printing) => {
    const { stig, keptBy } = fates.get(printing.sha256)!;
    const stigId = numberOf(stig.slug);
    const supersededBy = keptBy === null ? null : stored.get(keptBy.sha256)!.id;
    const isSame = printing.stigId === stigId && printing.supersededBy === supersededBy;
    return isSame ? [] : [{ printing, stigId, supersededBy }];
  });
  // Clears first, so that two printings can exchange their places within the unique index.
  const place = sqlite.prepare('UPDATE stig_printings SET stig_id = ?, superseded_by = ? WHERE id = ?');
  for (const { printing } of moved) place.run(null, null, printing.id);
  for (const { printing, stigId, supersededBy } of moved) place.run(stigId, supersededBy, printing.id);
  const aim = sqlite.prepare('UPDATE sources SET target = ? WHERE id = ?');
  for (const { sha256, sourceId, target } of printings) {
    const { slug } = fates.get(sha256)!.stig;
    if (target !== slug) aim.run(slug, sourceId);
  }
  const touched = writeAliases(db, new Map([...aliases].map(([alias, { slug }]) => [alias, numberOf(slug)])));
  for (const { slug } of changed) touched.add(numberOf(slug));

  const kept = new Set(stigs.map(({ slug }) => slug));
  const remove = [
    sqlite.prepare('DELETE FROM role_mappings WHERE stig_id = ?'),
    sqlite.prepare('DELETE FROM stigs WHERE id = ?'),
  ];
  for (const { id } of before.filter(({ slug }) => !kept.has(slug))) {
    touched.add(id);
    for (const each of remove) each.run(id);
  }
  return { touched, changes: changesOf(before, printings, identity) };
}

function changesOf(
  before: StigRow[],
  printings: StoredPrinting[],
  { stigs, fates, aliases }: Identity,
): SlugChange[] {
  const served = new Set(stigs.map(({ slug }) => slug));
  const byId = new Map(printings.map((printing) => [printing.id, printing]));
  return before.flatMap(({ slug, current }) => {
    const printing = byId.get(current);
    // A release that was read again has another row; its former slug still identifies it.
    const heir = printing ? fates.get(printing.sha256)!.stig : aliases.get(slug);
    const to = heir?.slug ?? (served.has(slug) ? slug : null);
    return to === slug ? [] : [{ from: slug, to }];
  });
}

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
