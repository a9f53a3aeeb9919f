import { and, asc, count, desc, eq, sql } from 'drizzle-orm';
import type { User } from '../auth/viewer.ts';
import { AppError } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import type { CatalogFramework } from '../catalog/controls/frameworks.ts';
import type { Database } from '../db/database.ts';
import { favoriteControls, favoriteStigs, knownControls, knownStigs } from '../db/user-tables.ts';
import type {
  FavoriteControlAdded,
  FavoriteControlRemoved,
  FavoriteControls,
  FavoriteStigs,
} from './favorites-schema.ts';
import { createReferences } from './references.ts';
import type { StigsAdded } from './schema.ts';

export type FavoriteService = ReturnType<typeof createFavoriteService>;

/** A user's favorites, newest first (rules D3.4, D8.4). */
export function createFavoriteService(db: Database, now: () => Date, newId: () => string) {
  const { orm } = db;
  const references = createReferences(db);
  const stigRows = orm
    .select({
      slug: knownStigs.slug,
      title: knownStigs.title,
      version: knownStigs.version,
      addedAt: favoriteStigs.addedAt,
    })
    .from(favoriteStigs)
    .innerJoin(knownStigs, eq(knownStigs.id, favoriteStigs.reference))
    .where(eq(favoriteStigs.subject, sql.placeholder('subject')))
    .orderBy(desc(favoriteStigs.addedAt), asc(knownStigs.slug))
    .prepare();
  const { identifier, framework, title, family, statement } = knownControls;
  const controlRows = orm
    .select({
      ...{ controlId: identifier, framework, addedAt: favoriteControls.addedAt },
      ...{ identifier, title, family, statement },
    })
    .from(favoriteControls)
    .innerJoin(knownControls, eq(knownControls.id, favoriteControls.reference))
    .where(eq(favoriteControls.subject, sql.placeholder('subject')))
    .orderBy(desc(favoriteControls.addedAt), asc(framework), asc(knownControls.sortKey))
    .prepare();

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
      return stigRows.all({ subject }).map((row) => ({ ...row, version: row.version || null }));
    },

    addStigs(user: User, slugs: string[]): Promise<StigsAdded> {
      return write(user, () => {
        const { subject } = user;
        const addedAt = now().toISOString();
        const missing: string[] = [];
        let added = 0;
        for (const slug of new Set(slugs)) {
          const stig = references.stig(slug);
          if (!stig?.isServed) missing.push(slug);
          else {
            const row = { subject, reference: stig.reference, addedAt };
            added += orm.insert(favoriteStigs).values(row).onConflictDoNothing().run().changes;
          }
        }
        const ofUser = eq(favoriteStigs.subject, subject);
        const { total } = orm.select({ total: count() }).from(favoriteStigs).where(ofUser).get()!;
        const notFoundPart = missing.length === 0 ? {} : { notFound: missing };
        return { success: true, added, total, ...notFoundPart };
      });
    },

    removeStigs(user: User, slugs: string[]): Promise<number> {
      return write(user, () => {
        let removed = 0;
        for (const slug of slugs) {
          const reference = references.stig(slug)?.reference ?? -1;
          const isFavorite = and(
            eq(favoriteStigs.subject, user.subject),
            eq(favoriteStigs.reference, reference),
          );
          removed += orm.delete(favoriteStigs).where(isFavorite).run().changes;
        }
        return removed;
      });
    },

    /** The favorites of some frameworks or of all; `total` counts those. */
    controls({ subject }: User, frameworks: Set<CatalogFramework> | undefined): FavoriteControls {
      const controls = controlRows
        .all({ subject })
        .filter((row) => frameworks === undefined || frameworks.has(row.framework));
      return { total: controls.length, controls };
    },

    /** Adds a control of the catalog; one that is a favorite already keeps its id and time. Throws NOT_FOUND. */
    addControl(user: User, framework: CatalogFramework, controlId: string): Promise<FavoriteControlAdded> {
      return write(user, () => {
        const control = references.control(framework, controlId);
        if (!control?.isServed) throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}`);
        const { reference, identifier } = control;
        const { id } = orm
          .insert(favoriteControls)
          .values({ id: newId(), subject: user.subject, reference, addedAt: now().toISOString() })
          .onConflictDoUpdate({
            target: [favoriteControls.subject, favoriteControls.reference],
            set: { subject: user.subject },
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
        const { reference, identifier } = references.control(framework, controlId) ?? {
          reference: '',
          identifier: controlId,
        };
        orm
          .delete(favoriteControls)
          .where(and(eq(favoriteControls.subject, user.subject), eq(favoriteControls.reference, reference)))
          .run();
        return { success: true, controlId: identifier, framework };
      });
    },
  };
}
