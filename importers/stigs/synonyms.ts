import { count, hasAtMost, indexedWords } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { beginsWithColumn, type CsvRow, readCsv } from '../read/csv.ts';
import type { StagedFacts } from '../read/parsed.ts';
import { type Parsed, stored } from '../read/parsed.ts';
import { excerpt } from '../read/source-text.ts';

const kind = 'synonyms-csv';
const columns = ['words', 'reason'];
const limits = { rows: 5000, words: 20, characters: 100, reason: 1000 };

/** True for a text whose header begins like that of synonyms, even with faults. */
export function isSynonymsCsv(text: string): boolean {
  return beginsWithColumn(text, columns[0]!);
}

/** Words and phrases that stand for each other in a search (rule D35.1), each as `indexedWords` joined by blanks. */
interface SynonymGroup {
  row: number;
  words: string[];
  reason: string;
}

/** The content of a csv of synonyms. */
export interface SynonymsContent {
  type: 'synonyms';
  groups: SynonymGroup[];
}

/** Reads groups of synonyms (data/README.md). Throws `ImportError` naming row and column. */
export function parseSynonymsCsv(text: string): Parsed<SynonymsContent> {
  const table = readCsv(text, kind);
  if (table.columns.join() !== columns.join())
    throw new ImportError(`row 1: the header is not ${columns.join(',')}`, kind);
  const beyond = table.rows[limits.rows];
  if (beyond)
    throw new ImportError(`row ${beyond.number}: a file has at most ${count(limits.rows, 'row')}`, kind);
  return stored(kind, { type: 'synonyms', groups: table.rows.map(readGroup) });
}

function readGroup(row: CsvRow): SynonymGroup {
  const fault = (column: string, what: string) =>
    new ImportError(`row ${row.number}, column ${column}: ${what}`, kind);
  const reason = row.cell('reason');
  if (!hasAtMost(reason, limits.reason))
    throw fault('reason', `it has more than ${count(limits.reason, 'character')}`);
  const texts = row
    .cell('words')
    .split(';', limits.words + 1)
    .map((text) => text.trim());
  if (texts.length < 2) throw row.fault('words', 'is no group: separate two or more words by semicolons');
  if (texts.length > limits.words) throw fault('words', `a group has at most ${count(limits.words, 'word')}`);
  const words = new Map<string, string>();
  for (const text of texts) {
    const named = `"${excerpt(text)}"`;
    if (!hasAtMost(text, limits.characters))
      throw fault('words', `${named} has more than ${count(limits.characters, 'character')}`);
    if (!/[\p{L}\p{Nd}\p{Nl}]/u.test(text)) throw fault('words', `${named} has no letter or digit`);
    const word = indexedWords(text).join(' ');
    const before = words.get(word);
    if (before !== undefined)
      throw fault('words', `${named} and "${excerpt(before)}" are the same to a search`);
    words.set(word, text);
  }
  return { row: row.number, words: [...words.keys()], reason };
}

/** Stores the synonyms of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageSynonyms({ sqlite }: Database, sourceId: number, groups: SynonymGroup[]): StagedFacts {
  const insert = sqlite.prepare('INSERT INTO synonym_groups VALUES (?, ?, ?, ?)');
  for (const { row, words, reason } of groups) insert.run(sourceId, row, JSON.stringify(words), reason);
  const words = new Set(groups.flatMap((group) => group.words));
  return { target: 'synonyms', counts: { groups: groups.length, words: words.size } };
}
