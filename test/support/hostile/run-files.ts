import { rmSync } from 'node:fs';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { runImport } from '../../../importers/run.ts';
import type { Database } from '../../../src/db/database.ts';
import { emptyCatalog } from '../prepared.ts';
import { put, scratchFolder } from '../scratch.ts';
import { type Damage, damaged, damages, type SampleFile, sampleFiles } from './files.ts';
import { heapInUse } from './heap.ts';
import { seed } from './seed.ts';

const perRun = 20;
const outcomes = new Set(['imported', 'unchanged', 'superseded', 'skipped', 'rejected']);

/** Texts in the catalog that no file may leave there: replacement characters, NULs. The ledger and the columns for searching, whose parts NULs keep apart, are left out. */
function spoiledTexts({ sqlite }: Database): string[] {
  const tables = sqlite
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'import_%'",
    )
    .pluck()
    .all() as string[];
  return tables.flatMap((table) => {
    const columns = sqlite
      .prepare(`SELECT name FROM pragma_table_info('${table}') WHERE type = 'TEXT' AND name <> 'search_text'`)
      .pluck()
      .all();
    return columns.flatMap((column) =>
      sqlite
        .prepare(
          `SELECT "${column}" FROM "${table}" WHERE instr("${column}", char(65533)) OR instr("${column}", char(0))`,
        )
        .pluck()
        .all()
        .map((text) => `${table}.${column}: ${JSON.stringify(text).slice(0, 100)}`),
    );
  });
}

/**
 * Imports so many damaged files, a few in a run: every run ends, each file has its line with an outcome and a reason,
 * and the catalog stays whole, without replacement characters. Gives the outcomes, and the growth of the heap in MB.
 */
export async function runFiles(count: number): Promise<{ outcomes: Record<string, number>; growth: number }> {
  const samples = sampleFiles();
  const sound = await importAll(samples);
  assert.equal(
    sound.lines.filter((line) => line.outcome === 'rejected' || line.outcome === 'skipped'),
    [],
    'the samples are good',
  );
  const seen: Record<string, number> = {};

  const check = async (list: Damage[]) => {
    const files = list.map((each) => damaged(samples, each));
    for (const { outcome, reason } of (await importAll(files)).lines) {
      assert.ok(outcomes.has(outcome), outcome);
      seen[outcome] = (seen[outcome] ?? 0) + 1;
      if (outcome !== 'rejected' && outcome !== 'skipped') continue;
      assert.ok(reason !== null && reason.length > 0 && !/[\r\n]/.test(reason), `"${reason}"`);
      assert.not.match(reason, /\[object|TypeError|RangeError|Cannot read/, reason);
    }
  };
  const lists = fc.array(damages(samples.length), { minLength: 1, maxLength: perRun, size: 'max' });
  const property = fc.asyncProperty(lists, check);
  await fc.assert(property, { numRuns: 1, seed: seed + 1, includeErrorInReport: true });
  const start = await heapInUse();
  // A list holds half of the most on average.
  await fc.assert(property, { numRuns: Math.ceil((2 * count) / perRun), seed, includeErrorInReport: true });
  return { outcomes: seen, growth: (await heapInUse()) - start };
}

async function importAll(files: SampleFile[]) {
  const folder = scratchFolder();
  const db = emptyCatalog();
  try {
    const paths = files.map(({ name, bytes }, index) => put(folder, `${index}-${name}`, bytes));
    const result = await runImport(db, paths);
    assert.ok(result.lines.length >= files.length, 'each file has its line');
    assert.equal(spoiledTexts(db), []);
    assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
    assert.equal(db.sqlite.pragma('foreign_key_check'), []);
    return result;
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
