import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import type { StigByName, StigNameIndex } from '../stigs/name-index.ts';
import { indexed, type Pattern, wordCharacter } from './pattern.ts';
import { anyOf, matchOf, type SearchQuery, type Term, words, wordsOf } from './query.ts';
import { createRequirements } from './requirements.ts';
import type { MatchedRule, RuleFilter, RuleQueries, ScoredRule } from './rule-queries.ts';
import { stopWords } from './stop-words.ts';
import { createSynonyms } from './synonyms.ts';
import { readVocabulary, type Vocabulary } from './vocabulary.ts';

/** A word, phrase or prefix of a question in all forms that count: a rule needs one of them. */
interface AnyForm {
  patterns: Pattern[];
  /** What may stand for it: counts half. */
  synonyms: Pattern[];
  /** How many rules may have one of them: an upper bound. */
  rules: number;
}

/** What a relaxed search finds: rules with any of the words of a question (rule D35.1). */
interface RelaxedResult {
  /** The best first, at most 100. */
  rules: MatchedRule[];
  /** What they were searched for. */
  terms: AnyForm[];
  /** The words that were left out, as typed. */
  dropped: string[];
  narrowedTo: string[];
  suggestions: { word: string; instead: string }[];
}

export const nothingRelaxed: RelaxedResult = {
  rules: [],
  terms: [],
  dropped: [],
  narrowedTo: [],
  suggestions: [],
};

/** The fewest results of a search that is not relaxed, and of a round. */
export const enough = 10;
const most = 100;
/** More than are given, since some have all words, and rules of one requirement give way to others. */
const mostRanked = 500;
/** The rarest words come first, until so many rules may have one of them: common words tell least. */
const candidates = 1000;
/** Where so many rounds found too little, the last takes all words. */
const mostRounds = 4;
/** In so many STIGs few rules pass: all words are searched for at once. */
const fewStigs = 8;
/** What each further rule of one requirement in a STIG counts less. */
const again = 0.7;
/** The rules that a prefix is taken to find. */
const withPrefix = 1000;
const mostSuggested = 3;
/** A shorter piece of a path or an id (`V-1`) occurs everywhere. */
const shortestPiece = 3;

/** A term of a question. */
interface RelaxedTerm extends AnyForm {
  term: Term;
  /** Its words in the index. */
  parts: string[];
  /** Whether it carries nothing. */
  isStop: boolean;
}

/**
 * Prepares the relaxed search: any of the words of a question suffices, in any form that has its stem, or by a synonym.
 * `isId`: whether a text is an id, which has no words.
 */
export function createRelaxedSearch(db: Database, { scored, isId }: RuleQueries, stigNames: StigNameIndex) {
  const vocabularyOf = perCatalogVersion(db, () => readVocabulary(db));
  const requirementsOf = createRequirements(db);
  const synonymsOf = createSynonyms(db);

  /** The best rules that have any of some terms and pass a test, the rarest terms first. */
  function best(terms: AnyForm[], filter: RuleFilter, passes: (rule: MatchedRule) => boolean): ScoredRule[] {
    const rarest = terms.filter(({ rules }) => rules > 0).sort((a, b) => a.rules - b.rules);
    const requirement = requirementsOf(rarest);
    const ranked = (some: AnyForm[]) =>
      scored(...matchesOf(some), filter)
        .filter(passes)
        .map((rule) => ({ ...rule, score: rule.score - requirement(rule.requirement) }))
        .sort((a, b) => a.score - b.score)
        .slice(0, mostRanked);
    if (filter.stigs !== null && filter.stigs.length <= fewStigs) return ranked(rarest);
    let found: ScoredRule[] = [];
    for (let round = 1, taken = 0, sum = 0; taken < rarest.length && found.length < enough; round++) {
      do sum += rarest[taken++]!.rules;
      while (taken < rarest.length && (round === mostRounds || sum + rarest[taken]!.rules <= candidates));
      found = ranked(rarest.slice(0, taken));
    }
    return found;
  }

  function read(includedTerms: Term[], vocabulary: Vocabulary): RelaxedTerm[] {
    const words = includedTerms.map((term) => ({ term, parts: partsOf(term) }));
    const synonyms = synonymsOf(words.map(({ term, parts }) => (term.isPlain ? parts : [])));
    return words.map(({ term, parts }, at) => ({
      term,
      parts,
      isStop: term.isPlain && parts.every((part) => stopWords.has(part)),
      ...formsOf(term, parts, synonyms.get(at) ?? [], vocabulary),
    }));
  }

  /**
   * The rules to add to `first`, which have all words. `mayNarrow`: the caller named no STIG, so that a name in the
   * question narrows. `withPhrases`: the test whether the texts of a rule have what is quoted, of some phrases one.
   */
  return (
    query: SearchQuery,
    filter: RuleFilter,
    first: MatchedRule[],
    mayNarrow: boolean,
    withPhrases: (phrases: Pattern[]) => (rule: MatchedRule) => boolean,
  ): RelaxedResult => {
    const vocabulary = vocabularyOf();
    const all = read(query.includedTerms, vocabulary);
    const hasOthers = all.some(({ isStop }) => !isStop);
    const terms = all.filter(({ isStop }) => !(isStop && hasOthers));
    const left = all.filter((each) => !terms.includes(each));
    const dropped = left.map(({ term }) => bare(term.asked));
    const suggestions = all
      .filter((each) => each.rules === 0 && !each.isStop && each.term.isPlain && each.parts.length === 1)
      .slice(0, mostSuggested)
      .flatMap(({ term, parts: [word] }) => {
        const instead = vocabulary.near(word!);
        return instead === null ? [] : [{ word: bare(term.asked), instead }];
      });

    const isFirst = new Set(first.map(({ id }) => id));
    function find(some: AnyForm[], narrowedTo: string[]): MatchedRule[] {
      const isListed = (slug: string) => filter.stigs?.includes(slug) ?? true;
      const stigs = narrowedTo.length === 0 ? filter.stigs : narrowedTo.filter(isListed);
      const phrases = some.flatMap((each) => [...each.patterns, ...each.synonyms]);
      const found = best(some, { ...filter, stigs }, withPhrases(phrases));
      return varied(found.filter(({ id }) => !isFirst.has(id))).slice(0, most);
    }

    const name = mayNarrow ? nameIn(all, stigNames) : null;
    const beside = terms.filter((each) => !name?.terms.includes(each));
    const attempts: Pick<RelaxedResult, 'terms' | 'dropped' | 'narrowedTo'>[] = [
      ...(name === null ? [] : [{ terms: beside, dropped, narrowedTo: name.slugs }]),
      { terms, dropped, narrowedTo: [] },
    ];
    if (first.length === 0) {
      attempts.push({ terms: piecesOf(all, isId, vocabulary), dropped, narrowedTo: [] });
      attempts.push({ terms: left, dropped: [], narrowedTo: [] });
    }
    for (const attempt of attempts) {
      const rules = find(attempt.terms, attempt.narrowedTo);
      if (rules.length > 0) return { ...attempt, rules, suggestions };
    }
    return { ...nothingRelaxed, suggestions };
  };
}

const core = new RegExp(`${wordCharacter}(?:.*${wordCharacter})?`, 'su');
/** A word as typed, without the punctuation around it. */
const bare = (text: string): string => core.exec(text)![0];

const partsOf = ({ asked, patterns, isLiteral }: Term): string[] =>
  isLiteral ? wordsOf(asked).map(indexed) : patterns[0]!.parts;

/** Hyphens join what may be written in one word or two (`multi-factor`): then each of its words counts too. */
const compound = /^\p{L}{3,}(?:-\p{L}{3,})+$/u;

/** Words in a row in the forms that the index has: of a single word those with its stem. */
function inForms(rows: string[][], { forms, rulesWith }: Vocabulary): Omit<AnyForm, 'synonyms'> {
  const found = rows.flatMap((row) =>
    row.length > 1
      ? [{ row, rules: Math.min(...row.map(rulesWith)) }]
      : forms(row[0]!).map(({ word, rules }) => ({ row: [word], rules })),
  );
  return {
    patterns: found.map(({ row }) => words(row)),
    rules: found.reduce((sum, { rules }) => sum + rules, 0),
  };
}

/** A term in all its forms; a quoted one, a prefix and an id as it is. */
function formsOf(term: Term, parts: string[], synonyms: string[][], vocabulary: Vocabulary): AnyForm {
  if (!term.isPlain) {
    const fewest = (some: string[], most = Infinity) => Math.min(most, ...some.map(vocabulary.rulesWith));
    const rulesOf = ({ parts: own, isPrefix }: Pattern) =>
      isPrefix ? fewest(own.slice(0, -1), withPrefix) : fewest(own);
    const rules = term.isLiteral
      ? fewest(parts)
      : term.patterns.reduce((sum, pattern) => sum + rulesOf(pattern), 0);
    return { patterns: term.patterns, synonyms: [], rules };
  }
  const pieces = compound.test(term.asked) ? parts.filter((part) => !stopWords.has(part)) : [];
  const own = inForms([parts, ...pieces.map((piece) => [piece])], vocabulary);
  const others = inForms(synonyms, vocabulary);
  return { patterns: own.patterns, synonyms: others.patterns, rules: own.rules + others.rules };
}

/** The words of terms with punctuation (`/etc/ssh/no_file`), each by itself: they count where no term is found. */
function piecesOf(all: RelaxedTerm[], isId: (text: string) => boolean, vocabulary: Vocabulary): AnyForm[] {
  const pieces = all
    .filter(({ term, parts }) => term.isPlain && parts.length > 1 && !isId(term.asked))
    .flatMap(({ parts }) => parts)
    .filter((piece) => piece.length >= shortestPiece && !stopWords.has(piece));
  return [...new Set(pieces)].map((piece) => ({ ...inForms([[piece]], vocabulary), synonyms: [] }));
}

/** The FTS5 queries for the forms of some terms, and for their synonyms that are no such form. */
function matchesOf(terms: AnyForm[]): [words: string, synonyms: string] {
  const own = new Set(terms.flatMap(({ patterns }) => patterns.map(matchOf)));
  const synonyms = new Set(terms.flatMap((each) => each.synonyms.map(matchOf)));
  return [anyOf([...own]), anyOf([...synonyms].filter((each) => !own.has(each)))];
}

const ruleId = /^(?:S?V|CCI|SRG)-/i;
/** The longest name, and the longest part of one, in words. */
const longestName = 6;
const longestPart = 4;
const mostNamed = 3;

/**
 * The longest row of words that names STIGs, the first of equals: at most three by a whole name or by a part of one that
 * ends in a number (`rhel 9`); else those of one product by two words or more (`google chrome`). A word such as `policy`
 * or `server` alone begins many names.
 */
function nameIn(
  all: RelaxedTerm[],
  { stigsNamedIn, exactly, ofOneProduct }: StigNameIndex,
): { terms: RelaxedTerm[]; slugs: string[] } | null {
  const rows = all
    .flatMap((_, from) =>
      all.slice(from, from + longestName).map((_, more) => all.slice(from, from + more + 1)),
    )
    .filter((row) => row.every(({ term }) => term.isPlain && !ruleId.test(term.asked)))
    .sort((a, b) => b.length - a.length);
  function byName(row: RelaxedTerm[], text: string): StigByName[] {
    const whole = exactly(text);
    const endsInNumber = /\d/.test(row.at(-1)!.term.asked) && /\p{L}/u.test(text);
    const stigs =
      whole.length === 0 && row.length <= longestPart && endsInNumber ? stigsNamedIn(text) : whole;
    return stigs.length <= mostNamed ? stigs : [];
  }
  function byProduct(row: RelaxedTerm[], text: string): StigByName[] {
    const isPart = row.length > 1 && row.length <= longestPart && !row.some(({ isStop }) => isStop);
    return isPart ? ofOneProduct(text) : [];
  }
  for (const stigsOf of [byName, byProduct]) {
    for (const terms of rows) {
      const text = terms.map(({ term }) => term.asked).join(' ');
      const slugs = stigsOf(terms, text).map(({ slug }) => slug);
      if (slugs.length > 0) return { terms, slugs };
    }
  }
  return null;
}

/** The rules in a new order: the second of a requirement in a STIG gives way to others that are nearly as good. */
function varied(ranked: ScoredRule[]): MatchedRule[] {
  const seen = new Map<string, number>();
  return ranked
    .map((rule) => {
      const key = `${rule.slug} ${rule.requirement}`;
      const before = seen.get(key) ?? 0;
      seen.set(key, before + 1);
      return { ...rule, score: rule.score * again ** before };
    })
    .sort((a, b) => a.score - b.score);
}
