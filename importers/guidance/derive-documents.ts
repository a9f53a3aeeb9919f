import { stableId } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import { RegulatoryDocument, RegulatoryDocumentSummary } from '../../src/catalog/guidance/document-schema.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import { documents } from '../../src/db/role-tables.ts';
import { type DocumentRecord, inOrder } from './document-record.ts';
import { type Statement, winningStatements } from './statements.ts';

/** Rebuilds the served documents: of each the one from the last import. */
export function deriveDocuments(db: Database, fresh: Set<number>, superseded: Map<number, string>): void {
  const { sqlite } = db;
  const winners = winningStatements(db, statedDocuments(db), fresh, superseded);
  sqlite.exec('DELETE FROM documents');
  const insert = prepareInsert(db, documents);
  for (const { record } of winners) {
    const document = serve(JSON.parse(record) as DocumentRecord);
    const { documentId, title } = document;
    insert.run({
      documentId,
      title,
      titleFold: fold(title),
      publisherFold: fold(document.publisher),
      publisherIdFold: fold(document.publisherId),
      doctypeFold: fold(document.doctype),
      summary: inOrder(RegulatoryDocumentSummary.shape, document),
      record: document,
    });
  }
}

/** All documents as their sources state them. */
export function statedDocuments({ sqlite }: Pick<Database, 'sqlite'>): (Statement & { record: string })[] {
  return sqlite
    .prepare<[], Statement & { record: string }>(
      `SELECT f.source_id AS sourceId, f.document_id AS key, s.imported_at AS importedAt, s.sha256,
              coalesce(f.record ->> 'published', '') AS releaseOrder, f.record
         FROM document_facts AS f JOIN sources AS s ON s.id = f.source_id`,
    )
    .all();
}

function serve(record: DocumentRecord): RegulatoryDocument {
  const { documentId, signposts, actionableItems } = record;
  const id = stableId('regdoc', documentId);
  const counts = { signpostCount: signposts.length, actionableItemCount: actionableItems.length };
  return inOrder(RegulatoryDocument.shape, { id, ...counts, ...record });
}
