import type { Viewer } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import type { NamedRelease } from '../catalog/stigs/queries.ts';
import type { Database } from '../db/database.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import { type Collection, createVisible } from './collections.ts';
import { createListRows, type ListRow, type ListRowSort } from './list-rows.ts';
import type { ListSeenService, Seen } from './list-seen.ts';
import type { ListEntry, ListExport, ListFinding, ListSheetRow, ListStigs } from './lists-schema.ts';

/** The findings on a page: those of some severities, or of all. */
export interface FindingChoice {
  severity: Set<'high' | 'medium' | 'low'> | undefined;
}

export type ListEntryService = ReturnType<typeof createListEntryService>;
export type Overview = ReturnType<ListEntryService['overview']>;

/** An entry as answers have it. */
function entryOf(row: ListRow): Omit<ListEntry, 'seenVersion' | 'findings'> {
  const { addedVersion: _, releaseId, releaseDate, isNewer, isAddedRetained, ...entry } = row;
  return entry;
}

/**
 * Reads the entries of lists (rule D8). Every function throws the one 404 for a list that the viewer may not see. `slugOf`
 * gives the slug for any name of a STIG.
 */
export function createListEntryService(
  db: Database,
  slugOf: (name: string) => string,
  seen: Pick<ListSeenService, 'of'>,
) {
  const lists = createVisible(db, 'list');
  const rows = createListRows(db);
  const findingsIn = createListFindings(db);

  const read = <T>(viewer: Viewer, id: string, of: (list: Collection) => T, field?: string): T =>
    db.read(() => of(lists.find(viewer, id, field)));

  return {
    revision: (viewer: Viewer, id: string) => read(viewer, id, (list) => list.revision),

    /** A page of entries by position, then slug; with findings, only STIGs that have some of the wanted ones. */
    page: (viewer: Viewer, id: string, page: Page, findings?: FindingChoice): ListStigs =>
      read(viewer, id, ({ name }) => {
        const only = [...(findings?.severity ?? [])].join(',');
        const total = rows.count(id, only);
        const { versions } = seen.of(viewer, id);
        const part = { limit: page.limit, offset: offsetOf(page, total) };
        const stigs = rows.entries(id, { severities: only, ...part }).map((row) => ({
          ...entryOf(row),
          seenVersion: versions.get(row.slug) ?? null,
          ...(findings ? { findings: findingsIn(row.releaseId, only) } : {}),
        }));
        const list = { id, name, stigCount: only === '' ? total : rows.count(id) };
        return { list, stigs, pagination: paginationOf(page, total) };
      }),

    /** A page of entries with their ages, and the counts of all of them together. */
    overview: (viewer: Viewer, id: string, { sort, ...page }: Page & { sort?: ListRowSort | undefined }) =>
      read(viewer, id, () => {
        const totals = rows.totals(id);
        const part = { limit: page.limit, offset: offsetOf(page, totals.stigs) };
        const entries = rows.entries(id, { sort, ...part });
        return { entries, totals, pagination: paginationOf(page, totals.stigs) };
      }),

    /** All entries with their notes, as a sheet has them. */
    sheet: (viewer: Viewer, id: string): ListSheetRow[] => read(viewer, id, () => rows.entries(id)),

    /** A list and its entries, as its JSON export has them. */
    exported: (viewer: Viewer, id: string): ListExport =>
      read(viewer, id, ({ name, description }) => {
        const stigs = rows.entries(id).map((row) => {
          const { notes: _, ...exported } = entryOf(row);
          return exported;
        });
        return { list: { id, name, description }, stigs };
      }),

    /** All entries, and what the viewer has seen of them (rule D36.7). */
    withSeen: (viewer: Viewer, id: string): { entries: ListRow[]; seen: Seen } =>
      read(viewer, id, () => ({ entries: rows.entries(id), seen: seen.of(viewer, id) })),

    /** The entries that are pinned to a release, also to one that is gone, by position (rules D35.2, D36.2). */
    pinned: (viewer: Viewer, id: string, field?: string): { slug: string; version: string }[] =>
      read(
        viewer,
        id,
        () =>
          rows
            .entries(id)
            .flatMap(({ slug, release }) => (release === null ? [] : [{ slug, version: release }])),
        field,
      ),

    /** The slugs of the entries, by position; `field` is the filter that names the list. */
    slugs: (viewer: Viewer, id: string, field?: string): string[] =>
      read(viewer, id, () => rows.entries(id).map(({ slug }) => slug), field),

    /** The name of a list, and its entries with their releases: null for a STIG that is gone from the catalog. */
    releases: (viewer: Viewer, id: string): { name: string; stigs: NamedRelease[] } =>
      read(viewer, id, ({ name }) => {
        const stigs = rows.entries(id).map(({ slug, title, version, releaseId }) => {
          return { slug, title, release: releaseId === null ? null : { id: releaseId, version } };
        });
        return { name, stigs };
      }),

    /** One entry of a list. Throws 404 for a missing entry too. */
    entry: (viewer: Viewer, id: string, stigSlug: string): Omit<ListEntry, 'findings'> =>
      read(viewer, id, () => {
        const key = slugOf(stigSlug);
        const row = rows.entries(id).find(({ slug }) => slug === key);
        if (!row) throw notFound();
        return { ...entryOf(row), seenVersion: seen.of(viewer, id).versions.get(row.slug) ?? null };
      }),
  };
}

/** The findings of a list (D4.6): shorter than those of the catalog, the severity named `ruleSeverity`. */
function createListFindings({ sqlite }: Database) {
  const findings = sqlite.prepare<
    { release: number; severities: string },
    Omit<ListFinding, 'ruleIdent' | 'ruleIdents'> & { ccis: string }
  >(
    `SELECT group_id AS groupId, rule_id AS ruleId, severity AS ruleSeverity, rule_title AS ruleTitle,
            vuln_discussion AS vulnDiscussion, fix_text AS fixText, check_content AS checkContent, ccis
       FROM findings
      WHERE release_id = :release AND (:severities = '' OR instr(:severities, severity) > 0)
      ORDER BY ordinal`,
  );
  return (release: number | null, severities: string): ListFinding[] => {
    if (release === null) return [];
    return findings.all({ release, severities }).map(({ ccis, ...finding }) => {
      const ruleIdents = JSON.parse(ccis) as string[];
      return { ...finding, ruleIdent: ruleIdents[0] ?? '', ruleIdents };
    });
  };
}
