import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createStigChangesService } from '../../src/catalog/stigs/changes.ts';
import { createRuleHistoryService } from '../../src/catalog/stigs/history.ts';
import { openCatalog } from '../../src/db/database.ts';
import { gapstone } from '../support/child.ts';
import { killAll, startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// How long it takes to say what changed in a catalog of 1,000 releases of 100 rules, two of each STIG: asked for the first
// time by the service alone and over HTTP, then again and again, each time since another day.

const stigs = 500;
const rulesPerStig = 100;
const again = 300;

/** Runs the benchmark of changes and histories, and prints its table. */
export async function benchChanges(): Promise<void> {
  const cwd = scratchFolder();
  for (let stig = 0; stig < stigs; stig++)
    for (const release of [1, 2]) put(cwd, `in/${stig}-${release}.xml`, sample(stig, release));
  const imported = await gapstone(['import', '--json', join(cwd, 'in')], { cwd });
  if (imported.code !== 0) throw new Error(imported.stderr);
  const { summary } = JSON.parse(imported.stdout.trimEnd().split('\n').at(-1)!);
  console.log(
    `changes: ${2 * stigs} releases of ${rulesPerStig} rules, imported in ${Math.round(summary.ms)} ms`,
  );
  console.log('question                                first    p50     p95     max  (milliseconds)');
  const print = (name: string, first: number, times: number[]) => {
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;
    const figures = [first, at(0.5), at(0.95), at(1)].map((time) => time.toFixed(1).padStart(8));
    console.log(`${name.padEnd(37)}${figures.join('')}`);
  };
  const timed = async (work: () => unknown) => {
    const from = performance.now();
    await work();
    return performance.now() - from;
  };
  const measure = async (name: string, ask: (round: number) => unknown) => {
    const first = await timed(() => ask(0));
    const times: number[] = [];
    for (let round = 1; round <= again; round++) times.push(await timed(() => ask(round)));
    print(name, first, times);
  };
  // Every day between the two releases asks for the same pairs, under another address.
  const day = (round: number) => new Date(Date.UTC(2023, 0, 2 + round)).toISOString().slice(0, 10);

  const ruleOf = (round: number) => `V-${200_000 + ((317 * round) % (stigs * rulesPerStig))}`;

  const db = openCatalog(join(cwd, 'gapstone.db'));
  const changes = createStigChangesService(db);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await measure('changes of the catalog, service', (round) => changes.ofCatalog(day(round)));
  console.log(`  the event loop was held for ${(delay.max / 1e6).toFixed(0)} ms at most`);
  delay.reset();
  const lines = await timed(() => changes.linesOfCatalog(day(0)));
  console.log(`  its lines: ${lines.toFixed(0)} ms, the loop held for ${(delay.max / 1e6).toFixed(0)} ms`);
  const histories = createRuleHistoryService(db);
  await measure('one rule over time, service', (round) => histories.history(ruleOf(round)));
  db.close();

  const token = (await gapstone(['token', 'issue', '--subject', 'bench'], { cwd })).stdout.trim();
  const server = await startServer(cwd, ['serve', '--port', '0'], { GAPSTONE_RATE_LIMIT: 'off' });
  const get = async (path: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.arrayBuffer();
  };
  const catalog = '/api/v1/stigs/changes?since=';
  await measure('changes of the catalog, other days', (round) => get(catalog + day(round)));
  await measure('changes of the catalog, asked again', () => get(catalog + day(0)));
  await measure('one rule over time', (round) => get(`/api/v1/rules/${ruleOf(round)}`));
  console.log(
    `  csv of the catalog: ${(await timed(() => get(`${catalog}${day(0)}&format=csv`))).toFixed(0)} ms`,
  );
  console.log('targets: first below 500, p95 below 50 once asked');
  killAll();
}

function sample(stig: number, release: number): string {
  const first = 200_000 + rulesPerStig * stig;
  const rules = sampleRules(rulesPerStig, `OWN-${stig}`, first).map((rule, index) => ({
    ...rule,
    severity: release === 2 && index % 20 === 0 ? 'high' : 'medium',
    checks: [
      `Look at ${index}${release === 2 && index % 5 === 0 ? ' twice' : ''}. ${'A text. '.repeat(100)}`,
    ],
  }));
  const date = release === 1 ? '01 Jan 2023' : '01 Jan 2026';
  const title = `Sample Product ${stig} Security Technical Implementation Guide`;
  return writeXccdf({ id: `Sample_${stig}`, title, release, date, rules });
}
