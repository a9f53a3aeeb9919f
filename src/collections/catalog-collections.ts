import { asc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { User } from '../auth/viewer.ts';
import { CommandError } from '../base/errors.ts';
import type { RegulatoryDocumentSummary } from '../catalog/guidance/document-schema.ts';
import { countStigMappings } from '../catalog/guidance/role-queries.ts';
import type { RoleFacts } from '../catalog/guidance/role-schema.ts';
import type { Database } from '../db/database.ts';
import { documents, occupations } from '../db/role-tables.ts';
import { collectionDocuments, collectionRoles, collections } from '../db/user-tables.ts';
import type {
  DocumentCollectionExport,
  DocumentCollections,
  RoleCollectionExport,
  RoleCollections,
} from './catalog-collections-schema.ts';
import { type CollectionFields, type CollectionService, createCollectionService } from './collections.ts';
import { countEntries } from './entries.ts';
import { createReferences, type Reference } from './references.ts';

const { id, name, description, tags, color, visibility, createdAt, createdByEmail } =
  getTableColumns(collections);

/** Makes a collection of items that are all known. Throws `CommandError` naming the first that is not. */
function createMaker(
  db: Database,
  kept: Pick<CollectionService, 'create' | 'add'>,
  thing: string,
  find: (item: string) => Reference,
) {
  return async (user: User, fields: Omit<CollectionFields, 'icon'>, items: string[]): Promise<string> => {
    const made = await db.write(() => {
      const entries = items.map((item) => {
        const entry = find(item);
        if (entry.seen === null) throw new CommandError(`the catalog has no ${thing} "${item.slice(0, 64)}"`);
        return entry;
      });
      const { id } = kept.create(user, fields);
      kept.add(id, entries, []);
      // The audit event takes the id from here.
      return { id };
    });
    return made.id;
  };
}

export type DocumentCollectionService = ReturnType<typeof createDocumentCollectionService>;

/** Collections of regulatory documents (rule D9): made on the command line (D8.6). */
export function createDocumentCollectionService(db: Database, now: () => Date, newId: () => string) {
  const { orm } = db;
  const documentCount = countEntries('regdoc-collection');
  const shown = {
    ...{ id, name, description, tags, color, visibility, documentCount, createdAt, createdByEmail },
  };
  const kept = createCollectionService(db, 'regdoc-collection', shown, now, newId);
  // A document that is gone from the catalog is shown as it was seen.
  const entries = orm
    .select({
      now: documents.summary,
      seen: collectionDocuments.summary,
      addedAt: collectionDocuments.addedAt,
    })
    .from(collectionDocuments)
    .leftJoin(documents, eq(documents.documentId, collectionDocuments.documentId))
    .where(eq(collectionDocuments.collectionId, sql.placeholder('id')))
    .orderBy(asc(collectionDocuments.position), asc(collectionDocuments.documentId))
    .prepare();
  return {
    create: createMaker(db, kept, 'document', createReferences(db).document),

    all: (user: User): DocumentCollections => db.read(() => ({ collections: kept.all(user) })),

    /** Throws the one 404 for what the user may not see. */
    exported(user: User, id: string): DocumentCollectionExport {
      return db.read(() => {
        const { name } = kept.find(user, id);
        const documents = entries.all({ id }).map(({ now, seen, addedAt }) => {
          const { documentId, title, publisher, doctype, published, cyberScore, jurisdiction } = (now ??
            seen) as RegulatoryDocumentSummary;
          return { documentId, title, publisher, doctype, published, cyberScore, jurisdiction, addedAt };
        });
        return { collection: { id, name }, documents };
      });
    },
  };
}

export type RoleCollectionService = ReturnType<typeof createRoleCollectionService>;

/** Collections of occupational roles (rule D9): made on the command line (D8.6). */
export function createRoleCollectionService(db: Database, now: () => Date, newId: () => string) {
  const { orm } = db;
  const roleCount = countEntries('role-collection');
  const shown = { id, name, description, color, visibility, roleCount, createdAt, createdByEmail };
  const kept = createCollectionService(db, 'role-collection', shown, now, newId);
  const stigMappingCount = countStigMappings(collectionRoles);
  // An occupation that a newer release no longer has is shown as it was seen, without mappings.
  const entries = orm
    .select({
      ...{ now: occupations.summary, seen: collectionRoles.summary },
      ...{ stigMappingCount, addedAt: collectionRoles.addedAt },
    })
    .from(collectionRoles)
    .leftJoin(occupations, eq(occupations.occupationCode, collectionRoles.occupationCode))
    .where(eq(collectionRoles.collectionId, sql.placeholder('id')))
    .orderBy(asc(collectionRoles.position), asc(collectionRoles.occupationCode))
    .prepare();
  return {
    create: createMaker(db, kept, 'occupation', createReferences(db).occupation),

    all: (user: User): RoleCollections => db.read(() => ({ collections: kept.all(user) })),

    /** Throws the one 404 for what the user may not see. */
    exported(user: User, id: string): RoleCollectionExport {
      return db.read(() => {
        const { name, description, visibility, createdAt } = kept.find(user, id);
        const roles = entries
          .all({ id })
          .map(({ now, seen, ...counted }) => ({ ...((now ?? seen) as RoleFacts), ...counted }));
        return { collection: { id, name, description, visibility, createdAt }, roles };
      });
    },
  };
}
