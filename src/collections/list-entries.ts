import { and, asc, count, eq, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { User, Viewer } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import type { NamedRelease } from '../catalog/stigs/queries.ts';
import type { Database } from '../db/database.ts';
import { findings, stigReleases, stigs } from '../db/tables.ts';
import { collections, listStigs } from '../db/user-tables.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import { createCollectionService } from './collections.ts';
import type { ListEntry, ListExport, ListFinding, ListStigs, ListStigUpdate } from './lists-schema.ts';
import { createReferences, slugOf, stigOf } from './references.ts';
import type { StigsAdded } from './schema.ts';

/** How the findings of a page are wanted: not at all, all, or those of some severities. */
export interface FindingChoice {
  include: boolean;
  severity?: Set<'high' | 'medium' | 'low'> | undefined;
}

export type ListEntryService = ReturnType<typeof createListEntryService>;

/** The entries of lists (rule D8). */
export function createListEntryService(db: Database, now: () => Date, newId: () => string) {
  const { orm } = db;
  const lists = createCollectionService(db, 'list', { id: collections.id }, now, newId);
  const references = createReferences(db);
  const severities = sql.placeholder('severities');
  const isWanted = (severity: SQL | string) => sql`instr(${severities}, ${severity}) > 0`;
  const { version, status, statusDate, findingCount, high, medium, low } = stigReleases;
  // A STIG without a wanted finding is dropped by the counts of its release, before the page is cut.
  const matching = and(
    eq(listStigs.collectionId, sql.placeholder('list')),
    sql`(${severities} = '' OR ${isWanted('high')} AND ${high} > 0
      OR ${isWanted('medium')} AND ${medium} > 0 OR ${isWanted('low')} AND ${low} > 0)`,
  );
  // What is gone from the catalog has neither a STIG nor a release, and is shown as it was seen.
  const isMeant = eq(stigs.id, stigOf(listStigs));
  const isCurrent = eq(stigReleases.id, stigs.currentReleaseId);
  const countMatching = orm
    .select({ total: count() })
    .from(listStigs)
    .leftJoin(stigs, isMeant)
    .leftJoin(stigReleases, isCurrent)
    .where(matching)
    .prepare();
  const slug = sql<string>`coalesce(${stigs.slug}, ${listStigs.slug})`;
  const none = (column: SQLiteColumn) => sql<number>`coalesce(${column}, 0)`;
  const empty = (column: SQLiteColumn) => sql<string>`coalesce(${column}, '')`;
  const entryPage = orm
    .select({
      slug,
      title: sql<string>`coalesce(${stigReleases.title}, ${listStigs.title})`,
      version: empty(version),
      status: empty(status),
      statusDate,
      findingCount: none(findingCount),
      catI: none(high),
      catII: none(medium),
      catIII: none(low),
      addedAt: listStigs.addedAt,
      position: listStigs.position,
      notes: listStigs.notes,
      releaseId: stigs.currentReleaseId,
      addedVersion: listStigs.version,
    })
    .from(listStigs)
    .leftJoin(stigs, isMeant)
    .leftJoin(stigReleases, isCurrent)
    .where(matching)
    .orderBy(asc(listStigs.position), asc(slug))
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset'))
    .prepare();
  // The finding of a list (D4.6): shorter than that of the catalog, its severity named `ruleSeverity`.
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
        sql`(${severities} = '' OR ${isWanted(sql`${findings.severity}`)})`,
      ),
    )
    .orderBy(asc(findings.ordinal))
    .prepare();

  function rows(list: string, wantedSeverities: string, wanted: Page | null) {
    const filter = { list, severities: wantedSeverities };
    const { total } = countMatching.get(filter)!;
    const limit = wanted?.limit ?? total;
    const offset = wanted === null ? 0 : offsetOf(wanted, total);
    const found = entryPage.all({ ...filter, limit, offset });
    const entries = found.map(({ notes, releaseId, addedVersion, ...entry }) => {
      return { entry, notes, releaseId, addedVersion };
    });
    return { total, entries };
  }

  function findingsIn(release: number | null, wantedSeverities: string): ListFinding[] {
    if (release === null) return [];
    return findingsOf
      .all({ release, severities: wantedSeverities })
      .map(({ ruleIdents, ...row }) => ({ ...row, ruleIdent: ruleIdents[0] ?? '', ruleIdents }));
  }

  return {
    /** A page of entries by position, then slug; with findings, STIGs that have none of those wanted are left out. */
    page(viewer: Viewer, id: string, wanted: Page, { include, severity }: FindingChoice): ListStigs {
      return db.read(() => {
        const list = lists.find(viewer, id);
        const only = include && severity ? [...severity].join(',') : '';
        const { total, entries } = rows(id, only, wanted);
        return {
          list: { id, name: list.name, stigCount: lists.sizeOf(id) },
          stigs: entries.map(({ entry, notes, releaseId }) => ({
            ...entry,
            notes,
            ...(include ? { findings: findingsIn(releaseId, only) } : {}),
          })),
          pagination: paginationOf(wanted, total),
        };
      });
    },

    /** The slugs of a list's entries, each with the day and the release at which it was added. Throws NOT_FOUND. */
    additions(viewer: Viewer, id: string): { slug: string; since: string; version: string }[] {
      return db.read(() => {
        lists.find(viewer, id);
        return rows(id, '', null).entries.map(({ entry: { slug, addedAt }, addedVersion }) => {
          return { slug, since: addedAt.slice(0, 'YYYY-MM-DD'.length), version: addedVersion };
        });
      });
    },

    /** The slugs of a list's entries, by position. Throws NOT_FOUND. */
    slugs(viewer: Viewer, id: string): string[] {
      return db.read(() => {
        lists.find(viewer, id);
        return rows(id, '', null).entries.map(({ entry }) => entry.slug);
      });
    },

    /** All entries, without notes and findings. */
    exported(viewer: Viewer, id: string): ListExport {
      return db.read(() => {
        const { name, description } = lists.find(viewer, id);
        const stigs = rows(id, '', null).entries.map(({ entry }) => entry);
        return { list: { id, name, description }, stigs };
      });
    },

    /** The name of a list, and each of its entries with its release, which is null for what is gone from the catalog. */
    releases(viewer: Viewer, id: string): { name: string; stigs: NamedRelease[] } {
      return db.read(() => {
        const { name } = lists.find(viewer, id);
        const stigs = rows(id, '', null).entries.map(({ entry: { slug, title, version }, releaseId }) => {
          return { slug, title, release: releaseId === null ? null : { id: releaseId, version } };
        });
        return { name, stigs };
      });
    },

    /**
     * Appends the STIGs of the catalog that are not in the list yet, in the order given; `notes` are those of a slug. Throws as
     * `add` of collections.
     */
    add(
      user: User,
      id: string,
      slugs: string[],
      notes: ReadonlyMap<string, string> = new Map(),
    ): Promise<StigsAdded> {
      return db.write(() => {
        lists.own(user, id);
        const named = references.stigs([...new Set(slugs)]);
        const missing = named.filter(({ seen }) => seen === null).map(({ name }) => name);
        const wanted = named.map((each) => ({ ...each, notes: notes.get(each.name) }));
        return lists.add(id, wanted, missing);
      });
    },

    /** Takes STIGs out of the list; what is not in it is no error. Gives how many were. */
    remove(user: User, id: string, slugs: string[]): Promise<number> {
      return db.write(() => {
        lists.own(user, id);
        return lists.take(id, references.stigs(slugs));
      });
    },

    /** One entry of a list. Throws 404 without such an entry. */
    entry(viewer: Viewer, id: string, stigSlug: string): Omit<ListEntry, 'findings'> {
      return db.read(() => {
        lists.find(viewer, id);
        const { key } = references.stigs([stigSlug])[0]!;
        const row = rows(id, '', null).entries.find(({ entry }) => entry.slug === key);
        if (!row) throw notFound();
        return { ...row.entry, notes: row.notes };
      });
    },

    /** Sets notes, position or both of one entry and moves no other. Throws 404 without such an entry. */
    update(
      user: User,
      id: string,
      stigSlug: string,
      change: { notes?: string | undefined; position?: number | undefined },
    ): Promise<ListStigUpdate> {
      return db.write(() => {
        lists.own(user, id);
        const { notes = sql`${listStigs.notes}`, position = sql`${listStigs.position}` } = change;
        const { key } = references.stigs([stigSlug])[0]!;
        const row = orm
          .update(listStigs)
          .set({ notes, position })
          .where(and(eq(listStigs.collectionId, id), eq(slugOf(listStigs), key)))
          .returning({ notes: listStigs.notes, position: listStigs.position, addedAt: listStigs.addedAt })
          .get();
        if (!row) throw notFound();
        lists.change(id, {});
        return { stigSlug: key, ...row };
      });
    },
  };
}
