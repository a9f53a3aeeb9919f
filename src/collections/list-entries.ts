import { and, asc, eq, sql } from 'drizzle-orm';
import type { Viewer } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import type { NamedRelease } from '../catalog/stigs/queries.ts';
import type { Database } from '../db/database.ts';
import { findings } from '../db/tables.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import { type Collection, createVisible } from './collections.ts';
import { allWanted, createListRows, isWanted } from './list-rows.ts';
import type { ListEntry, ListExport, ListFinding, ListStigs } from './lists-schema.ts';
import { createReferences } from './references.ts';

/** The findings on a page: none, all, or those of some severities. */
export interface FindingChoice {
  include: boolean;
  severity?: Set<'high' | 'medium' | 'low'> | undefined;
}

export type ListEntryService = ReturnType<typeof createListEntryService>;

/** Reads the entries of lists (rule D8). Every function throws the one 404 for a list that the viewer may not see. */
export function createListEntryService(db: Database) {
  const lists = createVisible(db, 'list');
  const references = createReferences(db);
  const rows = createListRows(db);
  const findingsIn = createListFindings(db);

  /** One read of a list that the viewer may see. */
  const read = <T>(viewer: Viewer, id: string, of: (list: Collection) => T): T =>
    db.read(() => of(lists.find(viewer, id)));

  return {
    /** A page of entries by position, then slug; with findings, STIGs that have none of those wanted are left out. */
    page(viewer: Viewer, id: string, wanted: Page, { include, severity }: FindingChoice): ListStigs {
      return read(viewer, id, ({ name }) => {
        const only = include && severity ? [...severity].join(',') : '';
        const total = rows.count(id, only);
        const found = rows.entries(id, only, wanted.limit, offsetOf(wanted, total));
        return {
          list: { id, name, stigCount: only === '' ? total : rows.count(id) },
          stigs: found.map(({ releaseId, addedVersion: _, ...entry }) => ({
            ...entry,
            ...(include ? { findings: findingsIn(releaseId, only) } : {}),
          })),
          pagination: paginationOf(wanted, total),
        };
      });
    },

    /** The slugs of the entries, each with the day on which it was added and the release of that day. */
    additions: (viewer: Viewer, id: string): { slug: string; since: string; version: string }[] =>
      read(viewer, id, () =>
        rows.entries(id).map(({ slug, addedAt, addedVersion: version }) => {
          return { slug, since: addedAt.slice(0, 'YYYY-MM-DD'.length), version };
        }),
      ),

    /** The slugs of the entries, by position. */
    slugs: (viewer: Viewer, id: string): string[] =>
      read(viewer, id, () => rows.entries(id).map(({ slug }) => slug)),

    /** A list and its entries as its JSON export has them. */
    exported: (viewer: Viewer, id: string): ListExport =>
      read(viewer, id, ({ name, description }) => {
        const stigs = rows
          .entries(id)
          .map(({ releaseId: _, addedVersion: __, notes: ___, ...entry }) => entry);
        return { list: { id, name, description }, stigs };
      }),

    /** The name of a list, and its entries with their releases: null for a STIG that is gone from the catalog. */
    releases: (viewer: Viewer, id: string): { name: string; stigs: NamedRelease[] } =>
      read(viewer, id, ({ name }) => {
        const stigs = rows.entries(id).map(({ slug, title, version, releaseId }) => {
          return { slug, title, release: releaseId === null ? null : { id: releaseId, version } };
        });
        return { name, stigs };
      }),

    /** One entry of a list. Throws 404 without such an entry. */
    entry: (viewer: Viewer, id: string, stigSlug: string): Omit<ListEntry, 'findings'> =>
      read(viewer, id, () => {
        const { key } = references.stigs([stigSlug])[0]!;
        const row = rows.entries(id).find(({ slug }) => slug === key);
        if (!row) throw notFound();
        const { releaseId: _, addedVersion: __, ...entry } = row;
        return entry;
      }),
  };
}

/** The findings of a list (D4.6): shorter than those of the catalog, the severity named `ruleSeverity`. */
function createListFindings({ orm }: Database) {
  const findingsOf = orm
    .select({
      groupId: findings.groupId,
      ruleId: findings.ruleId,
      ruleSeverity: findings.severity,
      ruleTitle: findings.ruleTitle,
      vulnDiscussion: findings.vulnDiscussion,
      fixText: findings.fixText,
      checkContent: findings.checkContent,
      ruleIdents: findings.ccis,
    })
    .from(findings)
    .where(
      and(
        eq(findings.releaseId, sql.placeholder('release')),
        sql`(${allWanted} OR ${isWanted(sql`${findings.severity}`)})`,
      ),
    )
    .orderBy(asc(findings.ordinal))
    .prepare();
  return (release: number | null, severities: string): ListFinding[] =>
    release === null
      ? []
      : findingsOf
          .all({ release, severities })
          .map(({ ruleIdents, ...row }) => ({ ...row, ruleIdent: ruleIdents[0] ?? '', ruleIdents }));
}
