import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createControlService } from '../../src/catalog/controls/queries.ts';
import { createCoverageService } from '../../src/catalog/crosswalk/coverage.ts';
import { type CoverageQuery, coverageQuery } from '../../src/catalog/crosswalk/coverage-schema.ts';
import { createDeprecatedCcis } from '../../src/catalog/crosswalk/deprecated-ccis.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { createStigNameIndex } from '../../src/catalog/stigs/name-index.ts';
import { createListEntryService } from '../../src/collections/list-entries.ts';
import { createListEntryWriter } from '../../src/collections/list-entry-writer.ts';
import { createListSeenService } from '../../src/collections/list-seen.ts';
import { createListService } from '../../src/collections/lists.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { filesOf, importInto } from '../support/site.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// How long the coverage of a list of 50 STIGs takes: the first time after the catalog was opened, and once it was asked;
// beside it the queries that it cannot do without, in the same run. No answer is kept as bytes here.

const stigs = 50;
const times = 60;
const targets = { cold: 500, p95: 50 };

const questions: [name: string, query: string][] = [
  ['800-53', ''],
  ['800-53 moderate, rolled up', 'baseline=moderate&rollup=true'],
  ['800-53 Rev 4', 'revision=4'],
  ['800-171', 'framework=nist-800-171'],
  ['8500.2 MAC I', 'framework=dod-8500&baseline=MAC+I'],
  ['CCI', 'framework=cci'],
];

const viewer = {
  kind: 'user' as const,
  ...{ subject: 'bench', email: null, organization: null, entitlements: new Set<never>(), expiresAt: 0 },
};

/** Runs the benchmark of coverage, and prints its table. */
export async function benchCoverage(): Promise<void> {
  const folder = scratchFolder();
  const files = filesOf(join(folder, 'g.db'));
  const list = await fill(folder, files.db);
  console.log(
    `\ncoverage of a list of ${stigs} STIGs, milliseconds of processor time; the longest hold by the clock`,
  );
  console.log(
    '                                 cold  its queries     p50     p95     max  its queries  longest hold',
  );
  for (const [name, text] of questions) {
    const query = coverageQuery.parse(Object.fromEntries(new URLSearchParams(text)));
    // The queries first and by themselves: whoever comes later finds the pages of the file in memory.
    const db = openDatabase(files);
    const own = await measured(() => queriesOf(db, list, query));
    const ownAgain = await measured(() => queriesOf(db, list, query));
    db.close();
    const { cold, rest, hold } = await coverageOf(openDatabase(files), list, query);
    const at = (share: number) => rest[Math.floor(share * (rest.length - 1))]!;
    const cells = [cold, own, at(0.5), at(0.95), at(1), ownAgain, hold];
    const widths = [9, 13, 8, 8, 8, 13, 14];
    console.log(
      name.padEnd(28) + cells.map((cell, index) => cell.toFixed(1).padStart(widths[index]!)).join(''),
    );
  }
  console.log(`target: cold below ${targets.cold} ms, p95 below ${targets.p95} ms`);
}

async function fill(folder: string, db: string): Promise<string> {
  const real = hasReferenceData
    ? ['oscal', 'sp800-171', 'cci', 'cci-2025-01-23', 'dod-8500'].map((each) => reference(each))
    : [];
  const own = Array.from({ length: stigs }, (_, index) => put(folder, `in/${index}.xml`, sample(index)));
  await importInto(db, [shipped(), ...benchmarkPaths, ...real, ...own]);
  const database = openDatabase(filesOf(db));
  let id = 0;
  const newId = () => `00000000-0000-4000-8000-${String(++id).padStart(12, '0')}`;
  const now = () => new Date();
  const made = await createListService(
    database,
    now,
    newId,
    createListSeenService(
      database,
      () => new Date(),
      (name) => name,
    ),
  ).create(viewer, {
    ...{ name: 'Fifty', description: '', tags: [], color: '', icon: '', visibility: 'PRIVATE' },
  });
  const slugs = database.sqlite
    .prepare<[number], string>(
      'SELECT s.slug FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id ORDER BY r.finding_count DESC LIMIT ?',
    )
    .pluck()
    .all(stigs);
  await createListEntryWriter(database, now, createStigNameIndex(database)).add(viewer, made.id, slugs);
  database.close();
  return made.id;
}

/** A STIG of ours, as large as most, whose rules cite the CCIs that those of the real ones cite. */
function sample(index: number): string {
  const title = `Sample Product ${index} Security Technical Implementation Guide`;
  const rules = sampleRules(120, `OWN-${index}`, 2_000_000 + 200 * index).map((rule, at) => ({
    ...rule,
    ccis: [`CCI-${String(1 + ((37 * at + index) % 3000)).padStart(6, '0')}`, 'CCI-000366'],
    fixTexts: ['Do it. '.repeat(100)],
    checks: ['Look at it. '.repeat(100)],
  }));
  return writeXccdf({ id: `Sample_${index}`, title, rules });
}

/** What no answer can do without: the entries of the list, their rules, the controls of the revision. */
function queriesOf(db: Database, list: string, { framework, revision }: CoverageQuery): number {
  const { stigs: found } = createListEntryService(
    db,
    createStigNameIndex(db).slugOf,
    createListSeenService(
      db,
      () => new Date(),
      (name) => name,
    ),
  ).releases(viewer, list);
  const rules = db.sqlite
    .prepare(
      'SELECT group_id, rule_id, rule_title, severity, ccis FROM findings WHERE release_id = ? ORDER BY ordinal',
    )
    .raw();
  const version = createControlService(db).versionOf(framework, revision);
  const controls = db.sqlite
    .prepare(
      'SELECT identifier, title, family, filter_words FROM controls WHERE framework = ? AND version = ? ORDER BY ordinal',
    )
    .raw()
    .all(framework, version);
  return found.reduce((sum, { release }) => sum + rules.all(release!.id).length, controls.length);
}

async function coverageOf(db: Database, list: string, query: CoverageQuery) {
  const controls = createControlService(db);
  const coverage = createCoverageService(db, controls, createCrosswalkService(db), createDeprecatedCcis(db));
  const entries = createListEntryService(
    db,
    createStigNameIndex(db).slugOf,
    createListSeenService(
      db,
      () => new Date(),
      (name) => name,
    ),
  );
  const ask = async () =>
    JSON.stringify(await coverage.of(() => entries.releases(viewer, list).stigs, query)).length;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cold = await measured(ask);
  const rest: number[] = [];
  for (let turn = 0; turn < times; turn++) rest.push(await measured(ask));
  delay.disable();
  db.close();
  return { cold, rest: rest.sort((a, b) => a - b), hold: delay.max / 1e6 };
}

/** Milliseconds of processor time, since a busy machine would be measured otherwise. */
async function measured(work: () => unknown): Promise<number> {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}
