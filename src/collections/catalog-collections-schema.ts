import { z } from '@hono/zod-openapi';
import { RegulatoryDocumentSummary } from '../catalog/guidance/document-schema.ts';
import { RoleSummary } from '../catalog/guidance/role-schema.ts';
import { answeredFields, Visibility } from './schema.ts';

const { id, name, description, tags, color } = answeredFields;
const visibility = Visibility;
const createdAt = z.iso.datetime();
const createdByEmail = z.string().nullable();
const addedAt = createdAt;

/** Collections that are created on the command line (rule D8.6). */
function collectionsOf<Shape extends z.ZodRawShape>(named: string, shape: Shape) {
  const one = z.strictObject(shape).openapi(`${named}Collection`);
  return z.strictObject({ collections: z.array(one) }).openapi(`${named}Collections`);
}

export const DocumentCollections = collectionsOf('Document', {
  id,
  name,
  description,
  tags,
  color,
  visibility,
  documentCount: z.int(),
  createdAt,
  createdByEmail,
});
export type DocumentCollections = z.infer<typeof DocumentCollections>;

const { documentId, title, publisher, doctype, published, cyberScore, jurisdiction } =
  RegulatoryDocumentSummary.shape;

export const DocumentCollectionExport = z
  .strictObject({
    collection: z.strictObject({ id, name }),
    documents: z.array(
      z.strictObject({
        documentId,
        title,
        publisher,
        doctype,
        published,
        cyberScore,
        jurisdiction,
        addedAt,
      }),
    ),
  })
  .openapi('DocumentCollectionExport');
export type DocumentCollectionExport = z.infer<typeof DocumentCollectionExport>;

export const RoleCollections = collectionsOf('Role', {
  id,
  name,
  description,
  color,
  visibility,
  roleCount: z.int(),
  createdAt,
  createdByEmail,
});
export type RoleCollections = z.infer<typeof RoleCollections>;

export const RoleCollectionExport = z
  .strictObject({
    collection: z.strictObject({ id, name, description, visibility, createdAt }),
    roles: z.array(z.strictObject({ ...RoleSummary.shape, addedAt })),
  })
  .openapi('RoleCollectionExport');
export type RoleCollectionExport = z.infer<typeof RoleCollectionExport>;
