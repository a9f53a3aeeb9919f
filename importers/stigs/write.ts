import { numberOf } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import type { Identity } from './identity.ts';
import type { Printing } from './printings.ts';

/** A slug that now leads to another STIG. */
export interface SlugChange {
  from: string;
  to: string | null;
}

/**
 * Replaces the stored STIGs, aliases and places of printings by those decided, inside the run's transaction. Role
 * mappings, which refer to STIGs, are deleted. Gives the slugs that changed.
 */
export function writeIdentity(db: Database, printings: Printing[], identity: Identity): SlugChange[] {
  const { sqlite } = db;
  const changes = slugChanges(db, printings, identity);
  sqlite.exec(`UPDATE stig_printings SET stig_id = NULL, superseded_by = NULL;
    DELETE FROM stig_aliases; DELETE FROM role_mappings; DELETE FROM stigs;`);
  const insert = prepareInsert(db, 'stigs');
  for (const { slug, kind, current } of identity.stigs) {
    const { id: currentReleaseId, title } = current;
    insert({ id: numberOf(slug), slug, kind, title, titleFold: fold(title), currentReleaseId });
  }
  const insertAlias = prepareInsert(db, 'stig_aliases');
  for (const [alias, { slug }] of identity.aliases) insertAlias({ alias, stigId: numberOf(slug) });
  const place = sqlite.prepare('UPDATE stig_printings SET stig_id = ?, superseded_by = ? WHERE id = ?');
  const retarget = sqlite.prepare('UPDATE sources SET target = ? WHERE id = ?');
  for (const printing of printings) {
    const { slug } = identity.stigOf.get(printing)!;
    place.run(numberOf(slug), identity.servedInstead.get(printing)?.id ?? null, printing.id);
    retarget.run(slug, printing.sourceId);
  }
  return changes;
}

function slugChanges(
  { sqlite }: Database,
  printings: Printing[],
  { stigs, stigOf, aliases }: Identity,
): SlugChange[] {
  const before = sqlite
    .prepare<[], { slug: string; current: number }>('SELECT slug, current_release_id AS current FROM stigs')
    .all();
  const bySlug = new Map(stigs.map((stig) => [stig.slug, stig]));
  const byId = new Map(printings.map((printing) => [printing.id, printing]));
  return before.flatMap(({ slug, current }) => {
    const printing = byId.get(current);
    // A release that was read again has another row; its former slug still identifies it.
    const heir = printing ? stigOf.get(printing)! : (aliases.get(slug) ?? bySlug.get(slug));
    return heir?.slug === slug ? [] : [{ from: slug, to: heir?.slug ?? null }];
  });
}

/** The stored rows of operators' `--slugs` files: slugs by benchmark id. */
export function readOverrides({ sqlite }: Database): Map<string, string> {
  const rows = sqlite
    .prepare<[], [string, string]>('SELECT benchmark_id, slug FROM stig_overrides')
    .raw()
    .all();
  return new Map(rows);
}

/** Stores the rows of an operator's file; an empty slug removes one. Gives whether anything changed. */
export function storeOverrides(db: Database, rows: Map<string, string>): boolean {
  const stored = readOverrides(db);
  const changed = [...rows].filter(([benchmarkId, slug]) => (stored.get(benchmarkId) ?? '') !== slug);
  const remove = db.sqlite.prepare('DELETE FROM stig_overrides WHERE benchmark_id = ?');
  const insert = db.sqlite.prepare('INSERT INTO stig_overrides VALUES (?, ?)');
  for (const [benchmarkId, slug] of changed) {
    remove.run(benchmarkId);
    if (slug !== '') insert.run(benchmarkId, slug);
  }
  return changed.length > 0;
}
