import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import { hasReferenceData, reference } from '../support/reference.ts';
import { scratchFolder } from '../support/scratch.ts';
import { middle, row } from './site.ts';

const rounds = 5;
const wantedBytes = 40e6;

interface Run {
  ms: number;
  phases: Record<string, number>;
}

/** Another build of this project, to be measured in turns with this one: the folder that holds its `dist`. */
const otherBuild = process.env.GAPSTONE_BENCH_OTHER;

/** Imports in a process of its own, as a user does; gives what its summary says. */
function importOnce(db: string, paths: string[], build = packageRoot): Run {
  const program = join(build, 'dist', 'src', 'cli.js');
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [program, 'import', '--json', '--db', db, ...paths],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (status === null || status === 2) throw new Error(`the import ended with ${status}: ${stderr}`);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!).summary;
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

function byTime(runs: Run[]): { best: Run; median: Run } {
  const sorted = [...runs].sort((a, b) => a.ms - b.ms);
  return { best: sorted[0]!, median: sorted[Math.floor(sorted.length / 2)]! };
}

function repeat(work: (round: number) => Run): Run[] {
  return Array.from({ length: rounds }, (_, round) => work(round));
}

const ratio = (a: Run, b: Run) => (a.ms / b.ms).toFixed(2);
const ms = (time: number) => `${Math.round(time)} ms`;

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
  row(`import, on ${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown'}`, 'best', 'median', 'target');

  const copies = join(folder, 'copies');
  const bytes = writeCopies(copies);
  // In turns, so that a machine that slows down slows both.
  const others: Run[] = [];
  const large = byTime(
    repeat(() => {
      if (otherBuild) others.push(importOnce(fresh('large'), [copies], otherBuild));
      return importOnce(fresh('large'), [copies]);
    }),
  );
  const rate = (run: Run) => (bytes / 1000 / run.ms).toFixed(1);
  row(`${(bytes / 1e6).toFixed(1)} MB of benchmarks, MB/s`, rate(large.best), rate(large.median), 40);
  if (otherBuild) {
    const other = byTime(others);
    row('  the other build', rate(other.best), rate(other.median));
    row('  ratio', ratio(large.best, other.best), ratio(large.median, other.median), '1.15');
  }

  const rest = readdirSync(reference()).filter((name) => !['xccdf', 'README.md'].includes(name));
  const all = repeat(() => importOnce(fresh('full'), [...rest.map((name) => reference(name)), copies]));
  const closures = all.map(({ phases }) => phases.closure!);
  row('closure of the real graph', ms(Math.min(...closures)), ms(middle(closures)), '1500 ms');

  const release = join(folder, 'release.xml');
  const text = readFileSync(reference('xccdf', 'U_RHEL_9_STIG_V2R8_Manual-xccdf.xml'), 'utf8');
  writeFileSync(release, renamed(text, 7_000));
  const into: Record<'empty' | 'full', Run[]> = { empty: [], full: [] };
  for (let round = 0; round < 2 * rounds; round++) {
    into.empty.push(importOnce(fresh('empty'), [release]));
    copyFileSync(db('full'), fresh('copy'));
    into.full.push(importOnce(db('copy'), [release]));
  }
  // The digest is made anew by each import, over the whole catalog: what was added makes no difference.
  const digestOf = ({ phases }: Run) => phases.digest ?? 0;
  const withoutDigest = (run: Run) => ({ ...run, ms: run.ms - digestOf(run) });
  const [bare, more] = [byTime(into.empty.map(withoutDigest)), byTime(into.full.map(withoutDigest))];
  const ratios = [ratio(more.best, bare.best), ratio(more.median, bare.median)];
  row('one release into a full catalog by an empty one', ...ratios, '1.20');
  const digests = into.full.map(digestOf);
  row('  digest of the full catalog', ms(Math.min(...digests)), ms(middle(digests)), '500 ms');
  rmSync(folder, { recursive: true, force: true });
}
