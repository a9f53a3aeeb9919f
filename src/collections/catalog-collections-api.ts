import type { z } from '@hono/zod-openapi';
import type { Entitlement, User } from '../auth/viewer.ts';
import type { Access } from '../http/access.ts';
import { columnsOf } from '../http/columns.ts';
import { downloadFile, type FlatFile, fileContent, fileQuery } from '../http/downloads.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import type { DocumentCollectionService, RoleCollectionService } from './catalog-collections.ts';
import * as schemas from './catalog-collections-schema.ts';
import { idParam } from './schema.ts';

/** What collections of documents and of roles do not share. */
interface CollectionApi<All extends z.ZodType, Exported extends z.ZodType, Row> {
  tag: string;
  product: Entitlement;
  name: 'regdoc-collection' | 'role-collection';
  id: string;
  things: string;
  answers: { all: All; exported: Exported };
  service: {
    all(user: User): z.input<All>;
    exported(user: User, id: string): z.output<Exported> & { collection: { name: string } };
  };
  flat(json: z.output<Exported>): Omit<FlatFile<Row>, 'json'>;
}

/** Collections that are created on the command line, and only read here (rules D8.6, D9). */
function catalogCollectionRoutes<All extends z.ZodType, Exported extends z.ZodType, Row>(
  access: Access,
  { tag, product, name, id, things, answers, service, flat }: CollectionApi<All, Exported, Row>,
) {
  const { app, route } = createRoutes(tag);
  const exported = access.with({ expensive: true }).audited(`${name}.export`).entitled(product);

  route(`GET /api/v1/${name}s`, access.entitled(product), {
    operationId: `list${id}Collections`,
    summary: `List the collections of ${things} that the caller may see, newest first`,
    response: jsonContent(answers.all, 'The collections.'),
    handle: ({ user }) => service.all(user),
  });

  route(`GET /api/v1/${name}s/{id}/export`, exported, {
    operationId: `export${id}Collection`,
    summary: `Export a collection with its ${things} as json, csv, xml or xlsx`,
    params: idParam,
    query: fileQuery,
    response: fileContent(answers.exported),
    handle: ({ user, params, query }, c) => {
      const json = service.exported(user, params.id);
      return downloadFile(c, query, json.collection.name, { json, ...flat(json) });
    },
  });

  return app;
}

/** Collections of regulatory documents. */
export function documentCollectionRoutes(access: Access, service: DocumentCollectionService) {
  const { DocumentCollections: all, DocumentCollectionExport: exported } = schemas;
  const columns = columnsOf(exported.shape.documents.element);
  return catalogCollectionRoutes(access, {
    tag: 'Regulatory documents',
    product: 'regdoc',
    name: 'regdoc-collection',
    id: 'RegulatoryDocument',
    things: 'documents',
    answers: { all, exported },
    service,
    flat: ({ documents: rows }) => ({ root: 'regdocCollection', element: 'document', columns, rows }),
  });
}

/** Collections of occupational roles. */
export function roleCollectionRoutes(access: Access, service: RoleCollectionService) {
  const { RoleCollections: all, RoleCollectionExport: exported } = schemas;
  const columns = columnsOf(exported.shape.roles.element);
  return catalogCollectionRoutes(access, {
    tag: 'Occupational roles',
    product: 'occ',
    name: 'role-collection',
    id: 'Role',
    things: 'occupations',
    answers: { all, exported },
    service,
    flat: ({ roles: rows }) => ({ root: 'roleCollection', element: 'role', columns, rows }),
  });
}
