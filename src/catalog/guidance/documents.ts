import { notFound } from '../../base/errors.ts';
import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { offsetOf, type Page, paginationOf } from '../../http/paging.ts';
import type {
  RegulatoryDocument,
  RegulatoryDocumentSummary,
  RegulatoryDocuments,
} from './document-schema.ts';

/** The filters of the list of documents. */
export interface DocumentFilter extends Page {
  search?: string | undefined;
  publisher?: string | undefined;
  doctype?: string | undefined;
}

export type RegdocService = ReturnType<typeof createRegdocService>;

/** Regulatory documents (rule D9). */
export function createRegdocService(db: Database) {
  const { sqlite } = db;
  const where = `(:search = '' OR instr(d.title_fold, :search) > 0)
    AND (:publisher IS NULL OR d.publisher_fold = :publisher OR d.publisher_id_fold = :publisher)
    AND (:doctype IS NULL OR d.doctype_fold = :doctype)`;
  const count = sqlite
    .prepare<[object], number>(`SELECT count(*) FROM documents AS d WHERE ${where}`)
    .pluck();
  const page = sqlite
    .prepare<[object], string>(
      `SELECT k.summary_json FROM documents AS d JOIN document_keys AS k USING (document_id) WHERE ${where}
        ORDER BY d.title_fold, d.title, d.document_id LIMIT :limit OFFSET :offset`,
    )
    .pluck();
  const record = sqlite
    .prepare<[string], string>('SELECT record_json FROM documents WHERE document_id = ?')
    .pluck();

  return {
    /** By title (D3.4). */
    list(filter: DocumentFilter): RegulatoryDocuments {
      const { search, publisher, doctype } = filter;
      const wanted = {
        search: fold(search ?? ''),
        publisher: publisher === undefined ? null : fold(publisher),
        doctype: doctype === undefined ? null : fold(doctype),
      };
      return db.read(() => {
        const total = count.get(wanted)!;
        const rows = page.all({ ...wanted, limit: filter.limit, offset: offsetOf(filter, total) });
        return {
          documents: rows.map((row) => JSON.parse(row) as RegulatoryDocumentSummary),
          pagination: paginationOf(filter, total),
        };
      });
    },

    /** One document with everything that is in it. Throws NOT_FOUND. */
    record(documentId: string): RegulatoryDocument {
      const text = record.get(documentId);
      if (text === undefined) throw notFound();
      return JSON.parse(text) as RegulatoryDocument;
    },
  };
}
