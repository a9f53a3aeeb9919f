import { z } from '@hono/zod-openapi';
import { RegulatoryDocumentSummary } from '../catalog/guidance/document-schema.ts';
import { RoleSummary } from '../catalog/guidance/role-schema.ts';
import { answeredFields, Visibility } from './schema.ts';

const { id, name, description, tags, color } = answeredFields;
const createdAt = z.iso.datetime();
const createdByEmail = z.string().nullable();
const addedAt = z.iso.datetime();

/** Collections that are made on the command line and read here (rule D8.6). */
export const DocumentCollections = z
  .strictObject({
    collections: z.array(
      z
        .strictObject({
          id,
          name,
          description,
          tags,
          color,
          visibility: Visibility,
          documentCount: z.int(),
          createdAt,
          createdByEmail,
        })
        .openapi('DocumentCollection'),
    ),
  })
  .openapi('DocumentCollections');
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

export const RoleCollections = z
  .strictObject({
    collections: z.array(
      z
        .strictObject({
          id,
          name,
          description,
          color,
          visibility: Visibility,
          roleCount: z.int(),
          createdAt,
          createdByEmail,
        })
        .openapi('RoleCollection'),
    ),
  })
  .openapi('RoleCollections');
export type RoleCollections = z.infer<typeof RoleCollections>;

export const RoleCollectionExport = z
  .strictObject({
    collection: z.strictObject({ id, name, description, visibility: Visibility, createdAt }),
    roles: z.array(z.strictObject({ ...RoleSummary.shape, addedAt })),
  })
  .openapi('RoleCollectionExport');
export type RoleCollectionExport = z.infer<typeof RoleCollectionExport>;
