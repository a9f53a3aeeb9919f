import { stableId } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import { RegulatoryDocument, RegulatoryDocumentSummary } from '../../src/catalog/guidance/document-schema.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import type { StagedFacts } from '../read/parsed.ts';
import { excerpt, firstOf } from '../read/source-text.ts';
import { type DocumentRecord, inOrder } from './document-record.ts';

/** Stores the documents of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageDocuments(db: Database, sourceId: number, documents: DocumentRecord[]): StagedFacts {
  const insert = db.sqlite.prepare('INSERT INTO document_facts VALUES (?, ?, ?)');
  for (const each of documents) insert.run(sourceId, each.documentId, JSON.stringify(each));
  return statedBy(documents);
}

/** The ledger's target and counts of documents. */
function statedBy(documents: DocumentRecord[]): StagedFacts {
  const ids = documents.map((each) => each.documentId);
  return {
    target: firstOf(ids, 3),
    counts: {
      documents: documents.length,
      signposts: documents.flatMap((each) => each.signposts).length,
      actionableItems: documents.flatMap((each) => each.actionableItems).length,
    },
  };
}

/** A document as one source states it. */
interface Edition {
  sourceId: number;
  sha256: string;
  source: string;
  documentId: string;
  publisher: string;
  /** Empty where the source has no date. */
  published: string;
  text: string;
  record: string;
}

/** What became of a source of documents: what of it is served, or why nothing is. */
export interface DocumentOutcome extends Partial<StagedFacts> {
  sha256: string;
  reason: string | null;
  warnings: string[];
}

/**
 * Rebuilds the served documents (rule D42.5) as a function of the set of sources: neither the order of imports nor
 * their split matters. Removes sources of which nothing is served. Gives the outcome of each source; `fresh` are those
 * of this run.
 */
export function deriveDocuments(db: Database, fresh: Set<number>): DocumentOutcome[] {
  const { sqlite } = db;
  const editions = readEditions(db);
  const taken = new Set(editions.map((each) => each.documentId));
  const outcomes = new Map(
    editions.map(({ sourceId, sha256 }) => [
      sourceId,
      { sha256, warnings: [] as string[], served: [] as DocumentRecord[] },
    ]),
  );
  sqlite.exec('DELETE FROM documents');
  const insert = prepareInsert(db, 'documents');
  for (const [stated, group] of Map.groupBy(editions, (each) => each.documentId)) {
    const { chosen, superseded } = choose(group);
    for (const [index, { sourceId, sha256, record }] of chosen.entries()) {
      const documentId = index === 0 ? stated : freeId(stated, sha256, taken);
      const document = { ...(JSON.parse(record) as DocumentRecord), documentId };
      const { served, warnings } = outcomes.get(sourceId)!;
      insert(rowOf(document));
      served.push(document);
      const other = chosen[index === 0 ? 1 : 0];
      if (chosen.length > 1)
        warnings.push(
          `the document ${stated} has another text in ${nameOf(other!)}: both stay, this one as ${documentId}`,
        );
    }
    for (const { edition, winner, why } of superseded) {
      const loss = `${stated} is superseded: ${nameOf(winner)} ${why}`;
      outcomes.get(edition.sourceId)!.warnings.push(loss);
      // A source of an earlier run has no line in the ledger of this one.
      if (!fresh.has(edition.sourceId))
        outcomes.get(winner.sourceId)!.warnings.push(`${nameOf(edition)}, imported before: ${loss}`);
    }
  }
  const retarget = sqlite.prepare('UPDATE sources SET target = ? WHERE id = ?');
  const remove = sqlite.prepare('DELETE FROM sources WHERE id = ?');
  return [...outcomes].map(([sourceId, { sha256, warnings, served }]) => {
    if (served.length === 0) {
      remove.run(sourceId);
      return { sha256, reason: warnings.join('; '), warnings: [] };
    }
    const stated = statedBy(served);
    retarget.run(stated.target, sourceId);
    return { sha256, reason: null, warnings, ...stated };
  });
}

/** All documents as their sources state them: of each id the latest first, those without a date last. */
function readEditions({ sqlite }: Database): Edition[] {
  return sqlite
    .prepare<[], Edition>(
      `SELECT f.source_id AS sourceId, s.sha256, s.source, f.document_id AS documentId,
              f.record ->> 'publisher' AS publisher, coalesce(f.record ->> 'published', '') AS published,
              coalesce(f.record ->> 'text', f.record) AS text, f.record
         FROM document_facts AS f JOIN sources AS s ON s.id = f.source_id
        ORDER BY f.document_id, published DESC, s.sha256`,
    )
    .all();
}

/** The editions of one id that stay: of each publisher the texts with the latest date, and those without a date. */
function choose(editions: Edition[]) {
  const chosen: Edition[] = [];
  const superseded: { edition: Edition; winner: Edition; why: string }[] = [];
  for (const edition of editions) {
    const { publisher, published, text } = edition;
    const ofPublisher = chosen.filter((each) => each.publisher === publisher);
    const [latest] = ofPublisher;
    const same = ofPublisher.find((each) => each.published === published && each.text === text);
    if (latest !== undefined && published !== '' && published < latest.published)
      superseded.push({ edition, winner: latest, why: `states it as of ${latest.published}, a later date` });
    else if (same !== undefined) superseded.push({ edition, winner: same, why: 'has the same text' });
    else chosen.push(edition);
  }
  return { chosen, superseded };
}

/** The id of another text: with the first 8 digits of its hash, or more where a source states that id itself. */
function freeId(stated: string, sha256: string, taken: Set<string>): string {
  let digits = 8;
  while (taken.has(`${stated}-${sha256.slice(0, digits)}`)) digits++;
  const id = `${stated}-${sha256.slice(0, digits)}`;
  taken.add(id);
  return id;
}

const nameOf = ({ source }: Edition) => excerpt(source, 300);

function rowOf(record: DocumentRecord) {
  const { documentId, title, publisher, publisherId, doctype, signposts, actionableItems } = record;
  const document = inOrder(RegulatoryDocument.shape, {
    id: stableId('regdoc', documentId),
    status: undefined,
    signpostCount: signposts.length,
    actionableItemCount: actionableItems.length,
    ...record,
  });
  return {
    documentId,
    title,
    titleFold: fold(title),
    publisherFold: fold(publisher),
    publisherIdFold: fold(publisherId),
    doctypeFold: fold(doctype),
    summaryJson: inOrder(RegulatoryDocumentSummary.shape, document),
    recordJson: document,
  };
}
