import { type CitationDeps, createCitations } from './citations.ts';
import { type AnswerDeps, createAnswers } from './id-answers.ts';

/** What ids and citations name: `answers` for the ids of a question, `citations` to open one. */
export function createIdServices(deps: CitationDeps & AnswerDeps) {
  const { citedIn, stigNames, controlRules } = deps;
  return { answers: createAnswers(citedIn, stigNames, controlRules), citations: createCitations(deps) };
}
