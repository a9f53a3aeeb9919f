import { type CitationDeps, createCitations } from './citations.ts';
import { type AnswerDeps, createAnswers } from './id-answers.ts';

/** What ids and citations name: `answers` for the ids of a question, `citations` to open one. */
export function createIdServices(deps: CitationDeps & AnswerDeps) {
  return { answers: createAnswers(deps), citations: createCitations(deps) };
}
