import { compareCodePoints } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { Asked, Bound } from './binder.ts';
import type { Pattern } from './pattern.ts';
import type { SearchQuery } from './query.ts';
import { createSecondReading, matchesOf, type SecondReading, type Wanted } from './second-reading.ts';
import { bestOfAll, bestWanted } from './sql.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What the second reading of a question finds (rule D35.1). */
export interface Wider extends Pick<SecondReading, 'dropped' | 'suggestions'> {
  /** The best first. */
  ids: number[];
  narrowedTo: string[];
  wanted: Wanted[];
}

interface Ranked {
  id: number;
  slug: string;
  ordinal: number;
  requirement: string;
  /** bm25: less is better. */
  score: number;
}

export const nothingWider: Wider = { ids: [], dropped: [], suggestions: [], narrowedTo: [], wanted: [] };

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
/** Of so many STIGs each is asked by itself. */
const fewStigs = 8;
/** What a synonym counts. */
const ofSynonyms = 0.5;
/** What each further rule of one requirement in a STIG counts less. */
const again = 0.7;

/** Prepares the search for rules with any of the words of a question. */
export function createWider(
  db: Database,
  stigNames: Pick<StigNameIndex, 'said' | 'exactly'>,
  isId: (text: string) => boolean,
  vocabulary: Vocabulary,
) {
  const read = createSecondReading(db, stigNames, isId, vocabulary);
  const wantedOnes = db.sqlite.prepare<[Bound], Ranked>(bestWanted);
  const ofAll = db.sqlite.prepare<[Bound], Ranked>(bestOfAll);
  const rangesOf = db.sqlite.prepare<[string], { from: number; to: number }>(
    `SELECT min(f.id) AS "from", max(f.id) AS "to" FROM stigs AS s JOIN findings AS f ON f.release_id = s.current_release_id
      WHERE s.slug IN (SELECT value FROM json_each(?)) GROUP BY s.id`,
  );
  const everywhere = { from: 0, to: Number.MAX_SAFE_INTEGER };

  /** The rules with any of some things, by score: bm25 adds up over words, and what stands for them counts half. */
  function scored(wanted: Wanted[], bound: Bound, from: (bound: Bound) => Ranked[]): Ranked[] {
    const { own, instead } = matchesOf(wanted);
    const byId = new Map<number, Ranked>();
    if (own !== null) for (const row of from({ ...bound, match: own })) byId.set(row.id, row);
    for (const row of instead === null ? [] : from({ ...bound, match: instead })) {
      const known = byId.get(row.id);
      const score = (known?.score ?? 0) + row.score * ofSynonyms;
      byId.set(row.id, { ...row, score });
    }
    return [...byId.values()].sort(byScore);
  }

  /**
   * The best rules with any of some things, the rarest first. `slugs`: of these STIGs, or null for all. `holds`: what the
   * index cannot tell of a rule, or null; then the rules that fail it must not take the place of others.
   */
  function best(
    wanted: Wanted[],
    bound: Bound,
    isFiltered: boolean,
    slugs: string[] | null,
    holds: ((id: number) => boolean) | null,
  ): Ranked[] {
    const asked = { ...bound, limit: holds === null ? mostRanked : -1 };
    const kept = (rows: Ranked[]) => (holds === null ? rows : firstThat(rows, holds));
    const rarest = affordable(wanted.filter(({ rules }) => rules > 0).sort((a, b) => a.rules - b.rules));
    if (slugs !== null && slugs.length <= fewStigs) {
      const ranges = rangesOf.all(JSON.stringify(slugs));
      return kept(
        scored(rarest, asked, (each) => ranges.flatMap((range) => wantedOnes.all({ ...each, ...range }))),
      );
    }
    const from = isFiltered
      ? (each: Bound) => wantedOnes.all({ ...each, ...everywhere })
      : (each: Bound) => ofAll.all(each);
    let found: Ranked[] = [];
    for (let round = 1, taken = 0, sum = 0; taken < rarest.length && found.length < enough; round++) {
      do sum += rarest[taken++]!.rules;
      while (taken < rarest.length && (round === mostRounds || sum + rarest[taken]!.rules <= candidates));
      found = kept(scored(rarest.slice(0, taken), asked, from));
    }
    return found;
  }

  /** What to add to the rules `first`, which have all words. `isFree`: no STIG was asked for, so a name may narrow. */
  return (
    query: SearchQuery,
    { bound, isFiltered, slugs }: Asked,
    first: Set<number>,
    isIn: (id: number, pattern: Pattern) => boolean,
    isFree: boolean,
  ): Wider => {
    const { wanted, pieces, rest, named, dropped, suggestions } = read(query);
    const find = (some: Wanted[], within: string[] | null) => {
      const narrowed = within === null ? bound : { ...bound, slugs: JSON.stringify(within) };
      const check = hasLiterals ? (id: number) => holds(id, some) : null;
      const found = best(some, narrowed, isFiltered || within !== null, within ?? slugs, check);
      return varied(found.filter(({ id }) => !first.has(id))).slice(0, most);
    };
    const hasLiterals = query.literals.length + query.excludedLiterals.length > 0;
    // The index knows no punctuation: a phrase that has some is looked for in the texts.
    const holds = (id: number, some: Wanted[]) =>
      !query.excludedLiterals.some((each) => isIn(id, each)) &&
      (query.literals.length === 0 ||
        some.some((each) => [...each.patterns, ...each.instead].some((pattern) => isIn(id, pattern))));
    if (named !== null && isFree) {
      const ids = find(named.wanted, named.slugs);
      if (ids.length > 0) return { ids, dropped, suggestions, narrowedTo: named.slugs, wanted: named.wanted };
    }
    const nothingElse = first.size === 0;
    for (const thatCount of nothingElse ? [() => wanted, pieces] : [() => wanted]) {
      const some = thatCount();
      const ids = find(some, null);
      if (ids.length > 0) return { ids, dropped, suggestions, narrowedTo: [], wanted: some };
    }
    const ids = nothingElse ? find(rest, null) : [];
    return { ids, dropped: [], suggestions, narrowedTo: [], wanted: rest };
  };
}

/** All words, and the phrases that cost little: hundreds of common ones would hold the event loop for a second. */
function affordable(rarest: Wanted[]): Wanted[] {
  let [phrases, rules] = [0, 0];
  return rarest.filter((each) => {
    if (!each.patterns.some(({ parts }) => parts.length > 1)) return true;
    rules += each.rules;
    return phrases++ < cheapPhrases || rules <= rulesOfPhrases;
  });
}

/** The first rules that hold, as many as are ranked. */
function firstThat(rows: Ranked[], holds: (id: number) => boolean): Ranked[] {
  const found: Ranked[] = [];
  for (const row of rows) {
    if (holds(row.id)) found.push(row);
    if (found.length === mostRanked) break;
  }
  return found;
}

const byScore = (a: Ranked, b: Ranked) =>
  a.score - b.score || compareCodePoints(a.slug, b.slug) || a.ordinal - b.ordinal;

/** The ids in a new order: the second rule of a requirement in a STIG gives way to others that are nearly as good. */
function varied(ranked: Ranked[]): number[] {
  const seen = new Map<string, number>();
  return ranked
    .map(({ id, slug, requirement, score }) => {
      const key = `${slug} ${requirement}`;
      const before = seen.get(key) ?? 0;
      seen.set(key, before + 1);
      return { id, score: score * again ** before };
    })
    .sort((a, b) => a.score - b.score)
    .map(({ id }) => id);
}
