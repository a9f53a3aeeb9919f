import type { Database } from '../../db/database.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import { type CitationDeps, createCitations } from './citations.ts';
import { type AnswerDeps, createAnswers } from './id-answers.ts';
import { createSearchService, type Lookup } from './queries.ts';

/** The search for rules, and what ids and citations name: `answers` for the ids of a question, `citations` to open one. */
export function createSearchServices(
  db: Database,
  lookup: Lookup,
  deps: CitationDeps & AnswerDeps & { stigNames: StigNameIndex },
) {
  return {
    search: createSearchService(db, lookup, deps.stigNames),
    answers: createAnswers(deps),
    citations: createCitations(deps),
  };
}
