import { numberOf } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import type { Identity } from './identity.ts';
import type { Printing } from './printings.ts';
import type { Stig } from './stig.ts';

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
export function writeIdentity({ sqlite }: Database, printings: Printing[], identity: Identity): Written {
  const before = sqlite
    .prepare<[], StigRow>('SELECT id, slug, kind, title, current_release_id AS current FROM stigs')
    .all();
  const changed = writeStigs(sqlite, before, identity.stigs);
  placePrintings(sqlite, printings, identity);
  const slugs = new Set(identity.stigs.map(({ slug }) => slug));
  const removed = before.filter(({ slug }) => !slugs.has(slug)).map(({ id }) => id);
  const touched = new Set([...writeAliases(sqlite, identity.aliases), ...changed, ...removed]);
  for (const table of ['role_mappings WHERE stig_id', 'stigs WHERE id'])
    for (const id of removed) sqlite.prepare(`DELETE FROM ${table} = ?`).run(id);
  return { touched, changes: changesOf(before, printings, identity) };
}

type Sqlite = Database['sqlite'];

/** Gives the ids of the STIGs that are new or changed. */
function writeStigs(sqlite: Sqlite, before: StigRow[], stigs: Stig[]): number[] {
  const rowOf = new Map(before.map((row) => [row.slug, row]));
  const insert = sqlite.prepare(
    `INSERT INTO stigs (id, slug, kind, title, title_fold, current_release_id) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, title = excluded.title, title_fold = excluded.title_fold,
         current_release_id = excluded.current_release_id`,
  );
  return stigs.flatMap(({ slug, kind, current: { id: current, title } }) => {
    const row = rowOf.get(slug);
    if (row?.kind === kind && row.title === title && row.current === current) return [];
    insert.run(numberOf(slug), slug, kind, title, fold(title), current);
    return [numberOf(slug)];
  });
}

function placePrintings(sqlite: Sqlite, printings: Printing[], { stigOf, servedInstead }: Identity): void {
  const placed = printings.map((printing) => {
    const { slug } = stigOf.get(printing)!;
    return { printing, slug, stigId: numberOf(slug), supersededBy: servedInstead.get(printing)?.id ?? null };
  });
  const moved = placed.filter(
    ({ printing, stigId, supersededBy }) =>
      printing.stigId !== stigId || printing.supersededBy !== supersededBy,
  );
  // Clears first, so that two printings can exchange their places within the unique index.
  const place = sqlite.prepare('UPDATE stig_printings SET stig_id = ?, superseded_by = ? WHERE id = ?');
  for (const { printing } of moved) place.run(null, null, printing.id);
  for (const { printing, stigId, supersededBy } of moved) place.run(stigId, supersededBy, printing.id);
  const aim = sqlite.prepare('UPDATE sources SET target = ? WHERE id = ?');
  for (const { printing, slug } of placed) if (printing.target !== slug) aim.run(slug, printing.sourceId);
}

function changesOf(
  before: StigRow[],
  printings: Printing[],
  { stigs, stigOf, aliases }: Identity,
): SlugChange[] {
  const served = new Map(stigs.map((stig) => [stig.slug, stig]));
  const byId = new Map(printings.map((printing) => [printing.id, printing]));
  return before.flatMap(({ slug, current }) => {
    const printing = byId.get(current);
    // A release that was read again has another row; its former slug still identifies it.
    const heir = printing ? stigOf.get(printing)! : (aliases.get(slug) ?? served.get(slug));
    return heir?.slug === slug ? [] : [{ from: slug, to: heir?.slug ?? null }];
  });
}

/** Gives the ids of the STIGs whose aliases changed. */
function writeAliases(sqlite: Sqlite, aliases: Map<string, Stig>): number[] {
  const wanted = new Map([...aliases].map(([alias, { slug }]) => [alias, numberOf(slug)]));
  const rows = sqlite.prepare<[], [string, number]>('SELECT alias, stig_id FROM stig_aliases').raw().all();
  const stored = new Map(rows);
  const removed = rows.filter(([alias, stigId]) => wanted.get(alias) !== stigId);
  const added = [...wanted].filter(([alias, stigId]) => stored.get(alias) !== stigId);
  const remove = sqlite.prepare('DELETE FROM stig_aliases WHERE alias = ?');
  for (const [alias] of removed) remove.run(alias);
  const insert = sqlite.prepare('INSERT INTO stig_aliases VALUES (?, ?)');
  for (const [alias, stigId] of added) insert.run(alias, stigId);
  return [...removed, ...added].map(([, stigId]) => stigId);
}
