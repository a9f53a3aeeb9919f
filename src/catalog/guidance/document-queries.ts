import { and, asc, count, eq, or, sql } from 'drizzle-orm';
import { notFound } from '../../base/errors.ts';
import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { documents } from '../../db/role-tables.ts';
import { offsetOf, paginationOf } from '../../http/paging.ts';
import type {
  DocumentsQuery,
  RegulatoryDocument,
  RegulatoryDocumentSummary,
  RegulatoryDocuments,
} from './document-schema.ts';

/** As the catalog has a document: without a status when it is active. */
type Stored<T extends RegulatoryDocumentSummary> = Omit<T, 'status'> & Partial<Pick<T, 'status'>>;

function withStatus<T extends RegulatoryDocumentSummary>({ id, documentId, title, ...rest }: Stored<T>): T {
  return { id, documentId, title, status: 'active', ...rest } as T;
}

export type DocumentService = ReturnType<typeof createDocumentService>;

/** Regulatory documents (rule D9). */
export function createDocumentService({ orm, read }: Database) {
  return {
    /** By title (D3.4). */
    list({ search = '', publisher, doctype, status, ...page }: DocumentsQuery): RegulatoryDocuments {
      const { titleFold, publisherFold, publisherIdFold, doctypeFold } = documents;
      const published = publisher === undefined ? undefined : fold(publisher);
      const where = and(
        search === '' ? undefined : sql`instr(${titleFold}, ${fold(search)}) > 0`,
        published === undefined
          ? undefined
          : or(eq(publisherFold, published), eq(publisherIdFold, published)),
        doctype === undefined ? undefined : eq(doctypeFold, fold(doctype)),
        status === undefined
          ? undefined
          : sql`coalesce(${documents.summary} ->> 'status', 'active') = ${status}`,
      );
      return read(() => {
        const { total } = orm.select({ total: count() }).from(documents).where(where).get()!;
        const rows = orm
          .select({ summary: documents.summary })
          .from(documents)
          .where(where)
          .orderBy(asc(titleFold), asc(documents.title), asc(documents.documentId))
          .limit(page.limit)
          .offset(offsetOf(page, total))
          .all();
        return {
          documents: rows.map(({ summary }) => withStatus(summary as Stored<RegulatoryDocumentSummary>)),
          pagination: paginationOf(page, total),
        };
      });
    },

    /** One document with everything that is in it. Throws NOT_FOUND. */
    record(documentId: string): RegulatoryDocument {
      const { record } = documents;
      const row = orm.select({ record }).from(documents).where(eq(documents.documentId, documentId)).get();
      if (!row) throw notFound();
      return withStatus(row.record as Stored<RegulatoryDocument>);
    },
  };
}
