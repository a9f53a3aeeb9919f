import type { User, Viewer } from '../auth/viewer.ts';
import { createFindControl, type KnownControl } from '../catalog/controls/keys.ts';
import type { CatalogFramework } from '../catalog/controls/queries.ts';
import type { Database } from '../db/database.ts';
import { type Bundle, type BundleChange, type BundleFields, createBundleService } from './bundles.ts';
import type {
  CollectionControls,
  CollectionExport,
  ControlCollection,
  ControlCollectionRecord,
  ControlCollections,
} from './control-collections-schema.ts';
import type { ControlsAdded } from './schema.ts';

/** A control as a body names it. */
export interface ControlEntry {
  framework: CatalogFramework;
  controlId: string;
  notes?: string | null | undefined;
}

type MemberRow = Omit<KnownControl, 'id' | 'in_catalog'> & {
  notes: string;
  position: number;
  added_at: string;
};

export type ControlCollectionService = ReturnType<typeof createControlCollectionService>;

/** Collections of controls (rule D8). */
export function createControlCollectionService(db: Database, now: () => Date, newId: () => string) {
  const { sqlite } = db;
  const bundles = createBundleService(db, 'control-collection', now, newId);
  const findControl = createFindControl(db);
  const members = sqlite.prepare<[string], MemberRow>(
    `SELECT k.framework, k.identifier, k.title, k.family, k.statement, e.notes, e.position, e.added_at
       FROM collection_controls AS e JOIN known_controls AS k ON k.id = e.control_id
      WHERE e.collection_id = ? ORDER BY e.position, k.identifier, k.framework`,
  );
  const lastPosition = sqlite
    .prepare<[string], number>(
      'SELECT coalesce(max(position), 0) FROM collection_controls WHERE collection_id = ?',
    )
    .pluck();
  const insert = sqlite.prepare<[string, string, number, string, string]>(
    `INSERT INTO collection_controls (collection_id, control_id, position, notes, added_at)
     VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const removeMember = sqlite.prepare<[string, string]>(
    'DELETE FROM collection_controls WHERE collection_id = ? AND control_id = ?',
  );

  const toCollection = (row: Bundle, controlCount = bundles.count(row.id)): ControlCollection => ({
    id: row.id,
    name: row.name,
    description: row.description,
    tags: row.tags,
    color: row.color,
    visibility: row.visibility,
    controlCount,
    createdById: row.createdById,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    deletedAt: row.deletedAt,
  });

  return {
    all(viewer: Viewer): ControlCollections {
      return db.read(() => {
        const collections = bundles.all(viewer).map((row) => toCollection(row, row.members));
        return { total: collections.length, collections };
      });
    },

    get(viewer: Viewer, id: string): ControlCollectionRecord {
      return db.read(() => {
        const row = bundles.find(viewer, id);
        const visibility = row.visibility === 'SHARED' ? ('shared' as const) : ('private' as const);
        return { ...toCollection(row), visibility, controls: members.all(id).map(toMember) };
      });
    },

    /** A collection of the user's own. Throws 404 for what they may not see, 403 for what is another's. */
    own: (user: User, id: string): ControlCollection => db.read(() => toCollection(bundles.own(user, id))),

    create(user: User, fields: Omit<BundleFields, 'icon'>): Promise<ControlCollection> {
      return db.write(() => toCollection(bundles.create(user, { ...fields, icon: '' })));
    },

    /** Changes what is given, and gives the name that it has then. */
    change(user: User, id: string, change: BundleChange): Promise<{ id: string; name: string }> {
      return db.write(() => {
        const row = bundles.own(user, id);
        const { name } = Object.keys(change).length === 0 ? row : bundles.change(id, change);
        return { id, name };
      });
    },

    /** Deletes softly; the row is kept for good: no purge is documented for collections. */
    remove(user: User, id: string): Promise<void> {
      return db.write(() => bundles.remove(bundles.own(user, id).id));
    },

    /** The entries joined with their controls, of some frameworks or of all; `total` counts those. */
    controls(viewer: Viewer, id: string, frameworks: Set<CatalogFramework> | undefined): CollectionControls {
      return db.read(() => {
        const { name } = bundles.find(viewer, id);
        const controls = members
          .all(id)
          .filter((row) => frameworks === undefined || frameworks.has(row.framework))
          .map((row) => ({ ...toMember(row), ...toJoined(row) }));
        return { collection: { id, name }, total: controls.length, controls };
      });
    },

    exported(viewer: Viewer, id: string): CollectionExport {
      return db.read(() => {
        const { name } = bundles.find(viewer, id);
        const controls = members.all(id).map((row) => ({
          controlId: row.identifier,
          framework: row.framework,
          ...toJoined(row),
          notes: row.notes,
        }));
        return { collection: { id, name }, total: controls.length, controls };
      });
    },

    /** Appends what is not there yet. Whoever sees a collection may: its creator, and the organization once SHARED. */
    add(user: User, id: string, entries: ControlEntry[]): Promise<ControlsAdded> {
      return db.write(() => {
        bundles.find(user, id);
        const addedAt = now().toISOString();
        const missing = new Map<string, { controlId: string; framework: string }>();
        let position = lastPosition.get(id)!;
        let added = 0;
        for (const { framework, controlId, notes } of entries) {
          const control = findControl(framework, controlId);
          if (control?.in_catalog !== 1) missing.set(`${framework} ${controlId}`, { controlId, framework });
          else if (insert.run(id, control.id, position + 1, notes ?? '', addedAt).changes === 1) {
            added++;
            position++;
          }
        }
        if (added > 0) bundles.change(id, {});
        const notFoundPart = missing.size === 0 ? {} : { notFound: [...missing.values()] };
        return { success: true, added, total: bundles.count(id), ...notFoundPart };
      });
    },

    /** Takes controls out; what is not there is no error. Gives how many were. */
    removeControls(user: User, id: string, entries: ControlEntry[]): Promise<number> {
      return db.write(() => {
        bundles.own(user, id);
        let removed = 0;
        for (const { framework, controlId } of entries) {
          const control = findControl(framework, controlId);
          if (control) removed += removeMember.run(id, control.id).changes;
        }
        if (removed > 0) bundles.change(id, {});
        return removed;
      });
    },
  };
}

function toMember(row: MemberRow) {
  const { framework, notes, position } = row;
  return { controlId: row.identifier, framework, notes, position, addedAt: row.added_at };
}

function toJoined({ identifier, title, family, statement }: MemberRow) {
  return { identifier, title, family, statement };
}
