import { and, asc, count, eq, type SQL, sql } from 'drizzle-orm';
import type { User, Viewer } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { findings } from '../db/tables.ts';
import { collections, knownStigs, listStigs } from '../db/user-tables.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import { createCollectionService } from './collections.ts';
import type { ListEntry, ListExport, ListFinding, ListStigs, ListStigUpdate } from './lists-schema.ts';
import { createReferences } from './references.ts';
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
  const isAmong = (severity: SQL | string) => sql`instr(${severities}, ${severity}) > 0`;
  // A STIG without a wanted finding is dropped by the counts of its release, before the page is cut.
  const matching = and(
    eq(listStigs.collectionId, sql.placeholder('list')),
    sql`(${severities} = '' OR ${isAmong('high')} AND ${knownStigs.high} > 0
      OR ${isAmong('medium')} AND ${knownStigs.medium} > 0 OR ${isAmong('low')} AND ${knownStigs.low} > 0)`,
  );
  const isReferred = eq(knownStigs.id, listStigs.reference);
  const countMatching = orm
    .select({ total: count() })
    .from(listStigs)
    .innerJoin(knownStigs, isReferred)
    .where(matching)
    .prepare();
  const entryPage = orm
    .select({
      entry: {
        slug: knownStigs.slug,
        title: knownStigs.title,
        version: knownStigs.version,
        status: knownStigs.status,
        statusDate: knownStigs.statusDate,
        findingCount: knownStigs.findingCount,
        catI: knownStigs.high,
        catII: knownStigs.medium,
        catIII: knownStigs.low,
        addedAt: listStigs.addedAt,
        position: listStigs.position,
      },
      notes: listStigs.notes,
      releaseId: knownStigs.releaseId,
    })
    .from(listStigs)
    .innerJoin(knownStigs, isReferred)
    .where(matching)
    .orderBy(asc(listStigs.position), asc(knownStigs.slug))
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
        sql`(${severities} = '' OR ${isAmong(sql`${findings.severity}`)})`,
      ),
    )
    .orderBy(asc(findings.ordinal))
    .prepare();

  function rows(list: string, wantedSeverities: string, wanted: Page | null) {
    const filter = { list, severities: wantedSeverities };
    const { total } = countMatching.get(filter)!;
    const limit = wanted?.limit ?? total;
    const offset = wanted === null ? 0 : offsetOf(wanted, total);
    return { total, entries: entryPage.all({ ...filter, limit, offset }) };
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

    /** All entries, without notes and findings. */
    exported(viewer: Viewer, id: string): ListExport {
      return db.read(() => {
        const { name, description } = lists.find(viewer, id);
        const stigs = rows(id, '', null).entries.map(({ entry }) => entry);
        return { list: { id, name, description }, stigs };
      });
    },

    /** Appends the STIGs of the catalog that are not in the list yet, in the order given. Throws as `add` of collections. */
    add(user: User, id: string, slugs: string[]): Promise<StigsAdded> {
      return db.write(() => {
        lists.own(user, id);
        const named = [...new Set(slugs)].map((slug) => ({ slug, stig: references.stig(slug) }));
        const missing = named.filter(({ stig }) => !stig?.isServed).map(({ slug }) => slug);
        return lists.add(
          id,
          named.flatMap(({ stig }) => (stig?.isServed ? stig : [])),
          missing,
        );
      });
    },

    /** Takes STIGs out of the list; what is not in it is no error. Gives how many were. */
    remove(user: User, id: string, slugs: string[]): Promise<number> {
      return db.write(() => {
        lists.own(user, id);
        return lists.take(
          id,
          slugs.flatMap((slug) => references.stig(slug) ?? []),
        );
      });
    },

    /** One entry of a list. Throws 404 without such an entry. */
    entry(viewer: Viewer, id: string, stigSlug: string): Omit<ListEntry, 'findings'> {
      return db.read(() => {
        lists.find(viewer, id);
        const slug = references.stig(stigSlug)?.slug;
        const row = rows(id, '', null).entries.find(({ entry }) => entry.slug === slug);
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
        const stig = references.stig(stigSlug);
        const { notes = sql`${listStigs.notes}`, position = sql`${listStigs.position}` } = change;
        const row = orm
          .update(listStigs)
          .set({ notes, position })
          .where(and(eq(listStigs.collectionId, id), eq(listStigs.reference, stig?.reference ?? -1)))
          .returning({ notes: listStigs.notes, position: listStigs.position, addedAt: listStigs.addedAt })
          .get();
        if (!row || !stig) throw notFound();
        lists.change(id, {});
        return { stigSlug: stig.slug, ...row };
      });
    },
  };
}
