import { and, eq, sql } from 'drizzle-orm';
import type { User } from '../auth/viewer.ts';
import { notThere } from '../base/errors.ts';
import { compareCodePoints, cut } from '../base/text.ts';
import type { CatalogFramework } from '../catalog/controls/frameworks.ts';
import { sortKey } from '../catalog/controls/identifier.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { Database } from '../db/database.ts';
import { prepareInsert } from '../db/insert.ts';
import { favoriteControls } from '../db/user-tables.ts';
import { addedAnswer } from './entries.ts';
import type {
  FavoriteControlAdded,
  FavoriteControlRemoved,
  FavoriteControls,
  FavoriteStigs,
} from './favorites-schema.ts';
import { controlOf, createReferences, keysOf, referencesToStigs, slugOf, stigOf } from './references.ts';
import type { StigsAdded } from './schema.ts';

export type FavoriteService = ReturnType<typeof createFavoriteService>;

/** A favorite STIG as the catalog has it, or else as it was stored, without a version. */
interface FavoriteStig {
  slug: string;
  title: string;
  version: string | null;
  addedAt: string;
}

/** A user's favorites, newest first (rules D3.4, D8.4). */
export function createFavoriteService(
  db: Database,
  now: () => Date,
  newId: () => string,
  stigNames: StigNameIndex,
) {
  const { orm, sqlite } = db;
  const references = createReferences(db);
  const stigRows = sqlite.prepare<[string], FavoriteStig>(
    `SELECT coalesce(stigs.slug, favorite.slug) AS slug, coalesce(newest.title, favorite.title) AS title, newest.version,
            favorite.added_at AS addedAt
       FROM favorite_stigs AS favorite
       LEFT JOIN stigs ON stigs.id = ${stigOf('favorite')}
       LEFT JOIN stig_releases AS newest ON newest.id = stigs.current_release_id
      WHERE favorite.subject = ?
      ORDER BY addedAt DESC, coalesce(stigs.slug, favorite.slug)`,
  );
  const insertStig = prepareInsert(db, 'favorite_stigs');
  const removeStigRows = sqlite.prepare<[string, string]>(
    `DELETE FROM favorite_stigs
      WHERE subject = ? AND ${slugOf('favorite_stigs')} IN (SELECT value FROM json_each(?))`,
  );
  const controlRows = orm
    .select()
    .from(favoriteControls)
    .where(eq(favoriteControls.subject, sql.placeholder('subject')))
    .prepare();

  /** A write to the user's own favorites. */
  const write = <T>({ subject }: User, work: () => T): Promise<T> =>
    db.write(() => {
      db.audience.concern(subject, null);
      return work();
    });

  return {
    stigs({ subject }: User): FavoriteStigs {
      const items = stigRows.all(subject).map(({ slug, addedAt }) => ({ slug, addedAt }));
      return { slugs: items.map((item) => item.slug), items };
    },

    /** The favorite STIGs with title and version, which is null for a STIG that is gone from the catalog. */
    stigCards: ({ subject }: User) => stigRows.all(subject),

    addStigs(user: User, slugs: string[]): Promise<StigsAdded> {
      return write(user, () => {
        const { subject } = user;
        const addedAt = now().toISOString();
        const before = stigRows.all(subject);
        const known = new Set(before.map((row) => row.slug));
        const named = referencesToStigs(stigNames, [...new Set(slugs)]);
        let added = 0;
        for (const { key, seen } of named) {
          if (seen === null || known.has(key)) continue;
          known.add(key);
          insertStig({ subject, ...seen, addedAt });
          added++;
        }
        const missing = named.filter(({ seen }) => seen === null).map(({ name }) => name);
        return addedAnswer(added, before.length + added, missing);
      });
    },

    removeStigs(user: User, slugs: string[]): Promise<number> {
      return write(
        user,
        () => removeStigRows.run(user.subject, keysOf(referencesToStigs(stigNames, slugs))).changes,
      );
    },

    /** The favorites of some frameworks or of all; `total` counts those. */
    controls({ subject }: User, frameworks: Set<CatalogFramework> | undefined): FavoriteControls {
      const controls = db.read(() => {
        const favorites = controlRows
          .all({ subject })
          .filter((row) => frameworks === undefined || frameworks.has(row.framework));
        const shown = references.shownControls(favorites);
        return favorites.map(({ identifier: controlId, framework, addedAt }, at) => {
          return { controlId, framework, addedAt, ...shown[at]! };
        });
      });
      return { total: controls.length, controls: newestFirst(controls) };
    },

    knownControls: references.knownControls,

    /** Adds a control of the catalog; an earlier favorite keeps its id and time. Throws NOT_FOUND. */
    addControl(user: User, framework: CatalogFramework, controlId: string): Promise<FavoriteControlAdded> {
      return write(user, () => {
        const { seen, identifier } = references.controls([{ framework, controlId }])[0]!;
        if (seen === null) throw notThere('/controlId', `Control not found: ${cut(controlId)}`);
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

    /** Removes a control; one that is no favorite, or unknown, is no error. */
    removeControl(
      user: User,
      framework: CatalogFramework,
      controlId: string,
    ): Promise<FavoriteControlRemoved> {
      return write(user, () => {
        const { key, identifier } = references.controls([{ framework, controlId }])[0]!;
        orm
          .delete(favoriteControls)
          .where(
            and(eq(favoriteControls.subject, user.subject), eq(sql.raw(controlOf('favorite_controls')), key)),
          )
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
