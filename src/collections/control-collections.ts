import { asc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { User, Viewer } from '../auth/viewer.ts';
import type { CatalogFramework } from '../catalog/controls/frameworks.ts';
import type { Database } from '../db/database.ts';
import { collectionControls, collections } from '../db/user-tables.ts';
import type { Match } from '../http/if-match.ts';
import { type CollectionChange, createCollectionService } from './collection-writer.ts';
import type {
  CollectionControls,
  CollectionExport,
  ControlCollection,
  ControlCollectionRecord,
} from './control-collections-schema.ts';
import { countEntries } from './entries.ts';
import { createReferences } from './references.ts';
import type { ControlsAdded } from './schema.ts';

/** A control as a body names it. */
interface ControlEntry {
  framework: CatalogFramework;
  controlId: string;
  notes?: string | null | undefined;
}

const { id, name, description, tags, color, visibility, ...others } = getTableColumns(collections);
const { createdById, createdAt, updatedAt, deletedAt } = others;
const controlCount = countEntries('control-collection');
const shown = {
  id,
  name,
  description,
  tags,
  color,
  visibility,
  controlCount,
  createdById,
  createdAt,
  updatedAt,
  deletedAt,
};

export type ControlCollectionService = ReturnType<typeof createControlCollectionService>;

/** Collections of controls (rule D8). */
export function createControlCollectionService(db: Database, now: () => Date, newId: () => string) {
  const { reader, writer, service } = createCollectionService(db, 'control-collection', shown, now, newId);
  const references = createReferences(db);
  const entriesOf = createEntryReader(db, references);

  return {
    ...service,

    all: (viewer: Viewer): ControlCollection[] => reader.all(viewer),

    get(viewer: Viewer, id: string): ControlCollectionRecord {
      return db.read(() => {
        const row = reader.shown(viewer, reader.find(viewer, id).id);
        const visibility = row.visibility === 'SHARED' ? ('shared' as const) : ('private' as const);
        return { ...row, visibility, controls: entriesOf(id).map(({ member }) => member) };
      });
    },

    /** Sets the given fields of one of the user's own, and gives its name after that. */
    change(user: User, id: string, change: CollectionChange, match: Match = null) {
      return db.write(() => {
        const row = writer.own(user, id, match);
        const { name } = Object.keys(change).length === 0 ? row : writer.change(id, change);
        return { id, name };
      });
    },

    /** The entries joined with their controls, of some frameworks or of all; `total` counts those. */
    controls(viewer: Viewer, id: string, frameworks: Set<CatalogFramework> | undefined): CollectionControls {
      return db.read(() => {
        const { name } = reader.find(viewer, id);
        const controls = entriesOf(id)
          .filter(({ member }) => frameworks === undefined || frameworks.has(member.framework))
          .map(({ member, joined }) => ({ ...member, ...joined }));
        return { collection: { id, name }, total: controls.length, controls };
      });
    },

    knownControls: references.knownControls,

    exported(viewer: Viewer, id: string): CollectionExport {
      return db.read(() => {
        const { name } = reader.find(viewer, id);
        const controls = entriesOf(id).map(({ member: { controlId, framework, notes }, joined }) => {
          return { controlId, framework, ...joined, notes };
        });
        return { collection: { id, name }, total: controls.length, controls };
      });
    },

    /** Appends new entries. Everyone who sees a collection may: its creator, and the organization once it is SHARED. */
    add(user: User, id: string, controls: ControlEntry[], match: Match = null): Promise<ControlsAdded> {
      return db.write(() => {
        writer.find(user, id, match);
        const missing = new Map<string, { controlId: string; framework: string }>();
        const found = references.controls(controls);
        for (const { seen, framework, controlId } of found)
          if (seen === null) missing.set(`${framework} ${controlId}`, { controlId, framework });
        return writer.add(id, found, [...missing.values()]);
      });
    },

    /** Removes controls; a control that is not there is no error. */
    removeControls(user: User, id: string, controls: ControlEntry[], match: Match = null): Promise<number> {
      return db.write(() => {
        writer.own(user, id, match);
        return writer.removeEntries(id, references.controls(controls));
      });
    },
  };
}

/** Reads the entries of a collection, each with what is shown of its control. */
function createEntryReader(
  { orm }: Database,
  { shownControls }: Pick<ReturnType<typeof createReferences>, 'shownControls'>,
) {
  const { position, identifier, framework } = collectionControls;
  const rows = orm
    .select()
    .from(collectionControls)
    .where(eq(collectionControls.collectionId, sql.placeholder('id')))
    .orderBy(asc(position), asc(identifier), asc(framework))
    .prepare();
  return (id: string) => {
    const found = rows.all({ id });
    const shown = shownControls(found);
    return found.map(({ identifier: controlId, framework, notes, position, addedAt }, at) => {
      return { member: { controlId, framework, notes, position, addedAt }, joined: shown[at]! };
    });
  };
}
