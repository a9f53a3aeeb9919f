import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import { stigNumber } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import { sources, stigAliases, stigReleases, stigs } from '../../src/db/tables.ts';
import { createSearchIndex } from './search-index.ts';
import type { StagedRelease } from './stage-release.ts';
import { isTie } from './xccdf-release.ts';

export interface StigRow {
  id: number;
  slug: string;
  kind: 'stig' | 'srg';
}

type ReleaseRow = typeof stigReleases.$inferSelect;

export interface StoredRelease {
  id: number;
  idKey: string;
  title: string;
  version: string;
  releaseOrder: string;
  releaseDate: string | null;
}

/** A printing that gave way to another of the same version. */
export interface GivenUp {
  id: number;
  /** Neither is dated newer. */
  isTie: boolean;
  /** The two go by two benchmark ids. */
  isOtherId: boolean;
}

export type StigStore = ReturnType<typeof createStigStore>;

/** Reads and writes STIGs, their aliases and releases for the decision about identity, inside the run's transaction. */
export function createStigStore(db: Database) {
  const { orm } = db;
  const columns = { id: stigs.id, slug: stigs.slug, kind: stigs.kind };
  const releaseColumns = {
    id: stigReleases.id,
    idKey: stigReleases.idKey,
    title: stigReleases.title,
    version: stigReleases.version,
    releaseOrder: stigReleases.releaseOrder,
    releaseDate: stigReleases.releaseDate,
  };
  const touched = new Set<number>();

  const releasesOf = orm
    .select(releaseColumns)
    .from(stigReleases)
    .where(eq(stigReleases.stigId, sql.placeholder('stigId')))
    .orderBy(desc(stigReleases.releaseOrder))
    .prepare();
  const releaseOf = orm
    .select(releaseColumns)
    .from(stigReleases)
    .where(
      and(
        eq(stigReleases.stigId, sql.placeholder('stigId')),
        eq(stigReleases.version, sql.placeholder('version')),
      ),
    )
    .prepare();
  const stigById = orm
    .select(columns)
    .from(stigs)
    .where(eq(stigs.id, sql.placeholder('id')))
    .prepare();

  const stigBySlug = orm
    .select(columns)
    .from(stigs)
    .where(eq(stigs.slug, sql.placeholder('slug')))
    .prepare();
  const stigByAlias = orm
    .select({ ...columns, benchmarkId: stigAliases.benchmarkId })
    .from(stigAliases)
    .innerJoin(stigs, eq(stigs.id, stigAliases.stigId))
    .where(eq(stigAliases.idKey, sql.placeholder('idKey')))
    .prepare();
  const insertStig = prepareInsert(db, stigs);
  const insertAlias = prepareInsert(db, stigAliases);
  const insertRelease = prepareInsert(db, stigReleases);

  const aliased = (idKey: string) => stigByAlias.get({ idKey });
  const releases = (stigId: number): StoredRelease[] => releasesOf.all({ stigId });
  const release = (stigId: number, version: string): StoredRelease | null =>
    releaseOf.get({ stigId, version }) ?? null;

  /** Stores a release under a STIG; of two printings of one version the newer stays. Gives the one that does not. */
  function attach(staged: StagedRelease | ReleaseRow, stigId: number): GivenUp | null {
    touched.add(stigId);
    const other = release(stigId, staged.version);
    const giveUp = ({ id }: { id: number }) =>
      other && {
        id,
        isTie: isTie(staged.releaseOrder, other.releaseOrder),
        isOtherId: staged.idKey !== other.idKey,
      };
    if (other && other.releaseOrder > staged.releaseOrder) {
      removeRelease(db, staged.id, staged.sourceId);
      return giveUp(staged);
    }
    if (other) removeRelease(db, other.id);
    insertRelease.run({ ...staged, stigId });
    return other && giveUp(other);
  }

  return {
    releases,
    release,
    byId: (id: number): StigRow => stigById.get({ id })!,
    bySlug: (slug: string): StigRow | null => stigBySlug.get({ slug }) ?? null,
    alias(idKey: string): StigRow | null {
      const found = aliased(idKey);
      return found === undefined ? null : { id: found.id, slug: found.slug, kind: found.kind };
    },

    /** The benchmark id under which a key was first met. */
    aliasOf: (idKey: string): string | undefined => aliased(idKey)?.benchmarkId,

    create(slug: string, kind: 'stig' | 'srg'): StigRow {
      const row = { id: stigNumber(slug), slug, kind };
      insertStig.run({ ...row, title: slug, titleFold: slug, currentReleaseId: null });
      return row;
    },

    addAlias(idKey: string, stigId: number, benchmarkId: string, decision: string): void {
      insertAlias.run({ idKey, stigId, benchmarkId, decision });
    },

    /** Removes what was staged of a release that is refused. */
    reject(staged: StagedRelease): void {
      removeRelease(db, staged.id, staged.sourceId);
    },

    attach,

    /** Takes the releases of one benchmark id out of their STIG (an operator's override), for `move`. */
    detach(idKey: string): ReleaseRow[] {
      const rows = orm.select().from(stigReleases).where(eq(stigReleases.idKey, idKey)).all();
      for (const { id, stigId } of rows) {
        touched.add(stigId);
        orm.update(stigs).set({ currentReleaseId: null }).where(eq(stigs.currentReleaseId, id)).run();
        orm.delete(stigReleases).where(eq(stigReleases.id, id)).run();
      }
      return rows;
    },

    /** Puts a release that was detached under another STIG, as `attach` does. */
    move(detached: ReleaseRow, { id, slug }: StigRow): GivenUp | null {
      orm.update(sources).set({ target: slug }).where(eq(sources.id, detached.sourceId)).run();
      return attach(detached, id);
    },

    moveAlias(idKey: string, stigId: number, decision: string): void {
      touched.add(stigId);
      orm.update(stigAliases).set({ stigId, decision }).where(eq(stigAliases.idKey, idKey)).run();
    },

    /** Points every STIG that was touched to its newest release, and takes the title from it. Gives their ids. */
    refreshCurrent(): Set<number> {
      if (touched.size === 0) return touched;
      for (const { id } of orm
        .select({ id: stigs.id })
        .from(stigs)
        .where(inArray(stigs.id, [...touched]))
        .all()) {
        const newest = releases(id)[0];
        const title =
          newest &&
          orm
            .select({ title: stigReleases.title })
            .from(stigReleases)
            .where(eq(stigReleases.id, newest.id))
            .get()!.title;
        orm
          .update(stigs)
          .set({
            currentReleaseId: newest?.id ?? null,
            ...(title === undefined ? {} : { title, titleFold: fold(title) }),
          })
          .where(eq(stigs.id, id))
          .run();
      }
      return touched;
    },
  };
}

/** Removes a release (or what was staged of it) with its findings, profiles and source. */
export function removeRelease(db: Database, releaseId: number, sourceId?: number): void {
  const source =
    sourceId ?? db.sqlite.prepare('SELECT source_id FROM stig_releases WHERE id = ?').pluck().get(releaseId);
  createSearchIndex(db).remove(releaseId);
  db.sqlite.prepare('UPDATE stigs SET current_release_id = NULL WHERE current_release_id = ?').run(releaseId);
  db.sqlite.prepare('DELETE FROM findings WHERE release_id = ?').run(releaseId);
  db.sqlite.prepare('DELETE FROM stig_profiles WHERE release_id = ?').run(releaseId);
  db.sqlite.prepare('DELETE FROM stig_releases WHERE id = ?').run(releaseId);
  db.sqlite.prepare('DELETE FROM sources WHERE id = ?').run(source);
}
