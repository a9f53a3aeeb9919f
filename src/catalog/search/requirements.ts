import { indexedWords } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import type { IndexedRule } from './indexed-rules.ts';
import type { Wanted } from './second-reading.ts';

/** The requirement of an SRG without its ending: other SRGs and STIGs share it (`SRG-OS-000163`). */
const requirementOf = (text: string): string | null => /^SRG-[A-Z]+-\d+/.exec(text)?.[0] ?? null;

// The constants of bm25, as in FTS5; a word stands in a title once.
const [saturation, lengthShare, leastRarity] = [1.2, 0.75, 1e-6];
const titlesPerSlice = 100;

/** Says how well a question fits the requirement that a rule implements: 0 where no title of it has a word of it. */
export type Requirements = (wanted: Wanted[], rules: number) => (rule: IndexedRule) => number;

/** Reads the titles of the requirements of all SRGs: a STIG words its rules otherwise. */
export function* readRequirements(
  { sqlite }: Pick<Database, 'sqlite'>,
  indexed: Map<number, IndexedRule>,
): Generator<void, Requirements> {
  const titleOf = sqlite.prepare<[number], { title: string; name: string }>(
    'SELECT rule_title AS title, rule_version AS name FROM findings WHERE id = ?',
  );
  const titles: { requirement: string; length: number }[] = [];
  const byWord = new Map<string, Set<number>>();
  for (const { id, stig } of indexed.values()) {
    if (!stig.isSrg) continue;
    const { title, name } = titleOf.get(id)!;
    const requirement = requirementOf(name);
    if (requirement === null) continue;
    const words = indexedWords(title);
    for (const word of words) byWord.set(word, (byWord.get(word) ?? new Set()).add(titles.length));
    titles.push({ requirement, length: words.length });
    if (titles.length % titlesPerSlice === 0) yield;
  }
  const meanLength = titles.reduce((sum, { length }) => sum + length, 0) / titles.length;

  return (wanted, rules) => {
    const scores = new Map<number, number>();
    let whole = 0;
    for (const { patterns, rules: upTo } of wanted) {
      const having = Math.min(upTo, rules);
      const rarity = Math.max(leastRarity, Math.log((rules - having + 0.5) / (having + 0.5)));
      whole += rarity;
      const fitting = new Set(patterns.flatMap(({ parts }) => titlesWith(byWord, parts)));
      for (const title of fitting) {
        const length = saturation * (1 - lengthShare + (lengthShare * titles[title]!.length) / meanLength);
        scores.set(title, (scores.get(title) ?? 0) + (rarity * (saturation + 1)) / (1 + length));
      }
    }
    const fits = new Map<string, number>();
    for (const [title, score] of scores) {
      const { requirement } = titles[title]!;
      fits.set(requirement, Math.max(fits.get(requirement) ?? 0, score * (score / whole) ** 2));
    }
    return ({ requirement }) => fits.get(requirementOf(requirement) ?? '') ?? 0;
  };
}

/** The titles that have all of some words. */
function titlesWith(byWord: Map<string, Set<number>>, parts: string[]): number[] {
  const [first, ...others] = parts.map((part) => byWord.get(part) ?? new Set<number>());
  return [...first!].filter((title) => others.every((each) => each.has(title)));
}
