import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as assert from 'uvu/assert';
import { ImportError } from '../../importers/errors.ts';
import { createPipeline } from '../../importers/parsers/pipeline.ts';
import { createParserPool } from '../../importers/parsers/pool.ts';
import type { Found } from '../../importers/read/discover.ts';
import { runImport } from '../../importers/run.ts';
import { sha256 } from '../../src/base/ids.ts';
import { dumpCatalog, emptyCatalog } from '../support/catalog-dump.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

const padding = 'A long text of a rule. '.repeat(2000);

/** A benchmark of some hundred kilobytes. */
function large(number: number, rules = 12): string {
  const list = sampleRules(rules, `LARGE${number}`, 1000 * (number + 1)).map((rule) => ({
    ...rule,
    description: `<VulnDiscussion>${padding}${number}</VulnDiscussion>`,
  }));
  return writeXccdf({ id: `Large_${number}_STIG`, title: `Large ${number} STIG`, rules: list });
}

/** A folder with enough benchmarks for threads, and among them every other thing that a run meets. */
function mixedFolder(): string {
  const folder = scratchFolder();
  for (let number = 0; number < 20; number++)
    put(folder, `${String(number).padStart(2, '0')}.xml`, large(number));
  put(folder, '03 again.xml', large(3));
  put(folder, '05 cut.xml', large(5).slice(0, -20));
  put(folder, '06 twice.xml', large(6).replace(/SV-\d+r\d+_rule/g, 'SV-1r1_rule'));
  put(folder, '07 doctype.xml', large(7).replace('<Benchmark', '<!DOCTYPE Benchmark>\n<Benchmark'));
  put(folder, '08 scap.xml', '<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2"/>');
  put(folder, '09.txt', 'of no kind');
  put(folder, '10.html', '<!DOCTYPE html><html/>');
  return folder;
}

const test = suite('parsing ahead, in threads');

test('the ledger and the catalog are the same with and without threads', async () => {
  const folder = mixedFolder();
  const runs = [];
  for (const threads of [0, 1, 3]) {
    const db = emptyCatalog();
    const seen: unknown[] = [];
    const { lines, summary } = await runImport(db, [folder], {
      threads,
      onProgress: (each) => seen.push(each),
    });
    const { ms: _, phases: __, ...totals } = summary;
    runs.push({ lines: lines.map(({ ms: ___, ...line }) => line), totals, seen, dump: dumpCatalog(db) });
    db.close();
  }
  assert.is(runs[0]!.totals.imported, 20);
  assert.is(runs[0]!.totals.rejected, 3);
  assert.is(runs[0]!.totals.unchanged, 1);
  assert.equal(runs[1], runs[0]);
  assert.equal(runs[2], runs[0]);
});

test('a strict run that fails writes nothing, with threads too', async () => {
  const folder = mixedFolder();
  const db = emptyCatalog();
  const { stored, summary } = await runImport(db, [folder], { threads: 2, strict: true });
  assert.not.ok(stored);
  assert.is(summary.rejected, 3);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM sources').pluck().get(), 0);
  db.close();
});

test('a process that imported with threads ends by itself', async () => {
  const folder = scratchFolder();
  for (let number = 0; number < 20; number++) put(folder, `${number}.xml`, large(number));
  const { code, stdout } = await gapstone([
    'import',
    folder,
    '--json',
    '--db',
    join(scratchFolder(), 'x.db'),
  ]);
  assert.is(code, 0);
  assert.is(JSON.parse(stdout.trimEnd().split('\n').at(-1)!).summary.imported, 20);
});

/** A pool whose threads run a program of the test. */
function poolOf(program: string) {
  const file = join(scratchFolder(), 'thread.mjs');
  writeFileSync(file, `import { parentPort } from 'node:worker_threads';\n${program}`);
  return createParserPool(1, pathToFileURL(file));
}

async function failureOf(program: string): Promise<Error> {
  const pool = poolOf(program);
  try {
    await pool.parse(Buffer.from('x'), false);
  } catch (error) {
    // What comes after a stop fails too, at once.
    if (/stopped/.test((error as Error).message))
      await pool.parse(Buffer.from('y'), false).then(
        () => assert.unreachable(),
        (again) => assert.is(again, error),
      );
    return error as Error;
  } finally {
    await pool.close();
  }
  return assert.unreachable() as never;
}

test('a thread that dies, hangs up or throws is an error that says so, never a hang', async () => {
  const died = await failureOf('parentPort.on("message", () => process.exit(7));');
  assert.is(died.message, 'a parser thread stopped (exit code 7): nothing was changed');
  const threw = await failureOf('parentPort.on("message", () => { throw new Error("broken"); });');
  assert.is(threw.message, 'a parser thread stopped (broken): nothing was changed');
  const unborn = await failureOf('throw new Error("no module");');
  assert.match(unborn.message, /no module/);
  const fault = await failureOf(
    'parentPort.on("message", ({ id }) => parentPort.postMessage({ id, ms: 1, fault: "a bug" }));',
  );
  assert.is(fault.message, 'a parser failed: a bug');
});

test('a thread reads benchmarks and leaves everything else to the main thread', async () => {
  const pool = createParserPool(1);
  const read = (text: string) =>
    pool.parse(Buffer.from(text), false).then(({ parsed }) => parsed?.kind ?? null);
  assert.is(await read(large(1)), 'xccdf');
  assert.is(await read(large(1).slice(0, -20)), null);
  assert.is(await read('<catalog xmlns="http://csrc.nist.gov/ns/oscal/1.0"/>'), null);
  assert.is(pool.backlog(), 0);
  await pool.close();
});

test('what is read and not taken stays bounded, and the order is that of the walk', async () => {
  let read = 0;
  const text = Buffer.from(large(1, 40));
  const total = 60;
  async function* walk(): AsyncGenerator<Found> {
    for (let index = 0; index < total; index++) {
      read = index + 1;
      const bytes = Buffer.from(text);
      yield { type: 'bytes', source: `${index}`, bytes, sha256: sha256(`${index}`), lone: false };
    }
  }
  const options = { strict: false, threads: 1, isKnown: () => false, onSpent: () => {} };
  const pipeline = createPipeline(walk(), options);
  let most = 0;
  for (let index = 0; index < total; index++) {
    const source = (await pipeline.next())!;
    assert.is((source.found as { source: string }).source, `${index}`);
    assert.not.ok((await pipeline.outcomeOf(source)) instanceof ImportError);
    most = Math.max(most, read - index);
  }
  assert.is(await pipeline.next(), null);
  await pipeline.close();
  const bound = Math.ceil((16 * 1024 * 1024) / text.length) + 1;
  assert.ok(most <= bound && most < total, `${most} of ${total} were held, ${bound} fit`);
});

test.run();
