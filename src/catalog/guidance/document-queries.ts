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

export type DocumentService = ReturnType<typeof createDocumentService>;

/** Regulatory documents (rule D9). */
export function createDocumentService({ orm, read }: Database) {
  return {
    /** By title (D3.4). */
    list({ search = '', publisher, doctype, ...page }: DocumentsQuery): RegulatoryDocuments {
      const { titleFold, publisherFold, publisherIdFold, doctypeFold } = documents;
      const published = publisher === undefined ? undefined : fold(publisher);
      const where = and(
        search === '' ? undefined : sql`instr(${titleFold}, ${fold(search)}) > 0`,
        published === undefined
          ? undefined
          : or(eq(publisherFold, published), eq(publisherIdFold, published)),
        doctype === undefined ? undefined : eq(doctypeFold, fold(doctype)),
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
          documents: rows.map(({ summary }) => summary as RegulatoryDocumentSummary),
          pagination: paginationOf(page, total),
        };
      });
    },

    /** One document with everything that is in it. Throws NOT_FOUND. */
    record(documentId: string): RegulatoryDocument {
      const { record } = documents;
      const row = orm.select({ record }).from(documents).where(eq(documents.documentId, documentId)).get();
      if (!row) throw notFound();
      return row.record as RegulatoryDocument;
    },
  };
}
