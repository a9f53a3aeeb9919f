import { and, asc, desc, eq, sql } from 'drizzle-orm';
import type { User } from '../auth/viewer.ts';
import { AppError } from '../base/errors.ts';
import { compareCodePoints, cut } from '../base/text.ts';
import type { CatalogFramework } from '../catalog/controls/frameworks.ts';
import { sortKey } from '../catalog/controls/identifier.ts';
import type { Database } from '../db/database.ts';
import { prepareInsert } from '../db/insert.ts';
import { stigReleases, stigs } from '../db/tables.ts';
import { favoriteControls, favoriteStigs } from '../db/user-tables.ts';
import type {
  FavoriteControlAdded,
  FavoriteControlRemoved,
  FavoriteControls,
  FavoriteStigs,
} from './favorites-schema.ts';
import { controlOf, createReferences, isAmong, slugOf, stigOf } from './references.ts';
import type { StigsAdded } from './schema.ts';

export type FavoriteService = ReturnType<typeof createFavoriteService>;

/** A user's favorites, newest first (rules D3.4, D8.4). */
export function createFavoriteService(db: Database, now: () => Date, newId: () => string) {
  const { orm } = db;
  const references = createReferences(db);
  const slug = sql<string>`coalesce(${stigs.slug}, ${favoriteStigs.slug})`;
  const stigRows = orm
    .select({
      slug,
      title: sql<string>`coalesce(${stigReleases.title}, ${favoriteStigs.title})`,
      version: stigReleases.version,
      addedAt: favoriteStigs.addedAt,
    })
    .from(favoriteStigs)
    .leftJoin(stigs, eq(stigs.id, stigOf(favoriteStigs)))
    .leftJoin(stigReleases, eq(stigReleases.id, stigs.currentReleaseId))
    .where(eq(favoriteStigs.subject, sql.placeholder('subject')))
    .orderBy(desc(favoriteStigs.addedAt), asc(slug))
    .prepare();
  const controlRows = orm
    .select()
    .from(favoriteControls)
    .where(eq(favoriteControls.subject, sql.placeholder('subject')))
    .prepare();
  const insertStig = prepareInsert(db, favoriteStigs);

  /** A write to a user's own favorites. */
  const write = <T>(user: User, work: () => T) =>
    db.write(() => {
      db.audience.concern(user.subject, null);
      return work();
    });

  return {
    stigs({ subject }: User): FavoriteStigs {
      const items = stigRows.all({ subject }).map(({ slug, addedAt }) => ({ slug, addedAt }));
      return { slugs: items.map((item) => item.slug), items };
    },

    /** The favorite STIGs with title and version; the version is null where one is gone from the catalog. */
    stigCards({ subject }: User) {
      return stigRows.all({ subject });
    },

    addStigs(user: User, slugs: string[]): Promise<StigsAdded> {
      return write(user, () => {
        const { subject } = user;
        const addedAt = now().toISOString();
        const before = stigRows.all({ subject });
        const known = new Set(before.map((row) => row.slug));
        const named = references.stigs([...new Set(slugs)]);
        const missing = named.filter(({ seen }) => seen === null).map(({ name }) => name);
        let added = 0;
        for (const { key, seen } of named) {
          if (seen === null || known.has(key)) continue;
          known.add(key);
          insertStig.run({ subject, ...seen, addedAt });
          added++;
        }
        const notFoundPart = missing.length === 0 ? {} : { notFound: missing };
        return { success: true, added, total: before.length + added, ...notFoundPart };
      });
    },

    removeStigs(user: User, slugs: string[]): Promise<number> {
      return write(user, () => {
        const keys = references.stigs(slugs).map(({ key }) => key);
        const isUnwanted = isAmong(slugOf(favoriteStigs), keys);
        return orm
          .delete(favoriteStigs)
          .where(and(eq(favoriteStigs.subject, user.subject), isUnwanted))
          .run().changes;
      });
    },

    /** The favorites of some frameworks or of all; `total` counts those. */
    controls({ subject }: User, frameworks: Set<CatalogFramework> | undefined): FavoriteControls {
      const controls = db.read(() => {
        const rows = controlRows
          .all({ subject })
          .filter((row) => frameworks === undefined || frameworks.has(row.framework));
        const shown = references.shownControls(rows);
        return rows.map(({ identifier: controlId, framework, addedAt }, at) => {
          return { controlId, framework, addedAt, ...shown[at]! };
        });
      });
      return { total: controls.length, controls: newestFirst(controls) };
    },

    knownControls: references.knownControls,

    /** Adds a control of the catalog; one that is a favorite already keeps its id and time. Throws NOT_FOUND. */
    addControl(user: User, framework: CatalogFramework, controlId: string): Promise<FavoriteControlAdded> {
      return write(user, () => {
        const { seen, identifier } = references.controls([{ framework, controlId }])[0]!;
        if (seen === null) throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}`);
        const { id } = orm
          .insert(favoriteControls)
          .values({ id: newId(), subject: user.subject, ...seen, addedAt: now().toISOString() })
          .onConflictDoUpdate({
            target: [favoriteControls.subject, favoriteControls.framework, favoriteControls.identifier],
            set: seen,
          })
          .returning({ id: favoriteControls.id })
          .get();
        return { success: true, id, controlId: identifier, framework };
      });
    },

    /** Removes a control; one that is no favorite, or not known at all, is no error. */
    removeControl(
      user: User,
      framework: CatalogFramework,
      controlId: string,
    ): Promise<FavoriteControlRemoved> {
      return write(user, () => {
        const { key, identifier } = references.controls([{ framework, controlId }])[0]!;
        orm
          .delete(favoriteControls)
          .where(and(eq(favoriteControls.subject, user.subject), eq(controlOf(favoriteControls), key)))
          .run();
        return { success: true, controlId: identifier, framework };
      });
    },
  };
}

/** Favorites newest first, those of one moment by framework and catalog order (rule D3.4). */
function newestFirst(controls: FavoriteControls['controls']): FavoriteControls['controls'] {
  return controls.sort(
    (a, b) =>
      compareCodePoints(b.addedAt, a.addedAt) ||
      compareCodePoints(a.framework, b.framework) ||
      compareCodePoints(sortKey(a.framework, a.identifier), sortKey(b.framework, b.identifier)),
  );
}
