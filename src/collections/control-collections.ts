import { asc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { User, Viewer } from '../auth/viewer.ts';
import type { CatalogFramework } from '../catalog/controls/frameworks.ts';
import type { Database } from '../db/database.ts';
import { collectionControls, collections } from '../db/user-tables.ts';
import { type CollectionChange, type CollectionFields, createCollectionService } from './collections.ts';
import type {
  CollectionControls,
  CollectionExport,
  ControlCollection,
  ControlCollectionRecord,
  ControlCollections,
} from './control-collections-schema.ts';
import { countEntries } from './entries.ts';
import { createReferences } from './references.ts';
import type { ControlsAdded } from './schema.ts';

/** A control as a body names it. */
export interface ControlEntry {
  framework: CatalogFramework;
  controlId: string;
  notes?: string | null | undefined;
}

const { id, name, description, tags, color, visibility, ...others } = getTableColumns(collections);
const { createdById, createdAt, updatedAt, deletedAt } = others;
const controlCount = countEntries('control-collection');
const shown = {
  ...{ id, name, description, tags, color, visibility, controlCount },
  ...{ createdById, createdAt, updatedAt, deletedAt },
};

export type ControlCollectionService = ReturnType<typeof createControlCollectionService>;

/** Collections of controls (rule D8). */
export function createControlCollectionService(db: Database, now: () => Date, newId: () => string) {
  const kept = createCollectionService(db, 'control-collection', shown, now, newId);
  const references = createReferences(db);
  const { position, identifier, framework } = collectionControls;
  const rows = db.orm
    .select()
    .from(collectionControls)
    .where(eq(collectionControls.collectionId, sql.placeholder('id')))
    .orderBy(asc(position), asc(identifier), asc(framework))
    .prepare();
  function entries(id: string) {
    const found = rows.all({ id });
    const shown = references.shownControls(found);
    return found.map(({ identifier: controlId, framework, notes, position, addedAt }, at) => {
      return { member: { controlId, framework, notes, position, addedAt }, joined: shown[at]! };
    });
  }

  return {
    all(viewer: Viewer): ControlCollections {
      const rows = db.read(() => kept.all(viewer));
      return { total: rows.length, collections: rows };
    },

    /** A page of the collections that the viewer sees. */
    page: (viewer: Viewer, wanted: Parameters<typeof kept.page>[1]) =>
      db.read(() => kept.page(viewer, wanted)),

    choices: (viewer: Viewer) => db.read(() => kept.choices(viewer)),

    get(viewer: Viewer, id: string): ControlCollectionRecord {
      return db.read(() => {
        const row = kept.shown(kept.find(viewer, id).id);
        const visibility = row.visibility === 'SHARED' ? ('shared' as const) : ('private' as const);
        return { ...row, visibility, controls: entries(id).map(({ member }) => member) };
      });
    },

    /** A collection of the user's own. Throws 404 for what they may not see, 403 for what is another's. */
    own: (user: User, id: string): ControlCollection => db.read(() => kept.shown(kept.own(user, id).id)),

    create: (user: User, fields: Omit<CollectionFields, 'icon'>): Promise<ControlCollection> =>
      db.write(() => kept.shown(kept.create(user, fields).id)),

    /** Changes what is given, and gives the name that it has then. */
    change(user: User, id: string, change: CollectionChange): Promise<{ id: string; name: string }> {
      return db.write(() => {
        const row = kept.own(user, id);
        const { name } = Object.keys(change).length === 0 ? row : kept.change(id, change);
        return { id, name };
      });
    },

    /** Deletes softly; the row is kept for good: no purge is documented for collections. */
    remove(user: User, id: string): Promise<void> {
      return db.write(() => kept.remove(kept.own(user, id).id));
    },

    /** The entries joined with their controls, of some frameworks or of all; `total` counts those. */
    controls(viewer: Viewer, id: string, frameworks: Set<CatalogFramework> | undefined): CollectionControls {
      return db.read(() => {
        const { name } = kept.find(viewer, id);
        const controls = entries(id)
          .filter(({ member }) => frameworks === undefined || frameworks.has(member.framework))
          .map(({ member, joined }) => ({ ...member, ...joined }));
        return { collection: { id, name }, total: controls.length, controls };
      });
    },

    knownControls: references.knownControls,

    exported(viewer: Viewer, id: string): CollectionExport {
      return db.read(() => {
        const { name } = kept.find(viewer, id);
        const controls = entries(id).map(({ member: { controlId, framework, notes }, joined }) => ({
          controlId,
          framework,
          ...joined,
          notes,
        }));
        return { collection: { id, name }, total: controls.length, controls };
      });
    },

    /** Appends what is not there yet. Whoever sees a collection may: its creator, and the organization once SHARED. */
    add(user: User, id: string, wanted: ControlEntry[]): Promise<ControlsAdded> {
      return db.write(() => {
        kept.find(user, id);
        const missing = new Map<string, { controlId: string; framework: string }>();
        const found = references.controls(wanted);
        for (const { seen, framework, controlId } of found)
          if (seen === null) missing.set(`${framework} ${controlId}`, { controlId, framework });
        return kept.add(id, found, [...missing.values()]);
      });
    },

    /** Takes controls out; what is not there is no error. Gives how many were. */
    removeControls(user: User, id: string, unwanted: ControlEntry[]): Promise<number> {
      return db.write(() => {
        kept.own(user, id);
        return kept.take(id, references.controls(unwanted));
      });
    },
  };
}
