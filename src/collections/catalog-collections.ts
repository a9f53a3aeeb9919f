import type { User } from '../auth/viewer.ts';
import { CommandError } from '../base/errors.ts';
import type { RegulatoryDocumentSummary } from '../catalog/guidance/document-schema.ts';
import { toSummary } from '../catalog/guidance/roles.ts';
import type { Database } from '../db/database.ts';
import { type BundleFields, createBundleService } from './bundles.ts';
import type {
  DocumentCollectionExport,
  DocumentCollections,
  RoleCollectionExport,
  RoleCollections,
} from './catalog-collections-schema.ts';

/** Where the members of a kind of collection are kept, and what they are called. */
interface Members {
  kind: 'regdoc-collection' | 'role-collection';
  table: 'collection_documents' | 'collection_roles';
  keys: 'document_keys' | 'occupation_keys';
  column: 'document_id' | 'occupation_code';
}

const documents: Members = {
  kind: 'regdoc-collection',
  table: 'collection_documents',
  keys: 'document_keys',
  column: 'document_id',
};

const roles: Members = {
  kind: 'role-collection',
  table: 'collection_roles',
  keys: 'occupation_keys',
  column: 'occupation_code',
};

/** What both kinds have in common: they are made on the command line and only read here (D8.6). */
function createMembers(db: Database, members: Members, now: () => Date, newId: () => string) {
  const { sqlite } = db;
  const { kind, table, keys, column } = members;
  const bundles = createBundleService(db, kind, now, newId);
  const isKnown = sqlite.prepare<[string], number>(`SELECT 1 FROM ${keys} WHERE ${column} = ?`).pluck();
  const insert = sqlite.prepare<[string, string, number, string]>(
    `INSERT INTO ${table} (collection_id, ${column}, position, added_at) VALUES (?, ?, ?, ?)`,
  );
  return {
    bundles,

    /** Makes a collection of known items. Throws `CommandError` naming the first that is not known. */
    async create(user: User, fields: Omit<BundleFields, 'icon'>, items: string[]): Promise<string> {
      const made = await db.write(() => {
        const unknown = items.find((item) => isKnown.get(item) === undefined);
        if (unknown !== undefined)
          throw new CommandError(`${nameOf(kind)} "${unknown.slice(0, 64)}" is not in the catalog`);
        const { id, createdAt } = bundles.create(user, { ...fields, icon: '' });
        for (const [index, item] of [...new Set(items)].entries()) insert.run(id, item, index + 1, createdAt);
        return { id };
      });
      return made.id;
    },
  };
}

function nameOf(kind: Members['kind']): string {
  return kind === 'regdoc-collection' ? 'document' : 'occupation';
}

export type DocumentCollectionService = ReturnType<typeof createDocumentCollectionService>;

/** Collections of regulatory documents (specification, "Regulatory documents"). */
export function createDocumentCollectionService(db: Database, now: () => Date, newId: () => string) {
  const { bundles, create } = createMembers(db, documents, now, newId);
  // A document that is gone from the catalog is shown as it was last known.
  const entries = db.sqlite.prepare<[string], { summary_json: string; added_at: string }>(
    `SELECT k.summary_json, e.added_at FROM collection_documents AS e JOIN document_keys AS k USING (document_id)
      WHERE e.collection_id = ? ORDER BY e.position, k.document_id`,
  );
  return {
    create,

    all(user: User): DocumentCollections {
      return db.read(() => ({
        collections: bundles.all(user).map((row) => ({
          id: row.id,
          name: row.name,
          description: row.description,
          tags: row.tags,
          color: row.color,
          visibility: row.visibility,
          documentCount: row.members,
          createdAt: row.createdAt,
          createdByEmail: row.createdByEmail,
        })),
      }));
    },

    /** Throws the one 404 for what the user may not see. */
    exported(user: User, id: string): DocumentCollectionExport {
      return db.read(() => {
        const { name } = bundles.find(user, id);
        const rows = entries.all(id).map(({ summary_json, added_at: addedAt }) => {
          const summary = JSON.parse(summary_json) as RegulatoryDocumentSummary;
          const { documentId, title, publisher, doctype, published, cyberScore, jurisdiction } = summary;
          return { documentId, title, publisher, doctype, published, cyberScore, jurisdiction, addedAt };
        });
        return { collection: { id, name }, documents: rows };
      });
    },
  };
}

export type RoleCollectionService = ReturnType<typeof createRoleCollectionService>;

/** Collections of occupational roles (specification, "Occupational roles"). */
export function createRoleCollectionService(db: Database, now: () => Date, newId: () => string) {
  const { bundles, create } = createMembers(db, roles, now, newId);
  // An occupation that a newer release no longer has is shown as it was last known, without mappings.
  const entries = db.sqlite.prepare<
    [string],
    { summary_json: string; stig_mapping_count: number; added_at: string }
  >(
    `SELECT k.summary_json, e.added_at, (SELECT count(*) FROM role_mappings AS m
              WHERE m.occupation_code = k.occupation_code) AS stig_mapping_count
       FROM collection_roles AS e JOIN occupation_keys AS k USING (occupation_code)
      WHERE e.collection_id = ? ORDER BY e.position, k.occupation_code`,
  );
  return {
    create,

    all(user: User): RoleCollections {
      return db.read(() => ({
        collections: bundles.all(user).map((row) => ({
          id: row.id,
          name: row.name,
          description: row.description,
          color: row.color,
          visibility: row.visibility,
          roleCount: row.members,
          createdAt: row.createdAt,
          createdByEmail: row.createdByEmail,
        })),
      }));
    },

    /** Throws the one 404 for what the user may not see. */
    exported(user: User, id: string): RoleCollectionExport {
      return db.read(() => {
        const { name, description, visibility, createdAt } = bundles.find(user, id);
        const rows = entries.all(id).map((row) => ({ ...toSummary(row), addedAt: row.added_at }));
        return { collection: { id, name, description, visibility, createdAt }, roles: rows };
      });
    },
  };
}
