import type { Database } from '../../db/database.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { Asked, Test } from './binder.ts';
import { byScore, type IndexedRule, type IndexedRules, type Ranked } from './indexed-rules.ts';
import type { Pattern } from './pattern.ts';
import { anyOf } from './query.ts';
import type { Requirements } from './requirements.ts';
import { createSecondReading, matchesOf, type SecondReading, type Wanted } from './second-reading.ts';
import type { IndexQueries } from './sql.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What the second reading of a question finds (rule D35.1). */
export interface Wider extends Pick<SecondReading, 'dropped' | 'suggestions'> {
  /** The best first. */
  rules: IndexedRule[];
  narrowedTo: string[];
  wanted: Wanted[];
}

/** What a search keeps of the catalog until it changes. */
export interface Kept extends IndexedRules {
  vocabulary: Vocabulary;
  requirements: Requirements;
}

/** Reads the texts of a rule, and says whether one of them has one of some phrases. */
export type PhrasesIn = (rule: IndexedRule) => (phrases: Pattern[]) => boolean;

export const nothingWider: Wider = { rules: [], dropped: [], suggestions: [], narrowedTo: [], wanted: [] };

const most = 100;
/** More than are given, since some are in the first group, and rules of one requirement give way to others. */
const mostRanked = 500;
/** The rarest words come first, until so many rules may have one of them: common words cost most and tell least. */
const candidates = 1000;
/** Where so many rounds found too little, the last takes all words: each round ranks what the former ones ranked. */
const mostRounds = 4;
/** Phrases, the rarest first: one of common words (`3.1.1`) costs as much as the rules that have its rarest word. */
const cheapPhrases = 8;
const rulesOfPhrases = 10_000;
const enough = 10;
/** In so many STIGs few rules pass: all words are asked at once. */
const fewStigs = 8;
/** What a synonym counts. */
const ofSynonyms = 0.5;
/** What each further rule of one requirement in a STIG counts less. */
const again = 0.7;

/** What it counts that a rule implements a requirement that the question fits: SRGs and STIGs word things otherwise. */
const ofRequirement = 1.5;

/** Prepares the search for rules with any of the words of a question. */
export function createWider(
  db: Database,
  stigNames: Pick<StigNameIndex, 'said' | 'exactly'>,
  isId: (text: string) => boolean,
  { second }: Pick<IndexQueries, 'second'>,
) {
  const read = createSecondReading(db, stigNames, isId);

  /** The rules from one number to another with any of some things: what stands for a word counts half. */
  function scored(wanted: Wanted[], from: number, to: number): Map<number, number> {
    const { own, instead } = matchesOf(wanted);
    const scores = new Map<number, number>();
    if (own.length > 0) for (const [id, score] of second(anyOf(own), from, to)) scores.set(id, score);
    if (instead.length > 0)
      for (const [id, score] of second(anyOf(instead), from, to))
        scores.set(id, (scores.get(id) ?? 0) + score * ofSynonyms);
    return scores;
  }

  /**
   * The best rules that pass, with any of some things, the rarest first. `holds`: what the texts must have, or null.
   * `slugs`: of these STIGs, or null for all.
   */
  function best(
    wanted: Wanted[],
    passes: Test | null,
    holds: Test | null,
    slugs: string[] | null,
    { rules, stigs, requirements }: Kept,
  ): Ranked[] {
    const rarest = affordable(wanted.filter((each) => each.rules > 0).sort((a, b) => a.rules - b.rules));
    const fit = requirements(rarest);
    function ranked(some: Wanted[], from = 0, to = Number.MAX_SAFE_INTEGER): Ranked[] {
      return Array.from(scored(some, from, to), ([id, score]) => ({ rule: rules.get(id)!, score }))
        .filter(({ rule }) => (passes?.(rule) ?? true) && (holds?.(rule) ?? true))
        .map(({ rule, score }) => ({ rule, score: score - ofRequirement * fit(rule) }))
        .sort(byScore)
        .slice(0, mostRanked);
    }
    if (slugs !== null && slugs.length <= fewStigs) {
      const asked = slugs.flatMap((slug) => stigs.get(slug) ?? []);
      const [firsts, lasts] = [asked.map(({ first }) => first), asked.map(({ last }) => last)];
      return ranked(rarest, Math.min(...firsts), Math.max(...lasts));
    }
    let found: Ranked[] = [];
    for (let round = 1, taken = 0, sum = 0; taken < rarest.length && found.length < enough; round++) {
      do sum += rarest[taken++]!.rules;
      while (taken < rarest.length && (round === mostRounds || sum + rarest[taken]!.rules <= candidates));
      found = ranked(rarest.slice(0, taken));
    }
    return found;
  }

  /** What to add to the rules `first`, which have all words. `isFree`: no STIG was asked for, so a name may narrow. */
  return (
    { query, passes, slugs }: Asked,
    first: Set<IndexedRule>,
    phrasesIn: PhrasesIn,
    isFree: boolean,
    kept: Kept,
  ): Wider => {
    const { wanted, pieces, rest, named, dropped, suggestions } = read(query, kept.vocabulary);
    const hasLiterals = query.literals.length + query.excludedLiterals.length > 0;
    // The index knows no punctuation: a phrase that has some is looked for in the texts.
    const holds = (rule: IndexedRule, phrases: Pattern[]) => {
      const hasAny = phrasesIn(rule);
      return !hasAny(query.excludedLiterals) && (query.literals.length === 0 || hasAny(phrases));
    };
    function find(some: Wanted[], within: string[] | null): IndexedRule[] {
      const isOf = within === null ? null : new Set(within);
      const isTested = passes !== null || isOf !== null;
      const test: Test = (rule) => (passes?.(rule) ?? true) && (isOf?.has(rule.stig.slug) ?? true);
      const phrases = some.flatMap(({ patterns, instead }) => [...patterns, ...instead]);
      const inTexts: Test = (rule) => holds(rule, phrases);
      const found = best(
        ...([some, isTested ? test : null, hasLiterals ? inTexts : null, within ?? slugs, kept] as const),
      );
      return varied(found.filter(({ rule }) => !first.has(rule))).slice(0, most);
    }
    if (named !== null && isFree) {
      const rules = find(named.wanted, named.slugs);
      if (rules.length > 0)
        return { rules, dropped, suggestions, narrowedTo: named.slugs, wanted: named.wanted };
    }
    const nothingElse = first.size === 0;
    for (const thatCount of nothingElse ? [() => wanted, pieces] : [() => wanted]) {
      const some = thatCount();
      const rules = find(some, null);
      if (rules.length > 0) return { rules, dropped, suggestions, narrowedTo: [], wanted: some };
    }
    const rules = nothingElse ? find(rest, null) : [];
    return { rules, dropped: [], suggestions, narrowedTo: [], wanted: rest };
  };
}

/** All words, and the phrases that cost little: hundreds of common ones would take a second. */
function affordable(rarest: Wanted[]): Wanted[] {
  let [phrases, rules] = [0, 0];
  return rarest.filter((each) => {
    if (!each.patterns.some(({ parts }) => parts.length > 1)) return true;
    rules += each.rules;
    return phrases++ < cheapPhrases || rules <= rulesOfPhrases;
  });
}

/** The rules in a new order: the second of a requirement in a STIG gives way to others that are nearly as good. */
function varied(ranked: Ranked[]): IndexedRule[] {
  const seen = new Map<string, number>();
  return ranked
    .map(({ rule, score }) => {
      const key = `${rule.stig.slug} ${rule.requirement}`;
      const before = seen.get(key) ?? 0;
      seen.set(key, before + 1);
      return { rule, score: score * again ** before };
    })
    .sort((a, b) => a.score - b.score)
    .map(({ rule }) => rule);
}
