import { getTableColumns } from 'drizzle-orm';
import type { User } from '../auth/viewer.ts';
import { CommandError } from '../base/errors.ts';
import type { RegulatoryDocumentSummary } from '../catalog/guidance/document-schema.ts';
import type { RoleFacts } from '../catalog/guidance/role-schema.ts';
import type { Database } from '../db/database.ts';
import { type CollectionKind, collections } from '../db/user-tables.ts';
import type { DocumentCollectionExport, RoleCollectionExport } from './catalog-collections-schema.ts';
import { type CollectionFields, createCollectionWriter } from './collection-writer.ts';
import { type Collection, createCollectionReader, type ShownColumns } from './collections.ts';
import { countEntries } from './entries.ts';
import type { Reference } from './references.ts';

const { id, name, description, tags, color, visibility, createdAt, createdByEmail } =
  getTableColumns(collections);

/** What documents and roles do not share. */
interface CatalogCollections<Shown, Exported> {
  kind: CollectionKind;
  thing: string;
  /** Where the catalog has the things: the table, its column of their id, and the name of that as a field. */
  catalog: { table: string; column: string; field: string };
  shown: Shown;
  exported(collection: Collection): Exported;
}

/** Collections that are created on the command line (D8.6), and read by the API and the pages. */
function createCatalogCollections<Shown extends ShownColumns, Exported>(
  db: Database,
  { kind, thing, catalog: { table, column, field }, shown, exported }: CatalogCollections<Shown, Exported>,
  now: () => Date,
  newId: () => string,
) {
  const reader = createCollectionReader(db, kind, shown);
  const writer = createCollectionWriter(db, kind, now);
  const summaryOf = db.sqlite
    .prepare<[string], string>(`SELECT summary_json FROM ${table} WHERE ${column} = ?`)
    .pluck();

  /** What a collection stores of an item. Throws `CommandError` for one that the catalog does not have. */
  function entryOf(item: string): Reference {
    const summaryJson = summaryOf.get(item);
    if (summaryJson === undefined)
      throw new CommandError(`the catalog has no ${thing} "${item.slice(0, 64)}"`);
    return { key: item, seen: { [field]: item, summaryJson } };
  }

  return {
    /** Creates a collection and returns its id. Throws `CommandError` for an item that the catalog does not have. */
    async create(user: User, fields: Omit<CollectionFields, 'icon'>, items: string[]): Promise<string> {
      const created = await db.write(() => {
        const entries = items.map(entryOf);
        const { id } = writer.create(newId(), user, fields);
        writer.add(id, entries, []);
        // The audit event takes the id from here.
        return { id };
      });
      return created.id;
    },

    all: (user: User) => db.read(() => ({ collections: reader.all(user) })),

    /** Throws the one 404 for what the user may not see. */
    exported: (user: User, id: string): Exported => db.read(() => exported(reader.find(user, id))),
  };
}

export type DocumentCollectionService = ReturnType<typeof createDocumentCollectionService>;

/** Collections of regulatory documents (rule D9). */
export function createDocumentCollectionService(db: Database, now: () => Date, newId: () => string) {
  const kind = 'regdoc-collection';
  const documentCount = countEntries(kind);
  // A document that is gone from the catalog is shown as it was stored.
  const entries = db.sqlite.prepare<[string], { summary: string; addedAt: string }>(
    `SELECT coalesce(document.summary_json, entry.summary_json) AS summary, entry.added_at AS addedAt
       FROM collection_documents AS entry LEFT JOIN documents AS document USING (document_id)
      WHERE entry.collection_id = ?
      ORDER BY entry.position, entry.document_id`,
  );
  const shown = {
    id,
    name,
    description,
    tags,
    color,
    visibility,
    documentCount,
    createdAt,
    createdByEmail,
  };
  function exported({ id, name }: Collection): DocumentCollectionExport {
    const documents = entries.all(id).map(({ summary, addedAt }) => {
      const { documentId, title, publisher, doctype, published, cyberScore, jurisdiction } = JSON.parse(
        summary,
      ) as RegulatoryDocumentSummary;
      return { documentId, title, publisher, doctype, published, cyberScore, jurisdiction, addedAt };
    });
    return { collection: { id, name }, documents };
  }
  const catalog = { table: 'documents', column: 'document_id', field: 'documentId' };
  return createCatalogCollections(db, { kind, thing: 'document', catalog, shown, exported }, now, newId);
}

export type RoleCollectionService = ReturnType<typeof createRoleCollectionService>;

/** Collections of occupational roles (rule D9). */
export function createRoleCollectionService(db: Database, now: () => Date, newId: () => string) {
  const kind = 'role-collection';
  const roleCount = countEntries(kind);
  // An occupation that a newer release no longer has is shown as it was stored, without mappings.
  const entries = db.sqlite.prepare<[string], { summary: string; stigMappingCount: number; addedAt: string }>(
    `SELECT coalesce(occupation.summary_json, entry.summary_json) AS summary, entry.added_at AS addedAt,
            (SELECT count(*) FROM role_mappings AS mapping
              WHERE mapping.occupation_code = entry.occupation_code) AS stigMappingCount
       FROM collection_roles AS entry LEFT JOIN occupations AS occupation USING (occupation_code)
      WHERE entry.collection_id = ?
      ORDER BY entry.position, entry.occupation_code`,
  );
  const shown = { id, name, description, color, visibility, roleCount, createdAt, createdByEmail };
  function exported({ id, name, description, visibility, createdAt }: Collection): RoleCollectionExport {
    const roles = entries.all(id).map(({ summary, stigMappingCount, addedAt }) => {
      return { ...(JSON.parse(summary) as RoleFacts), stigMappingCount, addedAt };
    });
    return { collection: { id, name, description, visibility, createdAt }, roles };
  }
  const catalog = { table: 'occupations', column: 'occupation_code', field: 'occupationCode' };
  return createCatalogCollections(db, { kind, thing: 'occupation', catalog, shown, exported }, now, newId);
}
