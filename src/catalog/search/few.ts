import { indexedWords } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { indexed, type Pattern } from './pattern.ts';
import { matchOf, type SearchQuery } from './query.ts';
import { type Scored, weights } from './sql.ts';
import type { Vocabulary } from './vocabulary.ts';

/** More rules are read slower than FTS5 counts. */
const atMost = 50;
// The constants of bm25 in FTS5.
const [saturation, lengthShare, leastRarity] = [1.2, 0.75, 1e-6];

type Rarities = Pick<Vocabulary, 'rulesWith'>;

interface Texts {
  id: number;
  texts: string;
  sizes: Buffer;
}

/**
 * Prepares the bm25 of a few rules that have all words of a question: that of FTS5, which counts all rules of each word
 * for every question (17 of 20 words are common ones: that takes longer than all else).
 */
export function createFewScorer({ sqlite, generation }: Pick<Database, 'sqlite' | 'generation'>) {
  const textsOf = sqlite.prepare<[string], Texts>(
    `SELECT t.id, d.sz AS sizes, json_array(t.title, t.discussion, t.check_content, t.fix_text, t.ids) AS texts
       FROM json_each(?) AS id JOIN searchable_rules AS t ON t.id = id.value
       JOIN rule_search_docsize AS d ON d.id = t.id`,
  );
  const totals = sqlite.prepare<[], Buffer>('SELECT block FROM rule_search_data WHERE id = 1').pluck();
  const index = perGeneration({ generation }, () => {
    const [rules, ...words] = varints(totals.get()!);
    return { rules: rules!, meanLength: sum(words) / rules! };
  });

  const having = sqlite
    .prepare<[string], number>('SELECT count(*) FROM rule_search WHERE rule_search MATCH ?')
    .pluck();
  function rarityOf(phrase: Pattern, rules: number, { rulesWith }: Rarities): number {
    const words = phrase.parts.map(indexed);
    const have = words.length === 1 ? rulesWith(words[0]!) : having.get(matchOf(phrase))!;
    const rarity = Math.log((rules - have + 0.5) / (have + 0.5));
    return rarity <= 0 ? leastRarity : rarity;
  }

  /** The scores of rules; null for questions with prefixes, ids or literal phrases, and for many rules. */
  return (query: SearchQuery, found: { id: number }[], vocabulary: Rarities): Scored[] | null => {
    if (found.length > atMost || !query.wants.every(isPhrase)) return null;
    const { rules, meanLength } = index();
    const phrases = query.wants.map(({ patterns: [phrase] }) => ({
      words: phrase!.parts.map(indexed),
      rarity: rarityOf(phrase!, rules, vocabulary),
    }));
    return textsOf.all(JSON.stringify(found.map(({ id }) => id))).map(({ id, texts, sizes }) => {
      const columns = (JSON.parse(texts) as string[]).map(indexedWords);
      const length = saturation * (1 - lengthShare + (lengthShare * sum(varints(sizes))) / meanLength);
      const scores = phrases.map(({ words, rarity }) => {
        const count = sum(columns.map((column, at) => weights[at]! * countIn(column, words)));
        return rarity * ((count * (saturation + 1)) / (count + length));
      });
      return { id, score: -sum(scores) };
    });
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
