import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { SaxesParser } from 'saxes';
import { packageRoot } from '../../src/base/root.ts';
import { hasReferenceData, reference } from '../support/reference.ts';
import { scratchFolder } from '../support/scratch.ts';

const rounds = 5;
const wantedBytes = 40e6;

interface Run {
  ms: number;
  phases: Record<string, number>;
  peakMb: number;
  cpuMs: number;
}

/** Another build of this project, to be measured in turns with this one: the folder that holds its `dist`. */
const otherBuild = process.env.GAPSTONE_BENCH_OTHER;

function importOnce(db: string, ...paths: string[]): Run {
  return importWith(packageRoot, db, ...paths);
}

/** Imports in a process of its own, as a user does; gives what its summary says, and what the process used. */
function importWith(build: string, db: string, ...paths: string[]): Run {
  const program = `
    process.on('exit', () => {
      const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
      process.stderr.write('\\n' + JSON.stringify({ maxRSS, cpu: userCPUTime + systemCPUTime }) + '\\n');
    });
  `;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [
      ...['--import', `data:text/javascript,${encodeURIComponent(program)}`],
      ...[join(build, 'dist', 'src', 'cli.js'), 'import', '--json', '--db', db, ...paths],
    ],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (status === null || status === 2) throw new Error(`the import ended with ${status}: ${stderr}`);
  const { summary } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!);
  const { maxRSS, cpu } = JSON.parse(stderr.trimEnd().split('\n').at(-1)!);
  return { ms: summary.ms, phases: summary.phases, peakMb: maxRSS / 1024, cpuMs: cpu / 1000 };
}

/** A benchmark under other names: id, title, V-, SV- and STIG IDs. */
function renamed(text: string, copy: number): string {
  return text
    .replace(/(<Benchmark\b[^>]*\sid=["'])/, `$1Copy${copy}_`)
    .replace('<title>', `<title>Copy ${copy} of `)
    .replace(/\b(S?V)-(\d{4,6})/g, `$1-${copy}$2`)
    .replace(/(<version>[A-Z][A-Z0-9]*)-/g, `$1${copy}-`);
}

/** Writes the real benchmarks and renamed copies of them until there are 40 MB; gives the bytes. */
function writeCopies(folder: string): number {
  mkdirSync(folder, { recursive: true });
  let bytes = 0;
  for (let copy = 0; bytes < wantedBytes; copy++) {
    for (const file of readdirSync(reference('xccdf'))) {
      const text = readFileSync(reference('xccdf', file), 'utf8');
      const written = Buffer.from(copy === 0 ? text : renamed(text, copy));
      writeFileSync(join(folder, `${copy}-${file}`), written);
      bytes += written.length;
      if (bytes >= wantedBytes) break;
    }
  }
  return bytes;
}

/** The milliseconds that a strict XML parser alone takes for the files of a folder, on one thread. */
function passOfSaxes(folder: string): number {
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const from = performance.now();
  for (const text of texts) new SaxesParser({ xmlns: true }).write(text.replace(/^\uFEFF/, '')).close();
  return performance.now() - from;
}

function byTime(runs: Run[]): { best: Run; median: Run } {
  const sorted = [...runs].sort((a, b) => a.ms - b.ms);
  return { best: sorted[0]!, median: sorted[Math.floor(sorted.length / 2)]! };
}

function repeat(work: (round: number) => Run): Run[] {
  return Array.from({ length: rounds }, (_, round) => work(round));
}

const print = (...cells: (string | number)[]) =>
  process.stdout.write(
    `${cells.map((cell, index) => String(cell).padEnd(index === 0 ? 44 : 16)).join('')}\n`,
  );
const ratio = (a: Run, b: Run) => (a.ms / b.ms).toFixed(2);
const ms = (time: number) => `${Math.round(time)} ms`;

function printPhases(run: Run): void {
  const parts = Object.entries(run.phases).filter(([, time]) => time >= 1);
  process.stdout.write(`  ${parts.map(([phase, time]) => `${phase} ${Math.round(time)}`).join(', ')}\n`);
  process.stdout.write(
    `  ${ms(run.cpuMs)} of processor time in all, start included; ${Math.round(run.peakMb)} MB at most\n`,
  );
}

/**
 * Measures imports: 40 MB of benchmarks, one release into a full catalog and into an empty
 * one, the closure. Each run is a process of its own on files that were read before. `GAPSTONE_BENCH_OTHER=FOLDER` compares
 * the first with another build.
 */
export async function benchImport(): Promise<void> {
  if (!hasReferenceData) {
    process.stdout.write('import: the reference data is not here\n');
    return;
  }
  const folder = scratchFolder();
  const db = (name: string) => join(folder, `${name}.db`);
  const fresh = (name: string) => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${db(name)}${end}`, { force: true });
    return db(name);
  };
  process.stdout.write(
    `import, on ${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown'}, best and median of ${rounds}\n\n`,
  );
  print('', 'best', 'median', 'target');

  const copies = join(folder, 'copies');
  const bytes = writeCopies(copies);
  // In turns, so that a machine that slows down slows both.
  const others: Run[] = [];
  const own = repeat(() => {
    if (otherBuild) others.push(importWith(otherBuild, fresh('large'), copies));
    return importOnce(fresh('large'), copies);
  });
  const large = byTime(own);
  const rate = (run: Run) => `${(bytes / 1000 / run.ms).toFixed(1)} MB/s`;
  print(`${(bytes / 1e6).toFixed(1)} MB of benchmarks`, rate(large.best), rate(large.median), '40 MB/s');
  printPhases(large.best);
  if (otherBuild) {
    const other = byTime(others);
    print('  the other build', rate(other.best), rate(other.median));
    printPhases(other.best);
    print('  ratio', ratio(large.best, other.best), ratio(large.median, other.median), '1.15');
  }
  const passes = Array.from({ length: rounds }, () => passOfSaxes(copies)).sort((a, b) => a - b);
  const pass = (time: number) => `${(bytes / 1000 / time).toFixed(1)} MB/s`;
  print('  for scale: saxes alone, nothing stored', pass(passes[0]!), pass(passes[2]!));

  const rest = readdirSync(reference()).filter((name) => !['xccdf', 'README.md'].includes(name));
  const all = repeat(() => importOnce(fresh('full'), ...rest.map((name) => reference(name)), copies));
  const closure = [...all].sort((a, b) => a.phases.closure! - b.phases.closure!);
  print(
    'closure of the real graph',
    ms(closure[0]!.phases.closure!),
    ms(closure[2]!.phases.closure!),
    '1500 ms',
  );
  const full = byTime(all);
  print('everything there is', ms(full.best.ms), ms(full.median.ms), '');
  printPhases(full.best);

  const release = join(folder, 'release.xml');
  const text = readFileSync(reference('xccdf', 'U_RHEL_9_STIG_V2R8_Manual-xccdf.xml'), 'utf8');
  writeFileSync(release, renamed(text, 7_000));
  // In turn, so that a machine that slows down slows both.
  const into: Record<'empty' | 'full', Run[]> = { empty: [], full: [] };
  for (let round = 0; round < 2 * rounds; round++) {
    into.empty.push(importOnce(fresh('empty'), release));
    copyFileSync(db('full'), fresh('copy'));
    into.full.push(importOnce(db('copy'), release));
  }
  const [empty, added] = [byTime(into.empty), byTime(into.full)];
  print('one release into an empty catalog', ms(empty.best.ms), ms(empty.median.ms));
  print('one release into a full catalog', ms(added.best.ms), ms(added.median.ms));
  // The digest is made anew by each import, over the whole catalog: what was added makes no difference.
  const digestOf = ({ phases }: Run) => phases.digest ?? 0;
  const withoutDigest = (run: Run) => ({ ...run, ms: run.ms - digestOf(run) });
  const [bare, more] = [into.empty, into.full].map((runs) => byTime(runs.map(withoutDigest))) as [
    ReturnType<typeof byTime>,
    ReturnType<typeof byTime>,
  ];
  print('  ratio without the digest', ratio(more.best, bare.best), ratio(more.median, bare.median), '1.20');
  print('  digest of the full catalog', ms(digestOf(added.best)), ms(digestOf(added.median)), '500 ms');
  printPhases(added.best);
  rmSync(folder, { recursive: true, force: true });
}
