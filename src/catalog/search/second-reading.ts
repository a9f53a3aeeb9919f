import type { Database } from '../../db/database.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import { indexed, type Pattern, wordCharacter } from './pattern.ts';
import { matchOf, type SearchQuery, type Term, words, wordsOf } from './query.ts';
import { stopWords } from './stop-words.ts';
import { createSynonyms } from './synonyms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** One thing that a question asks for, in all forms that count: any of them will do. */
export interface Wanted {
  patterns: Pattern[];
  /** What may stand for it: counts half. */
  instead: Pattern[];
  /** How many rules may have one of them: an upper bound. */
  rules: number;
}

/** A question read the second time (rule D35.1). */
export interface SecondReading {
  /** What any rule may have, without the words that carry nothing. */
  wanted: Wanted[];
  /** The words of terms with punctuation (`/etc/ssh/no_file`), each by itself: they count where no term is found. */
  pieces: () => Wanted[];
  /** The words that carry nothing, as typed; where nothing else is found they count too (`rest`). */
  dropped: string[];
  rest: Wanted[];
  /** STIGs that a part of the question names, and what else it asks for. */
  named: { slugs: string[]; wanted: Wanted[] } | null;
  suggestions: { word: string; instead: string }[];
}

/** Words that get more than themselves: looking up the forms of a word costs up to two milliseconds. */
const mostWidened = 48;
/** Guessing costs a thousand look-ups for each word. */
const mostGuessed = 3;
/** Taken for the rules that a prefix finds. */
const withPrefix = 1000;
const mostNamed = 3;
/** A guess compares all STIGs. */
const mostGuessedNames = 12;
const ruleId = /^(?:S?V|CCI|SRG)-/i;
const longestName = 6;
/** A shorter piece of a path or an id (`V-1`) occurs everywhere. */
const shortestPiece = 3;

/** Prepares the second reading. `isId`: whether a text is an id, which has no words. */
export function createSecondReading(
  db: Database,
  stigNames: Pick<StigNameIndex, 'said' | 'exactly'>,
  isId: (text: string) => boolean,
) {
  const synonyms = createSynonyms(db);

  /** Words that no rule has, in no form, and what may be meant. */
  const misspelt = (unknown: { term: Term; parts: string[] }[], vocabulary: Vocabulary) =>
    unknown
      .filter(({ term, parts }) => term.isPlain && parts.length === 1)
      .slice(0, mostGuessed)
      .flatMap(({ term, parts: [word] }) => {
        const instead = vocabulary.near(word!);
        return instead === null ? [] : [{ word: bare(term.asked), instead }];
      });

  function piecesOf(asked: { term: Term; parts: string[] }[], vocabulary: Vocabulary): Wanted[] {
    const compounds = asked.filter(
      ({ term, parts }) => term.isPlain && parts.length > 1 && !isId(term.asked),
    );
    const pieces = new Set(compounds.flatMap(({ parts }) => parts));
    return [...pieces]
      .filter((piece) => piece.length >= shortestPiece && !stopWords.has(piece))
      .slice(0, mostWidened)
      .map((piece) => {
        const forms = vocabulary.forms(piece);
        const rules = forms.reduce((sum, form) => sum + form.rules, 0);
        return { patterns: forms.map(({ word }) => words([word])), instead: [], rules };
      });
  }

  return (query: SearchQuery, vocabulary: Vocabulary): SecondReading => {
    const asked = query.wants.map((term) => ({ term, parts: partsOf(term) }));
    const isStop = asked.map(({ term, parts }) => term.isPlain && parts.every((part) => stopWords.has(part)));
    const hasOthers = isStop.includes(false);
    const instead = synonyms(asked.map(({ term, parts }) => (term.isPlain ? parts : [])));
    const all = asked.map(({ term, parts }, at): Wanted => {
      const phrases = instead.get(at) ?? [];
      return at < mostWidened ? widened(term, parts, phrases, vocabulary) : asIs(term, parts, vocabulary);
    });
    const kept = (at: number) => !(hasOthers && isStop[at]);
    const name = nameIn(
      asked.map(({ term }) => (term.isPlain && !ruleId.test(term.asked) ? term.asked : '')),
      stigNames,
    );
    const beside = all.filter((_, at) => kept(at) && (name === null || at < name.from || at >= name.to));
    return {
      wanted: all.filter((_, at) => kept(at)),
      pieces: () => piecesOf(asked, vocabulary),
      dropped: asked.filter((_, at) => !kept(at)).map(({ term }) => bare(term.asked)),
      rest: all.filter((_, at) => !kept(at)),
      named: name === null || beside.length === 0 ? null : { slugs: name.slugs, wanted: beside },
      suggestions: misspelt(
        all.flatMap(({ rules }, at) => (rules === 0 && !isStop[at] ? [asked[at]!] : [])),
        vocabulary,
      ),
    };
  };
}

const core = new RegExp(`${wordCharacter}(?:.*${wordCharacter})?`, 'su');
/** A word as typed, without the punctuation around it. */
const bare = (text: string): string => core.exec(text)![0];

const partsOf = ({ asked, patterns, isLiteral }: Term): string[] =>
  isLiteral ? wordsOf(asked).map(indexed) : patterns[0]!.parts;

/** Hyphens join what may be written in one word or two (`multi-factor`): then each of its words counts too. */
const compound = /^\p{L}{3,}(?:-\p{L}{3,})+$/u;

function widened(term: Term, parts: string[], instead: string[][], vocabulary: Vocabulary): Wanted {
  if (!term.isPlain) return asIs(term, parts, vocabulary);
  const found: Wanted = { patterns: [], instead: [], rules: 0 };
  const add = (row: string[], to = found.patterns) => {
    if (row.length > 1) {
      to.push(words(row));
      found.rules += Math.min(...row.map(vocabulary.rulesWith));
      return;
    }
    for (const { word, rules } of vocabulary.forms(row[0]!)) {
      to.push(words([word]));
      found.rules += rules;
    }
  };
  add(parts);
  if (compound.test(term.asked)) for (const part of parts) if (!stopWords.has(part)) add([part]);
  for (const each of instead) add(each, found.instead);
  return found;
}

function asIs({ patterns, isLiteral }: Term, parts: string[], { rulesWith }: Vocabulary): Wanted {
  // How many words begin so is not asked: it would take longer than the search.
  const least = (words: string[], isPrefix: boolean) =>
    Math.min(...words.map(rulesWith), ...(isPrefix ? [withPrefix] : []));
  const rules = isLiteral
    ? least(parts, false)
    : patterns.reduce(
        (sum, { parts, isPrefix }) => sum + least(isPrefix ? parts.slice(0, -1) : parts, isPrefix),
        0,
      );
  return { patterns, instead: [], rules };
}

/** Some things as FTS5 takes them, and what may stand for them, each once. */
export function matchesOf(wanted: Wanted[]): { own: string[]; instead: string[] } {
  const own = new Set(wanted.flatMap(({ patterns }) => patterns.map(matchOf)));
  const instead = new Set(wanted.flatMap((each) => each.instead.map(matchOf)));
  return { own: [...own], instead: [...instead].filter((each) => !own.has(each)) };
}

/**
 * The first of the longest rows of words that name at most three STIGs. A part of a name counts only where it ends in a
 * number (`rhel 9`): words such as `policy` or `server` begin many names.
 */
function nameIn(asked: string[], { said, exactly }: Pick<StigNameIndex, 'said' | 'exactly'>) {
  let guesses = 0;
  for (let length = Math.min(longestName, asked.length); length > 0; length--) {
    for (let from = 0; from + length <= asked.length; from++) {
      const row = asked.slice(from, from + length);
      if (row.includes('')) continue;
      const text = row.join(' ');
      const whole = exactly(text);
      const isVersion = length <= 4 && /\d/.test(row.at(-1)!) && /\p{L}/u.test(text);
      const stigs = whole.length > 0 || !isVersion || guesses++ >= mostGuessedNames ? whole : said(text);
      if (stigs.length > 0 && stigs.length <= mostNamed)
        return { from, to: from + length, slugs: stigs.map(({ slug }) => slug) };
    }
  }
  return null;
}
