import { compareCodePoints, indexedWords } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { indexed, type Pattern } from './pattern.ts';
import { matchOf, type SearchQuery } from './query.ts';
import { weights } from './sql.ts';
import type { Vocabulary } from './vocabulary.ts';

/** More rules are read slower than FTS5 counts. */
const atMost = 50;
// The constants of bm25 in FTS5.
const [saturation, lengthShare, leastRarity] = [1.2, 0.75, 1e-6];

interface Texts {
  id: number;
  slug: string;
  ordinal: number;
  texts: string;
  sizes: Buffer;
}

/**
 * Prepares the order by relevance of a few rules that have all words of a question: the order of FTS5, which counts all
 * rules of each word for every question (17 of 20 words are common ones: that takes longer than all else).
 */
export function createFewRanker(db: Database, { rulesWith }: Pick<Vocabulary, 'rulesWith'>) {
  const textsOf = db.sqlite.prepare<[string], Texts>(
    `SELECT f.id, s.slug, f.ordinal, d.sz AS sizes,
            json_array(t.title, t.discussion, t.check_content, t.fix_text, t.ids) AS texts
       FROM json_each(?) AS id JOIN findings AS f ON f.id = id.value JOIN searchable_rules AS t ON t.id = f.id
       JOIN rule_search_docsize AS d ON d.id = f.id
       JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id`,
  );
  const totals = db.sqlite.prepare<[], Buffer>('SELECT block FROM rule_search_data WHERE id = 1').pluck();
  const index = perGeneration(db, () => {
    const [rules, ...words] = varints(totals.get()!);
    return { rules: rules!, meanLength: sum(words) / rules! };
  });

  const having = db.sqlite
    .prepare<[string], number>('SELECT count(*) FROM rule_search WHERE rule_search MATCH ?')
    .pluck();
  function rarityOf(phrase: Pattern, rules: number): number {
    const words = phrase.parts.map(indexed);
    const have = words.length === 1 ? rulesWith(words[0]!) : having.get(matchOf(phrase))!;
    const rarity = Math.log((rules - have + 0.5) / (have + 0.5));
    return rarity <= 0 ? leastRarity : rarity;
  }

  /** The ids in their order; null for questions with prefixes, ids or literal phrases, and for many rules. */
  return (query: SearchQuery, ids: number[]): number[] | null => {
    if (ids.length > atMost || !query.wants.every(isPhrase)) return null;
    const { rules, meanLength } = index();
    const phrases = query.wants.map(({ patterns: [phrase] }) => ({
      words: phrase!.parts.map(indexed),
      rarity: rarityOf(phrase!, rules),
    }));
    const scored = textsOf.all(JSON.stringify(ids)).map(({ texts, sizes, ...rule }) => {
      const columns = (JSON.parse(texts) as string[]).map(indexedWords);
      const length = saturation * (1 - lengthShare + (lengthShare * sum(varints(sizes))) / meanLength);
      const scores = phrases.map(({ words, rarity }) => {
        const count = sum(columns.map((column, at) => weights[at]! * countIn(column, words)));
        return rarity * ((count * (saturation + 1)) / (count + length));
      });
      return { ...rule, score: sum(scores) };
    });
    return scored
      .sort((a, b) => b.score - a.score || compareCodePoints(a.slug, b.slug) || a.ordinal - b.ordinal)
      .map(({ id }) => id);
  };
}

const isPhrase = ({ patterns, isLiteral }: SearchQuery['wants'][number]) =>
  !isLiteral && patterns.length === 1 && !patterns[0]!.isPrefix;

/** How often words stand in a row. */
function countIn(text: string[], words: string[]): number {
  let count = 0;
  for (let at = text.indexOf(words[0]!); at >= 0; at = text.indexOf(words[0]!, at + 1))
    if (words.every((word, offset) => text[at + offset] === word)) count++;
  return count;
}

/** The numbers of a record of FTS5: seven bits in each byte, the highest first. */
function varints(record: Buffer): number[] {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of record) {
    number = number * 128 + (byte & 127);
    if (byte >= 128) continue;
    numbers.push(number);
    number = 0;
  }
  return numbers;
}

const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);
