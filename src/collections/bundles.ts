import { and, asc, desc, eq, getTableColumns, gte, isNull, type SQL, sql } from 'drizzle-orm';
import type { Integration, User, Viewer } from '../auth/viewer.ts';
import { forbidden, notFound } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { type BundleKind, bundles, integrationTokenLists } from '../db/user-tables.ts';
import { seeTime } from './clock.ts';

export type Bundle = typeof bundles.$inferSelect;

/** Where the members of a kind are found, by what they are members of. */
const membersOf: Record<BundleKind, string> = {
  list: 'list_stigs WHERE list_id',
  'control-collection': 'collection_controls WHERE collection_id',
  'regdoc-collection': 'collection_documents WHERE collection_id',
  'role-collection': 'collection_roles WHERE collection_id',
};

type ListedBundle = Bundle & { members: number; slugs?: string };

/** What a creator may set. */
export type BundleFields = Pick<Bundle, 'name' | 'description' | 'tags' | 'color' | 'icon' | 'visibility'>;

/** Some of them; what is undefined stays as it is. */
export type BundleChange = { [K in keyof BundleFields]?: BundleFields[K] | undefined };

export type BundleService = ReturnType<typeof createBundleService>;

/**
 * What lists and the three kinds of collections have in common (rule D8.3): who
 * sees them, who may change them, how they are made, changed and deleted softly.
 */
export function createBundleService(db: Database, kind: BundleKind, now: () => Date, newId: () => string) {
  const { orm } = db;
  const members = sql<number>`(SELECT count(*) FROM ${sql.raw(membersOf[kind])} = ${bundles}.id)`;
  const countOf = db.sqlite.prepare<[string], number>(`SELECT count(*) FROM ${membersOf[kind]} = ?`).pluck();

  /** The creator's own, and what is shared in the organization; for an integration token what is assigned to it. */
  const visibleTo = {
    user: (user: User): SQL => sql`(${bundles.createdById} = ${user.subject}
      OR (${bundles.visibility} = 'SHARED' AND ${bundles.organizationId} = ${user.organization}))`,
    integration: (token: Integration): SQL => sql`(${bundles.organizationId} = ${token.organization}
      AND ${bundles.id} IN (SELECT ${integrationTokenLists.listId} FROM ${integrationTokenLists}
                             WHERE ${integrationTokenLists.tokenId} = ${token.id}))`,
  };

  function visible(viewer: Viewer): SQL {
    const who = viewer.kind === 'user' ? visibleTo.user(viewer) : visibleTo.integration(viewer);
    return and(eq(bundles.kind, kind), isNull(bundles.deletedAt), who)!;
  }

  /** A bundle that the viewer may see. Throws the one 404 for all that they may not (D2.5). */
  function find(viewer: Viewer, id: string): Bundle {
    const row = orm
      .select()
      .from(bundles)
      .where(and(eq(bundles.id, id), visible(viewer)))
      .get();
    if (!row) throw notFound();
    return row;
  }

  /** Who sees it: its creator, and its organization, whose tokens may read also what is private. */
  const concern = (row: Bundle) => db.audience.concern(row.createdById, row.organizationId);

  return {
    find,

    /** How many members a bundle has. */
    count: (id: string): number => countOf.get(id)!,

    /** What the viewer sees, with the number of members and what else is asked for: newest first, then by id (D3.4). */
    all(viewer: Viewer, more: { slugs?: SQL<string> } = {}): ListedBundle[] {
      return orm
        .select({ ...getTableColumns(bundles), members, ...more })
        .from(bundles)
        .where(visible(viewer))
        .orderBy(desc(bundles.createdAt), asc(bundles.id))
        .all();
    },

    /** A bundle of the user's own. Throws 404 for what they may not see, 403 for what is another's. */
    own(user: User, id: string): Bundle {
      const row = find(user, id);
      if (row.createdById !== user.subject) throw forbidden('Only the creator may do this');
      return row;
    },

    /** One of the user's own that is deleted, or null. */
    ownDeleted(user: User, id: string): Bundle | null {
      const row = orm
        .select()
        .from(bundles)
        .where(and(eq(bundles.id, id), eq(bundles.kind, kind), eq(bundles.createdById, user.subject)))
        .get();
      return row && row.deletedAt !== null ? row : null;
    },

    /** What the user deleted from a time on, newest first. */
    deletedSince(user: User, time: string): Bundle[] {
      return orm
        .select()
        .from(bundles)
        .where(
          and(eq(bundles.kind, kind), eq(bundles.createdById, user.subject), gte(bundles.deletedAt, time)),
        )
        .orderBy(desc(bundles.deletedAt), asc(bundles.id))
        .all();
    },

    /** Makes a bundle of the user's: creator, e-mail and organization are the token's word, never a body's. */
    create(user: User, fields: BundleFields): Bundle {
      const time = now().toISOString();
      const row: Bundle = {
        id: newId(),
        kind,
        ...fields,
        createdById: user.subject,
        createdByEmail: user.email,
        organizationId: user.organization,
        createdAt: time,
        updatedAt: time,
        deletedAt: null,
      };
      orm.insert(bundles).values(row).run();
      concern(row);
      return row;
    },

    /** Changes what is given; an empty change (as when only entries changed) moves `updatedAt` alone. */
    change(id: string, change: BundleChange & { deletedAt?: null }): Bundle {
      const row = orm
        .update(bundles)
        .set({ ...change, updatedAt: now().toISOString() })
        .where(eq(bundles.id, id))
        .returning()
        .get()!;
      concern(row);
      return row;
    },

    /** Deletes softly, dated by the latest time seen: a clock behind it would make the purge come too early. */
    remove(id: string): void {
      const deletedAt = seeTime(db, now());
      concern(orm.update(bundles).set({ deletedAt }).where(eq(bundles.id, id)).returning().get()!);
    },
  };
}
