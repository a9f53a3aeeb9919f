import { stableId } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import {
  type RegulatoryDocument,
  RegulatoryDocumentSummary,
} from '../../src/catalog/guidance/document-schema.ts';
import type { Database } from '../../src/db/database.ts';
import type { DocumentRecord } from './document-record.ts';
import { type Statement, winningStatements } from './statements.ts';

/** Rebuilds the served documents from what the sources state: of each the word of the last import. */
export function deriveDocuments(db: Database, fresh: Set<number>, superseded: Map<number, string>): void {
  const { sqlite } = db;
  const rows = sqlite
    .prepare<[], Statement & { record: string }>(
      `SELECT f.source_id AS sourceId, f.document_id AS key, s.imported_at AS importedAt, s.sha256,
              coalesce(f.record ->> 'published', '') AS newness, f.record
         FROM document_facts AS f JOIN sources AS s ON s.id = f.source_id`,
    )
    .all();
  const winners = winningStatements(db, rows, fresh, superseded);
  sqlite.exec('DELETE FROM documents');
  const insertKey = sqlite.prepare(
    `INSERT INTO document_keys VALUES (?, ?)
       ON CONFLICT (document_id) DO UPDATE SET summary_json = excluded.summary_json`,
  );
  const insert = sqlite.prepare('INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const { record } of winners) {
    const document = serve(JSON.parse(record) as DocumentRecord);
    const { documentId, title, publisher, publisherId, doctype } = document;
    insertKey.run(documentId, JSON.stringify(summaryOf(document)));
    insert.run(
      documentId,
      title,
      fold(title),
      fold(publisher),
      fold(publisherId),
      fold(doctype),
      JSON.stringify(document),
    );
  }
}

/** A document in the form and order of the API's full record. */
function serve(record: DocumentRecord): RegulatoryDocument {
  const { documentId, title, publisher, publisherId, doctype, published, cyberScore, jurisdiction } = record;
  return {
    id: stableId('regdoc', documentId),
    documentId,
    title,
    publisher,
    publisherId,
    doctype,
    published,
    cyberScore,
    jurisdiction,
    signpostCount: record.signposts.length,
    actionableItemCount: record.actionableItems.length,
    sectorLevel1: record.sectorLevel1,
    sectorLevel2: record.sectorLevel2,
    sectorLevel3: record.sectorLevel3,
    sectorLevel4: record.sectorLevel4,
    authoritative: record.authoritative,
    sourceUrl: record.sourceUrl,
    restriction: record.restriction,
    signposts: record.signposts,
    actionableItems: record.actionableItems,
  };
}

function summaryOf(document: RegulatoryDocument): RegulatoryDocumentSummary {
  const keys = Object.keys(RegulatoryDocumentSummary.shape) as (keyof RegulatoryDocumentSummary)[];
  return Object.fromEntries(keys.map((key) => [key, document[key]])) as RegulatoryDocumentSummary;
}
