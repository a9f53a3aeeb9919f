// `npm test [-- --real] [-- --deep] [-- WORD...]` runs the test files whose path contains a word, or all, in a few
// processes at a time (support/lane.ts). A file `NAME.test.ts` belongs to the core; `NAME.deep.test.ts` kills, measures
// or starts whole programs, and tries longer with --long. Tests that read the publishers' files run with --real, or with a word. --package and
// --browser run nothing but `NAME.package.test.ts` and `NAME.browser.test.ts`, one file after the other.
// uvu alone exits 0 when a `before` throws, a `.run()` is forgotten or nothing matches: here each is a failure.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { folderOfCatalogs } from './support/cache.ts';
import { isBundled, isDeep, isLong, leftOut, made, preparedFolder, readsReal } from './support/harness.ts';
import { fileEnd, type Printed, runLane } from './support/lane.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { outside } from './support/watched.ts';

type Runner = () => Promise<[errors: string | true, ran: number, skipped: number, total: number]>;

const root = dirname(fileURLToPath(import.meta.url));
const given = process.argv.slice(2);
const words = given.filter((argument) => !argument.startsWith('--'));
const unknown = given.filter((argument) => /^--(?!(real|deep|long|package|browser|only)$)/.test(argument));
if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(' ')}`);
/** The files that the runner names, one after the other, in this process: what it asks of its children. */
const only = given.includes('--only');
/** The kind of which the files run alone. */
const apart = ['package', 'browser'].find((kind) => given.includes(`--${kind}`));
const kindOf = (file: string) => /\.(\w+)\.test\.ts$/.exec(file)?.[1];
const all = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .sort();
const matching = (kind: string | undefined, list: string[]) =>
  all.filter(
    (file) => kindOf(file) === kind && (words.length === 0 || list.some((word) => file.includes(word))),
  );
/** With words, the deep files run for each word that no file of the core matches. */
const deepGiven = given.includes('--deep') || given.includes('--long');
const deepWords = deepGiven
  ? words
  : words.filter((word) => !all.some((file) => kindOf(file) === undefined && file.includes(word)));
const withDeep = deepGiven || deepWords.length > 0;
const files = apart
  ? matching(apart, words)
  : [...(withDeep ? matching('deep', deepWords) : []), ...matching(undefined, words)];

process.exitCode = 1;
if (!only) {
  const folder = mkdtempSync(join(apart ? tmpdir() : temporaryFolder(), 'gapstone-test-'));
  // Programs that run as another account have their folders below.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  process.env[preparedFolder] = folderOfCatalogs();
  if (deepGiven) process.env[isDeep] = '1';
  if (given.includes('--long')) {
    process.env[isLong] = '1';
    process.env.GAPSTONE_SEED ??= String(Date.now() % 0x7fffffff);
    process.stdout.write(`GAPSTONE_SEED=${process.env.GAPSTONE_SEED} repeats the random cases\n`);
  }
  if (given.includes('--real') || words.length > 0 || apart) process.env[readsReal] = '1';
  if (withDeep || apart) {
    execFileSync(process.execPath, [join(root, '..', 'src', 'build.mjs')], { stdio: 'inherit' });
    process.env[isBundled] = '1';
    // For the command line, which many tests start: Node keeps there what it compiled.
    process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');
  }
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}
const queue: Runner[][] = [];
Object.assign(globalThis, { UVU_QUEUE: queue });
const totals = { passed: 0, failed: 0, skipped: 0 };
const problems: string[] = [];
/** The lines of a stack that the runner and the packages below it have part in. */
const ofRunner = /^ +at .*(?:node_modules|test\/run\.ts|test\/support\/properties\.ts).*\n/gm;
/** What was left out, each with its file, by the sentence that says how to bring what it needs. */
const missing = new Map<string, string[]>();
/** Stands before each problem in what a child prints, and before all that it left out. */
const problemMark = '\u0001';
const missingMark = '\u0002';

/** Counts tests as skipped that need what is not here. */
function skip(bring: string, names: string[]): void {
  totals.skipped += names.length;
  missing.set(bring, [...(missing.get(bring) ?? []), ...names]);
}

function fail(message: string, count = 1): void {
  totals.failed += count;
  problems.push(message);
}

if (only) {
  process.once('disconnect', () => process.exit());
  let index = 0;
  process.on('message', async (name: string) => {
    // A file that waits for what never comes ends the process, as alone.
    process.channel!.unref();
    process.exitCode = 1;
    await runFile(index++, name);
    report();
    process.stdout.write(fileEnd);
    Object.assign(totals, { passed: 0, failed: 0, skipped: 0 });
    problems.length = 0;
    missing.clear();
    process.exitCode = 0;
    process.channel?.ref();
  });
} else if (apart || files.length < 2) for (const [index, file] of files.entries()) await runFile(index, file);
else {
  const waiting = files.map((name) => ({ name, path: join(root, name) }));
  // Two more than there are processors, as many tests wait for a while; not many, as each takes memory.
  const lanes = Math.min(4, availableParallelism() + 2);
  const endedBadly = (name: string, ended: unknown) => fail(`${name}: its process ended with ${ended}`);
  await Promise.all(
    Array.from({ length: lanes }, () =>
      runLane(fileURLToPath(import.meta.url), () => waiting.shift(), take, endedBadly),
    ),
  );
}

/** Runs the suites of one file here. */
async function runFile(index: number, name: string): Promise<void> {
  queue.push([]);
  Object.assign(globalThis, { UVU_INDEX: index });
  const before = made.suites;
  const start = performance.now();
  const usedBefore = processorTime();
  process.stdout.write(`${name}\n`);
  try {
    await import(pathToFileURL(join(root, name)).href);
  } catch (error) {
    fail(`${name}: the file cannot be loaded: ${(error as Error).stack}`);
    return;
  }
  const suites = queue[index]!;
  const without = leftOut.splice(0);
  for (const { name: title, bring } of without) skip(bring, [`${name}: ${title}`]);
  // Its suite counts a test that it leaves out.
  totals.skipped -= without.filter(({ of }) => of === 'test').length;
  if (suites.length + without.length === 0) fail(`${name}: no suite ran`);
  if (suites.length !== made.suites - before) fail(`${name}: a suite was made but not run`);
  for (const run of suites) await runSuite(name, run);
  if (without.length > 0) process.stdout.write(` ${without.length} skipped\n`);
  for (const problem of outside.splice(0)) fail(`${name}: ${problem}`);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(
    `    ${seconds} s, ${(processorTime() - usedBefore).toFixed(1)} s of processor time\n`,
  );
}

/** The seconds of processor time of this process and, where the kernel tells it, of the programs that it ran to their end. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  if (process.platform !== 'linux') return (user + system) / 1e6;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return (user + system) / 1e6 + (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Takes what a child printed of a file, and its counts; one that ended without them failed. */
function take(name: string, { out, ended }: Printed): void {
  const [text, counts] = out.split(/\n(?=\d+ passed, \d+ failed, \d+ skipped\n$)/);
  const [tests, without] = text!.split(missingMark);
  const [suites = '', ...found] = tests!.split(problemMark);
  process.stdout.write(`${suites.trimEnd()}\n`);
  problems.push(...found.map((problem) => problem.trim()));
  const numbers = /^(\d+) passed, (\d+) failed, (\d+) skipped/.exec(counts ?? '');
  if (numbers === null) {
    fail(`${name}: its process ended with ${ended} before its tests did\n${found.join()}`);
    return;
  }
  totals.passed += Number(numbers[1]);
  totals.failed += Number(numbers[2]);
  totals.skipped += Number(numbers[3]);
  for (const [bring, names] of Object.entries<string[]>(JSON.parse(without ?? '{}'))) {
    totals.skipped -= names.length;
    skip(bring, names);
  }
}

async function runSuite(name: string, run: Runner): Promise<void> {
  try {
    const [errors, ran, skipped, total] = await run();
    totals.passed += ran;
    totals.skipped += skipped;
    if (errors !== true) problems.push(`${name}: ${errors.replace(ofRunner, '').trimEnd()}`);
    if (total + skipped === 0) fail(`${name}: a suite without tests`);
    if (ran < total) totals.failed += total - ran;
    if (ran < total && errors === true)
      problems.push(`${name}: ${total - ran} tests did not run (a hook failed)`);
  } catch (error) {
    fail(`${name}: a hook failed: ${(error as Error).stack}`);
  }
}

/** Prints what was found, and what was left out, with the counts. */
function report(): void {
  for (const problem of problems) process.stdout.write(`\n${only ? problemMark : ''}${problem}\n`);
  if (only) process.stdout.write(`\n${missingMark}${JSON.stringify(Object.fromEntries(missing))}\n`);
  else
    for (const [bring, names] of missing)
      process.stdout.write(`\nskipped: ${names.sort().join('\nskipped: ')}\n${bring}\n`);
  process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped\n`);
}

if (!only) {
  if (files.length === 0) fail('no test file matches');
  process.exitCode = totals.failed === 0 && totals.passed + totals.skipped > 0 ? 0 : 1;
  report();
}
