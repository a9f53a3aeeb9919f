import type { Database } from '../../src/db/database.ts';
import type { DocumentRecord } from './document-record.ts';

/** Stores the documents of one source; gives what the ledger says of it. */
export type StageDocuments = (
  sourceId: number,
  documents: DocumentRecord[],
) => { target: string; counts: Record<string, number> };

/** Prepares the statement that stores documents inside the run's transaction. */
export function createStageDocuments(db: Database): StageDocuments {
  const insert = db.sqlite.prepare('INSERT INTO document_facts VALUES (?, ?, ?)');
  return (sourceId, documents) => {
    for (const each of documents) insert.run(sourceId, each.documentId, JSON.stringify(each));
    const sum = (name: 'signposts' | 'actionableItems') =>
      documents.reduce((total, each) => total + each[name].length, 0);
    const shown = documents.slice(0, 3).map((each) => each.documentId);
    return {
      target: [...shown, ...(documents.length > 3 ? ['...'] : [])].join(', '),
      counts: {
        documents: documents.length,
        signposts: sum('signposts'),
        actionableItems: sum('actionableItems'),
      },
    };
  };
}
