import { strip } from '../../base/text.ts';
import type { FindOwnControl } from '../controls/find-control.ts';
import { idsOf } from '../controls/id-grammar.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import { page } from './citations.ts';
import { hyphenated, readSearchQuery } from './query.ts';
import { type IdAnswer, mostAnswers } from './schema.ts';

/** An id of a text and what the catalog has of it (rule D39.1). */
interface CitedId {
  text: string;
  kind: 'rule' | 'cci' | 'control' | 'srg';
  state: IdAnswer['state'] | 'changed';
  id: string;
  title: string | null;
  slug: string | null;
  version: string | null;
  line: number;
  column: number;
}

interface AnswerDeps {
  citedIn: (text: string) => CitedId[];
  stigNames: Pick<StigNameIndex, 'ofSlug'>;
  controlRules: { counts(of: { framework: string; controlId: string }): { rules: number }[] };
  ownControl: FindOwnControl;
}

export type Answers = ReturnType<typeof createAnswers>;

/**
 * Prepares what the ids of a question name (rule D35.2). `citedIn` reads the ids of a text, `ownControl` one of a framework
 * that the site imported.
 */
export function createAnswers({ citedIn, stigNames, controlRules, ownControl }: AnswerDeps) {
  const rulesOf = (framework: string, controlId: string) =>
    controlRules.counts({ framework, controlId }).reduce((sum, { rules }) => sum + rules, 0);

  function answerOf({ text: asked, kind, state, id, title, slug, version }: CitedId): IdAnswer {
    if (state === 'unknown') return ownOf(asked) ?? { asked, kind, id, state };
    const answer = { asked, kind, id, title: title ?? '', state: state === 'changed' ? 'current' : state };
    if (kind === 'srg') return { ...answer, href: `/search?q=${encodeURIComponent(id)}` };
    if (kind === 'rule')
      return {
        ...answer,
        slug: slug!,
        version: version!,
        href: page(['stigs', slug!, 'rules', id], state === 'removed' ? version : null),
      };
    const { framework, part } = idsOf(asked)![0]!;
    return {
      ...answer,
      href: page(framework === null ? ['ccis', id] : ['controls', framework, id]),
      rules: rulesOf(framework ?? 'cci', id),
      ...(part === '' ? {} : { part }),
    };
  }

  function ownOf(asked: string): IdAnswer | null {
    const own = ownControl(asked);
    if (own === null) return null;
    const { framework, id, title, status } = own;
    return {
      asked,
      kind: 'control',
      id,
      title,
      state: status === 'active' ? 'current' : 'withdrawn',
      href: page(['controls', framework, id]),
      rules: rulesOf(framework, id),
    };
  }

  /** A slug or benchmark id is an id where no word is written so, or where it is the whole question. */
  function stigOf(asked: string, isWhole: boolean): IdAnswer | null {
    const stig = isWhole || /[_\d]/.test(asked) ? stigNames.ofSlug(asked) : null;
    if (stig === null) return null;
    const { slug, title, version } = stig;
    return {
      asked,
      kind: 'stig',
      id: slug,
      title,
      state: 'current',
      href: page(['stigs', slug]),
      slug,
      version,
    };
  }

  /** The answers for a question, in its order, at most 50. */
  return (question: string): IdAnswer[] => {
    const { includedText } = readSearchQuery(question);
    // The id as it is typed, where a hyphen was added.
    const typed = hyphenated(question) === question ? null : question.trim();
    const starts = [0, ...[...includedText.matchAll(/\n/g)].map(({ index }) => index + 1)];
    const cited = citedIn(includedText)
      .slice(0, mostAnswers)
      .map((each) => ({
        index: starts[each.line - 1]! + each.column - 1,
        answer: { ...answerOf(each), asked: typed ?? each.text },
      }));
    const named = [...includedText.matchAll(/[^\s,;"“”]+/g)].flatMap(({ index, 0: asked }) => {
      const answer =
        stigOf(asked, asked === includedText.trim()) ??
        ownOf(strip(asked.replace(/^\(/, ''), null, /[).:?!]/));
      return answer === null || cited.some((each) => each.index === index) ? [] : [{ index, answer }];
    });
    return [...cited, ...named]
      .sort((a, b) => a.index - b.index)
      .slice(0, mostAnswers)
      .map(({ answer }) => answer);
  };
}
