import type { User } from '../auth/viewer.ts';
import { AppError } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import { createFindControl, type KnownControl } from '../catalog/controls/keys.ts';
import type { CatalogFramework } from '../catalog/controls/queries.ts';
import type { Database } from '../db/database.ts';
import type {
  FavoriteControlAdded,
  FavoriteControlRemoved,
  FavoriteControls,
  FavoriteStigs,
} from './favorites-schema.ts';
import type { StigsAdded } from './schema.ts';

type FavoriteRow = Omit<KnownControl, 'id' | 'in_catalog'> & { added_at: string };

export type FavoriteService = ReturnType<typeof createFavoriteService>;

/** A user's favorites, newest first (rules D3.4, D8.4). */
export function createFavoriteService(db: Database, now: () => Date, newId: () => string) {
  const { sqlite } = db;
  const findControl = createFindControl(db);
  const stigRows = sqlite.prepare<[string], { slug: string; addedAt: string }>(
    `SELECT s.slug, f.added_at AS addedAt FROM favorite_stigs AS f JOIN stigs AS s ON s.id = f.stig_id
      WHERE f.subject = ? ORDER BY f.added_at DESC, s.slug`,
  );
  const stigCards = sqlite.prepare<
    [string],
    { slug: string; title: string; version: string; addedAt: string }
  >(
    `SELECT s.slug, s.title, s.version, f.added_at AS addedAt
       FROM favorite_stigs AS f JOIN known_stigs AS s ON s.id = f.stig_id
      WHERE f.subject = ? ORDER BY f.added_at DESC, s.slug`,
  );
  const countStigs = sqlite
    .prepare<[string], number>('SELECT count(*) FROM favorite_stigs WHERE subject = ?')
    .pluck();
  const addStig = sqlite.prepare<[string, string, string]>(
    `INSERT INTO favorite_stigs (subject, added_at, stig_id)
     SELECT ?, ?, id FROM stigs WHERE slug = ? AND current_release_id IS NOT NULL ON CONFLICT DO NOTHING`,
  );
  const isCurrent = sqlite
    .prepare<[string], number>('SELECT 1 FROM stigs WHERE slug = ? AND current_release_id IS NOT NULL')
    .pluck();
  const removeStig = sqlite.prepare<[string, string]>(
    'DELETE FROM favorite_stigs WHERE subject = ? AND stig_id = (SELECT id FROM stigs WHERE slug = ?)',
  );
  const controlRows = sqlite.prepare<[string], FavoriteRow>(
    `SELECT k.framework, k.identifier, k.title, k.family, k.statement, f.added_at
       FROM favorite_controls AS f JOIN known_controls AS k ON k.id = f.control_id
      WHERE f.subject = ? ORDER BY f.added_at DESC, k.framework, k.sort_key`,
  );
  const addControl = sqlite
    .prepare<[string, string, string, string], string>(
      `INSERT INTO favorite_controls (id, subject, control_id, added_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (subject, control_id) DO UPDATE SET added_at = added_at RETURNING id`,
    )
    .pluck();
  const removeControl = sqlite.prepare<[string, string]>(
    'DELETE FROM favorite_controls WHERE subject = ? AND control_id = ?',
  );

  /** A write to a user's own favorites. */
  const write = <T>(user: User, work: () => T) =>
    db.write(() => {
      db.audience.concern(user.subject, null);
      return work();
    });

  return {
    stigs(user: User): FavoriteStigs {
      const items = stigRows.all(user.subject);
      return { slugs: items.map((item) => item.slug), items };
    },

    /** The favorite STIGs with title and version; the version is null where one is gone from the catalog. */
    stigCards(user: User) {
      return stigCards.all(user.subject).map((row) => ({ ...row, version: row.version || null }));
    },

    addStigs(user: User, slugs: string[]): Promise<StigsAdded> {
      return write(user, () => {
        const addedAt = now().toISOString();
        const unique = [...new Set(slugs)];
        const missing = unique.filter((slug) => isCurrent.get(slug) === undefined);
        let added = 0;
        for (const slug of unique) added += addStig.run(user.subject, addedAt, slug).changes;
        const notFoundPart = missing.length === 0 ? {} : { notFound: missing };
        return { success: true, added, total: countStigs.get(user.subject)!, ...notFoundPart };
      });
    },

    removeStigs(user: User, slugs: string[]): Promise<number> {
      return write(user, () =>
        [...new Set(slugs)].reduce((sum, slug) => sum + removeStig.run(user.subject, slug).changes, 0),
      );
    },

    /** The favorites of some frameworks or of all; `total` counts those. */
    controls(user: User, frameworks: Set<CatalogFramework> | undefined): FavoriteControls {
      const controls = controlRows
        .all(user.subject)
        .filter((row) => frameworks === undefined || frameworks.has(row.framework))
        .map(({ framework, identifier, title, family, statement, added_at }) => ({
          controlId: identifier,
          framework,
          addedAt: added_at,
          identifier,
          title,
          family,
          statement,
        }));
      return { total: controls.length, controls };
    },

    /** Adds a control of the catalog; one that is a favorite already keeps its id and time. Throws NOT_FOUND. */
    addControl(user: User, framework: CatalogFramework, controlId: string): Promise<FavoriteControlAdded> {
      return write(user, () => {
        const control = findControl(framework, controlId);
        if (control?.in_catalog !== 1) {
          throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}`);
        }
        const id = addControl.get(newId(), user.subject, control.id, now().toISOString())!;
        return { success: true, id, controlId: control.identifier, framework };
      });
    },

    /** Removes a control; one that is no favorite, or not known at all, is no error. */
    removeControl(
      user: User,
      framework: CatalogFramework,
      controlId: string,
    ): Promise<FavoriteControlRemoved> {
      return write(user, () => {
        const control = findControl(framework, controlId);
        if (control) removeControl.run(user.subject, control.id);
        return { success: true, controlId: control?.identifier ?? controlId, framework };
      });
    },
  };
}
