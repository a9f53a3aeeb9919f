import { indexedWords } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import type { Pattern } from './pattern.ts';

// The constants of bm25, as in FTS5.
const saturation = 1.2;
const lengthShare = 0.75;
const leastRarity = 1e-6;
/** What it counts that a rule implements a requirement that the question fits: SRGs and STIGs word things otherwise. */
const weight = 1.5;

/** The requirement of an SRG without its ending, which SRGs and STIGs share (`SRG-OS-000163`); null for another text. */
const requirementOf = (text: string): string | null => /^SRG-[A-Z]+-\d+/.exec(text)?.[0] ?? null;

/**
 * Prepares what a rule counts more, the better a title of its requirement fits a question: for the terms of the question
 * it gives a function of the title of a rule's group.
 */
export function createRequirements(
  db: Database,
): (terms: { patterns: Pattern[]; rules: number }[]) => (groupTitle: string) => number {
  const requirements = db.sqlite.prepare<[], { title: string; name: string }>(
    `SELECT f.rule_title AS title, f.rule_version AS name
       FROM stigs AS s JOIN findings AS f ON f.release_id = s.current_release_id
      WHERE s.kind = 'srg' AND f.rule_version GLOB 'SRG-[A-Z]*'`,
  );
  const ruleCount = db.sqlite
    .prepare<[], number>(
      'SELECT count(*) FROM stigs AS s JOIN findings AS f ON f.release_id = s.current_release_id',
    )
    .pluck();
  const titlesOf = perCatalogVersion(db, () => {
    const titles: { requirement: string; length: number }[] = [];
    const byWord = new Map<string, Set<number>>();
    for (const { title, name } of requirements.all()) {
      const requirement = requirementOf(name);
      if (requirement === null) continue;
      const words = indexedWords(title);
      for (const word of words) byWord.set(word, (byWord.get(word) ?? new Set()).add(titles.length));
      titles.push({ requirement, length: words.length });
    }
    const meanLength = titles.reduce((sum, { length }) => sum + length, 0) / titles.length;
    return { titles, byWord, meanLength, rules: ruleCount.get()! };
  });

  return (terms) => {
    const { titles, byWord, meanLength, rules } = titlesOf();
    const scores = new Map<number, number>();
    let whole = 0;
    for (const { patterns, rules: upTo } of terms) {
      const having = Math.min(upTo, rules);
      const rarity = Math.max(leastRarity, Math.log((rules - having + 0.5) / (having + 0.5)));
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
    return (groupTitle) => weight * (fits.get(requirementOf(groupTitle) ?? '') ?? 0);
  };
}

/** The titles that have all of some words. */
function titlesWith(byWord: Map<string, Set<number>>, parts: string[]): number[] {
  const [first, ...others] = parts.map((part) => byWord.get(part) ?? new Set<number>());
  return [...first!].filter((title) => others.every((each) => each.has(title)));
}
