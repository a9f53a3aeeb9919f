import { runImport } from '../../importers/run.ts';
import { createCciLookup } from '../../src/catalog/crosswalk/cci-lookup.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { createSearchService } from '../../src/catalog/search/queries.ts';
import { openCatalog } from '../../src/db/database.ts';
import { benchmarkPaths } from '../support/real-files.ts';

// How long a search over all real rules takes, snippets and totals included: each question once, as it comes.
// Processor time, since a busy machine would be measured otherwise.

const questions = 600;
const target = 20;

/** Runs the benchmark of searching, and prints its table. */
export async function benchSearching(): Promise<void> {
  const db = openCatalog(':memory:', { create: true });
  await runImport(db, benchmarkPaths);
  const service = createSearchService(db, createCciLookup(db, createCrosswalkService(db)));
  const texts = db.sqlite
    .prepare<[], string>(
      'SELECT title || char(10) || discussion || char(10) || check_content FROM searchable_rules',
    )
    .pluck()
    .all();
  const pick = <T>(list: T[]): T => list[Math.floor(Math.random() * list.length)]!;
  const words = () => pick(texts).match(/\w+/g) ?? ['the'];
  const phrase = () => {
    const line = pick(texts).split(' ');
    const from = Math.floor(Math.random() * line.length);
    return line
      .slice(from, from + 2 + Math.floor(Math.random() * 3))
      .join(' ')
      .replaceAll('"', '');
  };
  const kinds: [name: string, question: () => string][] = [
    ['a word', () => pick(words())],
    ['words of a phrase', phrase],
    ['a quoted phrase', () => `"${phrase()}"`],
    ['a prefix', () => `${pick(words()).slice(0, 4)}*`],
    ['the commonest', () => pick(['the', 'system', 'the system', '"the system"', 'must be', 'of the'])],
  ];
  console.log(
    `search: milliseconds of processor time of ${questions} questions over ${service.search({ q: 'CCI', page: 1, limit: 1 }).pagination.total} rules`,
  );
  console.log('question             p50     p95     max');
  for (const [name, question] of kinds) {
    const times = Array.from({ length: questions }, () => {
      const q = [...question()].slice(0, 200).join('') || 'the';
      const start = process.cpuUsage();
      service.search({ q, page: 1, limit: 20 });
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    }).sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor(share * (questions - 1))]!.toFixed(2).padStart(8);
    console.log(`${name.padEnd(17)}${at(0.5)}${at(0.95)}${at(1)}`);
  }
  console.log(`target: p95 below ${target} ms`);
  db.close();
}
