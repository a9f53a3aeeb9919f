import { stableId } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import { RegulatoryDocument, RegulatoryDocumentSummary } from '../../src/catalog/guidance/document-schema.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import { excerpt } from '../read/source-text.ts';
import type { Stated } from '../read/stated.ts';
import { type DocumentRecord, inOrder } from './document-record.ts';
import { statedBy } from './stage-documents.ts';

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
export interface DocumentOutcome extends Partial<Stated> {
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
  const outcomes = new Map<number, DocumentOutcome & { served: DocumentRecord[] }>();
  for (const { sourceId, sha256 } of editions)
    outcomes.set(sourceId, { sha256, reason: null, warnings: [], served: [] });
  sqlite.exec('DELETE FROM documents');
  const insert = prepareInsert(db, 'documents');
  for (const [stated, group] of Map.groupBy(editions, (each) => each.documentId)) {
    const { kept, lost } = choose(group);
    for (const [index, { sourceId, sha256, record }] of kept.entries()) {
      const documentId = index === 0 ? stated : freeId(stated, sha256, taken);
      const document = { ...(JSON.parse(record) as DocumentRecord), documentId };
      const { served, warnings } = outcomes.get(sourceId)!;
      insert(rowOf(document));
      served.push(document);
      if (kept.length > 1)
        warnings.push(
          `the document ${stated} has another text in ${nameOf(kept[index === 0 ? 1 : 0]!)}: both stay, this one as ` +
            documentId,
        );
    }
    for (const { edition, winner, why } of lost) {
      const loss = `${stated} is superseded: ${nameOf(winner)} ${why}`;
      outcomes.get(edition.sourceId)!.warnings.push(loss);
      // A source of an earlier run has no line in the ledger of this one.
      if (!fresh.has(edition.sourceId))
        outcomes.get(winner.sourceId)!.warnings.push(`${nameOf(edition)}, imported before: ${loss}`);
    }
  }
  const retarget = sqlite.prepare('UPDATE sources SET target = ? WHERE id = ?');
  const remove = sqlite.prepare('DELETE FROM sources WHERE id = ?');
  return [...outcomes].map(([sourceId, { served, ...outcome }]) => {
    if (served.length === 0) {
      remove.run(sourceId);
      return { ...outcome, reason: outcome.warnings.join('; '), warnings: [] };
    }
    const stated = statedBy(served);
    retarget.run(stated.target, sourceId);
    return { ...outcome, ...stated };
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

interface Choice {
  kept: Edition[];
  lost: { edition: Edition; winner: Edition; why: string }[];
}

/** The editions of one id that stay: of each publisher the texts with the latest date, and those without a date. */
function choose(editions: Edition[]): Choice {
  const choice: Choice = { kept: [], lost: [] };
  const latest = new Map<string, Edition>();
  const byText = new Map<string, Edition>();
  for (const edition of editions) {
    const { publisher, published } = edition;
    const text = JSON.stringify([publisher, published, edition.text]);
    const last = latest.get(publisher) ?? edition;
    const same = byText.get(text);
    if (published !== '' && published < last.published)
      choice.lost.push({ edition, winner: last, why: `states it as of ${last.published}, a later date` });
    else if (same) choice.lost.push({ edition, winner: same, why: 'has the same text' });
    else choice.kept.push(edition);
    latest.set(publisher, last);
    byText.set(text, same ?? edition);
  }
  return choice;
}

/** The id of another text: with the first 8 digits of its hash, or more where a source states that id itself. */
function freeId(stated: string, sha256: string, taken: Set<string>): string {
  let digits = 8;
  while (taken.has(`${stated}-${sha256.slice(0, digits)}`)) digits++;
  const id = `${stated}-${sha256.slice(0, digits)}`;
  taken.add(id);
  return id;
}

function nameOf({ source }: Edition): string {
  return excerpt(source, 300);
}

function rowOf(record: DocumentRecord) {
  const { documentId, title, publisher, publisherId, doctype, signposts, actionableItems } = record;
  const counts = { signpostCount: signposts.length, actionableItemCount: actionableItems.length };
  const document = inOrder(RegulatoryDocument.shape, {
    id: stableId('regdoc', documentId),
    status: undefined,
    ...counts,
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
