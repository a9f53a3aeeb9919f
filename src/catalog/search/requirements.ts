import { indexedWords } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { type IndexedRule, requirementOf } from './indexed-rules.ts';
import type { Wanted } from './second-reading.ts';

// The constants of bm25, as in FTS5.
const saturation = 1.2;
const lengthShare = 0.75;
const leastRarity = 1e-6;

/** Says how well a question fits the requirement that a rule implements: 0 where no title of it has a word of it. */
export type Requirements = (wanted: Wanted[]) => (rule: IndexedRule) => number;

/** Reads the titles of the requirements of all SRGs: a STIG words its rules otherwise. */
export function readRequirements(
  { sqlite }: Pick<Database, 'sqlite'>,
  rules: Map<number, IndexedRule>,
): Requirements {
  const titleOf = sqlite.prepare<[number], { title: string; name: string }>(
    'SELECT rule_title AS title, rule_version AS name FROM findings WHERE id = ?',
  );
  const titles: { requirement: string; length: number }[] = [];
  const byWord = new Map<string, Set<number>>();
  for (const { id, stig } of rules.values()) {
    if (!stig.isSrg) continue;
    const { title, name } = titleOf.get(id)!;
    const requirement = requirementOf(name);
    if (requirement === null) continue;
    const words = indexedWords(title);
    for (const word of words) byWord.set(word, (byWord.get(word) ?? new Set()).add(titles.length));
    titles.push({ requirement, length: words.length });
  }
  const meanLength = titles.reduce((sum, { length }) => sum + length, 0) / titles.length;

  return (wanted) => {
    const scores = new Map<number, number>();
    let whole = 0;
    for (const { patterns, rules: upTo } of wanted) {
      const rarity = rarityOf(Math.min(upTo, rules.size), rules.size);
      whole += rarity;
      const fitting = new Set(patterns.flatMap(({ parts }) => titlesWith(byWord, parts)));
      for (const title of fitting) {
        const length = saturation * (1 - lengthShare + (lengthShare * titles[title]!.length) / meanLength);
        // The bm25 of a word that stands in a title once.
        const score = rarity * ((saturation + 1) / (1 + length));
        scores.set(title, (scores.get(title) ?? 0) + score);
      }
    }
    const fits = new Map<string, number>();
    for (const [title, score] of scores) {
      const { requirement } = titles[title]!;
      fits.set(requirement, Math.max(fits.get(requirement) ?? 0, score * (score / whole) ** 2));
    }
    return ({ srg }) => (srg === null ? 0 : (fits.get(srg) ?? 0));
  };
}

/** What a word counts that `having` of all texts have. */
const rarityOf = (having: number, all: number): number =>
  Math.max(leastRarity, Math.log((all - having + 0.5) / (having + 0.5)));

/** The titles that have all of some words. */
function titlesWith(byWord: Map<string, Set<number>>, parts: string[]): number[] {
  const [first, ...others] = parts.map((part) => byWord.get(part) ?? new Set<number>());
  return [...first!].filter((title) => others.every((each) => each.has(title)));
}
