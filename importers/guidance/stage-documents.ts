import type { Database } from '../../src/db/database.ts';
import { firstOf } from '../read/source-text.ts';
import type { Stated } from '../read/stated.ts';
import type { DocumentRecord } from './document-record.ts';

/** Stores the documents of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageDocuments(db: Database, sourceId: number, documents: DocumentRecord[]): Stated {
  const insert = db.sqlite.prepare('INSERT INTO document_facts VALUES (?, ?, ?)');
  for (const each of documents) insert.run(sourceId, each.documentId, JSON.stringify(each));
  return statedBy(documents);
}

/** The ledger's target and counts of documents. */
export function statedBy(documents: DocumentRecord[]): Stated {
  const sum = (name: 'signposts' | 'actionableItems') =>
    documents.reduce((total, each) => total + each[name].length, 0);
  return {
    target: firstOf(
      documents.map((each) => each.documentId),
      3,
    ),
    counts: {
      documents: documents.length,
      signposts: sum('signposts'),
      actionableItems: sum('actionableItems'),
    },
  };
}
