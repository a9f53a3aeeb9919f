// Runs every test file under this folder, or those whose path contains an argument, in one process. Two kinds are left
// out and run alone: with --faults what is in `faults/`, which takes minutes; with --browser what drives a browser.
// uvu alone exits 0 when a `before` throws, a `.run()` is forgotten or nothing matches: here each is a failure.
import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { made } from './support/harness.ts';

type Runner = () => Promise<[errors: string | true, ran: number, skipped: number, total: number]>;

const root = dirname(fileURLToPath(import.meta.url));
const flags = ['--faults', '--browser'];
const wanted = process.argv.slice(2).filter((argument) => !flags.includes(argument));
const faults = process.argv.includes('--faults');
const ending = process.argv.includes('--browser') ? '.browser.js' : '.test.js';
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((file) => relative(root, file).startsWith('faults') === faults)
  .filter((file) => wanted.length === 0 || wanted.some((word) => relative(root, file).includes(word)))
  .sort();

process.exitCode = 1;
const queue: Runner[][] = [];
Object.assign(globalThis, { UVU_QUEUE: queue });
const totals = { passed: 0, failed: 0, skipped: 0 };
const problems: string[] = [];

function fail(message: string, count = 1): void {
  totals.failed += count;
  problems.push(message);
}

for (const [index, file] of files.entries()) {
  const name = relative(root, file).replace(/\.js$/, '.ts');
  queue.push([]);
  Object.assign(globalThis, { UVU_INDEX: index });
  const before = made.suites;
  const start = performance.now();
  process.stdout.write(`${name}\n`);
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    fail(`${name}: the file cannot be loaded: ${(error as Error).stack}`);
    continue;
  }
  const suites = queue[index]!;
  if (suites.length === 0) fail(`${name}: no suite ran`);
  if (suites.length !== made.suites - before) fail(`${name}: a suite was made but not run`);
  for (const run of suites) await runSuite(name, run);
  process.stdout.write(`    ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
}

async function runSuite(name: string, run: Runner): Promise<void> {
  try {
    const [errors, ran, skipped, total] = await run();
    totals.passed += ran;
    totals.skipped += skipped;
    if (errors !== true) problems.push(`${name}: ${errors}`);
    if (total === 0) fail(`${name}: a suite without tests`);
    if (ran < total) totals.failed += total - ran;
    if (ran < total && errors === true)
      problems.push(`${name}: ${total - ran} tests did not run (a hook failed)`);
  } catch (error) {
    fail(`${name}: a hook failed: ${(error as Error).stack}`);
  }
}

if (files.length === 0) fail('no test file matches');
for (const problem of problems) process.stdout.write(`\n${problem}\n`);
process.exitCode = totals.failed === 0 && totals.passed > 0 ? 0 : 1;
process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped\n`);
