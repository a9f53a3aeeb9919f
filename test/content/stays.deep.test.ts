import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { openCatalog } from '../../src/db/database.ts';
import { digestOf } from '../../src/db/digest.ts';
import { listMigrations } from '../../src/db/migrate.ts';
import { sampleKey } from '../support/bundles.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rules D44.1 and D42.8: a signed catalog stays what it is, and what was taken back stays away.
const stays = suite('A catalog that came in a bundle');

const alive = new Set<ChildProcess>();
stays.after(() => {
  for (const child of alive) child.kill('SIGKILL');
});

const names = ['Depot', 'Later', 'Local', 'Former', 'New', 'Other'] as const;
const benchmark = (name: (typeof names)[number], date = '01 Jan 2026') =>
  writeXccdf({
    id: `${name}_STIG`,
    title: `${name} STIG`,
    stem: name.toUpperCase(),
    first: 300_001 + 100 * names.indexOf(name),
    date,
  });
const facts = ['controls/nist-800-171_rev2.csv'];

/** A copy of the program with little data, which a test may change as a new version would. */
function program(): string {
  const folder = scratchFolder();
  for (const name of ['package.json', 'node_modules'])
    symlinkSync(join(packageRoot, name), join(folder, name));
  cpSync(join(packageRoot, 'migrations'), join(folder, 'migrations'), { recursive: true });
  for (const name of ['src', 'chunks'])
    cpSync(join(packageRoot, 'dist', name), join(folder, 'dist', name), { recursive: true });
  for (const name of [...facts, 'stigs', 'regulatory'])
    cpSync(shipped(...name.split('/')), join(folder, 'data', name), { recursive: true });
  return folder;
}

/** The data of a new version: a fact and a sample more, and one sample that is another. */
function changeData(home: string, sample: (typeof names)[number]): void {
  const fact = 'controls/nist-800-171_rev3.csv';
  cpSync(shipped(...fact.split('/')), join(home, 'data', fact));
  put(home, `data/stigs/${sample}.xml`, benchmark(sample));
  put(home, 'data/stigs/U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml', benchmark(sample, '02 Feb 2026'));
}

/** A new version whose catalog has another schema. */
function addMigration(home: string): void {
  const number = String(listMigrations('catalog').length + 1).padStart(4, '0');
  const sql =
    'CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;\nUPDATE catalog SET generation = generation;\n';
  writeFileSync(join(home, 'migrations', 'catalog', `${number}_later.sql`), sql);
}

/** A site with a program of its own, in a folder of its own. */
function site(home: string, inbox: string | null = null) {
  const folder = scratchFolder();
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GAPSTONE_'));
  const env: NodeJS.ProcessEnv = Object.fromEntries(own);
  if (inbox !== null) env.GAPSTONE_INBOX = inbox;
  let probes = 0;

  function launch(args: string[]) {
    const cli = join(home, 'dist', 'src', 'cli.js');
    const child = spawn(process.execPath, [cli, ...args], { cwd: folder, env });
    alive.add(child);
    const out = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (part: string) => {
        out[name] += part;
      });
    const ended = new Promise<number | null>((resolve) =>
      child.on('close', (code) => {
        alive.delete(child);
        resolve(code);
      }),
    );
    return { child, out, ended };
  }

  /** As what lies beside the program has no part in it. */
  const run = (...args: string[]) => commandHere(args, { cwd: folder, env });

  async function runOwn(...args: string[]): ReturnType<typeof run> {
    const { out, ended } = launch(args);
    return { code: await ended, ...out };
  }

  async function good(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    assert.is(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  /** Starts and stops the server; what lies in the inbox was looked at in between. */
  async function restart(...args: string[]): Promise<string> {
    const { child, out, ended } = launch(['start', '--port', '0', '--no-token', ...args]);
    await until('it listens, or ended', () => out.stdout.includes('"listening"') || !alive.has(child));
    if (inbox !== null) {
      // It stood still no longer than what lay there before, and is refused in the same import.
      const probe = put(inbox, `probe${probes++}.xml`, `<probe${probes}`);
      await until('the inbox was read', () => out.stdout.includes(probe));
    }
    child.kill('SIGTERM');
    assert.is(await ended, 0, out.stderr);
    return out.stderr;
  }

  function digest(): string {
    const sqlite = new Sqlite(join(folder, 'gapstone.db'), { readonly: true });
    try {
      return digestOf(sqlite);
    } finally {
      sqlite.close();
    }
  }

  const slugs = () => {
    const sqlite = new Sqlite(join(folder, 'gapstone.db'), { readonly: true });
    try {
      return sqlite.prepare<[], string>('SELECT slug FROM stigs ORDER BY slug').pluck().all();
    } finally {
      sqlite.close();
    }
  };
  return { folder, env, run, runOwn, good, restart, digest, slugs };
}

type Site = ReturnType<typeof site>;

let made: ReturnType<typeof makeDepot> | undefined;

/** What the depot of all tests sends. */
const depot = () => (made ??= makeDepot());

/** A depot's catalog, and what it sends: a whole bundle, a difference to it, and a whole one after that. */
async function makeDepot() {
  const key = sampleKey('depot');
  const { folder, good } = site(packageRoot);
  const sources = facts.map((name) => shipped(...name.split('/')));
  const [one, two, three] = ['Depot', 'Later', 'New'].map((name) =>
    put(folder, `${name}.xml`, benchmark(name as 'Depot')),
  ) as [string, string, string];
  const build = async (name: string, sequence: number, ...more: string[]) => {
    const args = ['--out', name, '--key', key.file, '--sequence', String(sequence), ...more];
    return JSON.parse(await good('content', 'build', '--json', ...args)) as { digest: string };
  };
  await good('import', ...sources, one);
  const first = await build('first', 1);
  await good('import', two);
  const difference = await build('second', 2, '--since', 'first', '--sources', two);
  await good('import', three);
  const whole = await build('third', 3);
  const at = (name: string) => join(folder, name);
  return {
    key,
    first: { file: at('first'), digest: first.digest },
    second: { file: at('second'), digest: difference.digest },
    third: { file: at('third'), digest: whole.digest },
  };
}

async function refuses({ run }: Pick<Site, 'run'>, file: string, why: RegExp): Promise<void> {
  const { code, stderr } = await run('content', 'apply', file);
  assert.is(code, 1, stderr);
  assert.match(stderr, why);
}

for (const withInbox of [false, true])
  stays(`has one digest through all that follows, ${withInbox ? 'with' : 'without'} an inbox`, async () => {
    const home = program();
    const { key, ...bundles } = await depot();
    const inbox = withInbox ? join(scratchFolder(), 'inbox') : null;
    if (inbox !== null) mkdirSync(inbox);
    const here = site(home, inbox);
    await here.restart();
    assert.equal(here.slugs(), ['harbor_linux_3', 'lantern_web_server_2']);
    await here.good('content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot');
    await here.good('backup', 'sample.zip');
    if (inbox !== null) {
      put(inbox, 'local.xml', benchmark('Local'));
      await here.restart();
      assert.ok(here.slugs().includes('local'));
      // What came with the package is no reason, what the inbox brought is.
      await refuses(here, bundles.first.file, /holds 1 source that it lacks: local\.xml \(local\);/);
    }
    const before = here.digest();
    await here.good('backup', '--users-only', 'users.db');
    await here.good('content', 'apply', bundles.first.file, ...(withInbox ? ['--drop-local'] : []));
    const same = (what: string) => assert.is(here.digest(), bundles.first.digest, what);
    same('applied');

    assert.not.match(await here.restart(), /imported/);
    same('after a restart');
    changeData(home, 'Former');
    await here.restart();
    same('after a restart with other data');
    await here.restart('--no-samples');
    same('after a restart with other data, without samples');
    await here.good('backup', 'bundle.zip');

    await here.good('restore', 'bundle.zip');
    await here.restart();
    same('after a restore of both files');
    await here.good('restore', 'users.db');
    await here.restart();
    same("after a restore of users' data from before the bundle");
    await refuses(here, bundles.first.file, /it is applied already: sequence 1 of the channel main/);

    await here.good('restore', 'sample.zip');
    await here.restart();
    // What the restore took back lies in the inbox, as before; the catalog is no bundle's, so the new data comes.
    assert.not.ok(here.slugs().includes('local'));
    assert.not.equal(here.digest(), before);
    await here.good('content', 'apply', bundles.first.file);
    same('applied again after a restore of both files from before');
    await here.restart();
    same('and after a restart');

    await here.good('content', 'apply', bundles.second.file);
    assert.is(here.digest(), bundles.second.digest, 'the difference');
    await refuses(here, bundles.first.file, /its sequence 1 is not greater than 2/);
    await here.restart();
    await here.good('restore', 'bundle.zip');
    same('the first one again, by a restore');
    await refuses(here, bundles.first.file, /its sequence 1 is not greater than 2/);
    await here.good('content', 'apply', bundles.second.file);
    await here.restart();
    assert.is(here.digest(), bundles.second.digest);

    addMigration(home);
    assert.match(await here.restart(), /gapstone\.db was upgraded from schema/);
    assert.is(here.digest(), bundles.second.digest, 'after an upgrade of the catalog');
    await refuses({ run: here.runOwn }, bundles.first.file, /its sequence 1 is not greater than 2/);
  });

stays('a rollback stays one: the inbox brings nothing back, unless it changes or is named', async () => {
  const home = program();
  const { key, ...bundles } = await depot();
  const inbox = join(scratchFolder(), 'inbox');
  const here = site(home, inbox);
  mkdirSync(inbox);
  await here.good('import', bundles.first.file.replace(/first$/, 'Depot.xml'));
  await here.good('content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot');
  await here.good('content', 'apply', bundles.third.file);
  put(inbox, 'local.xml', benchmark('Local'));
  put(inbox, 'folder/former.xml', benchmark('Former'));
  await here.restart();
  assert.equal(here.slugs(), ['depot', 'former', 'later', 'local', 'new']);
  await here.good('content', 'rollback');
  assert.equal(here.slugs(), ['depot']);
  await here.restart('--no-samples');
  assert.equal(here.slugs(), ['depot']);
  // Of a folder that changed, what is new comes alone.
  put(inbox, 'folder/other.xml', benchmark('Other'));
  await here.restart('--no-samples');
  assert.equal(here.slugs(), ['depot', 'other']);
  put(inbox, 'local.xml', benchmark('Local', '03 Mar 2026'));
  await here.restart('--no-samples');
  assert.equal(here.slugs(), ['depot', 'local', 'other']);
  await here.good('import', `${inbox}/folder`);
  assert.equal(here.slugs(), ['depot', 'former', 'local', 'other']);
});

stays('what was imported by name and dropped by a bundle is not brought back by an inbox', async () => {
  const home = program();
  const { key, ...bundles } = await depot();
  const inbox = join(scratchFolder(), 'inbox');
  const here = site(home, inbox);
  put(inbox, 'local.xml', benchmark('Local'));
  put(inbox, 'folder/former.xml', benchmark('Former'));
  await here.good('import', inbox);
  await here.good('content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot');
  await here.good('content', 'apply', '--drop-local', bundles.first.file);
  await here.restart();
  assert.is(here.digest(), bundles.first.digest);
});

stays('a catalog that an import makes anew takes from the inbox what the lost one held', async () => {
  const inbox = join(scratchFolder(), 'inbox');
  const here = site(program(), inbox);
  mkdirSync(inbox);
  put(inbox, 'local.xml', benchmark('Local'));
  await here.restart();
  assert.ok(here.slugs().includes('local'));
  rmSync(join(here.folder, 'gapstone.db'));
  await here.good('import', put(scratchFolder(), 'other.xml', benchmark('Other')));
  await here.restart();
  assert.ok(here.slugs().includes('local'));
});

stays('a catalog that is made anew has the shipped data, and may have the bundle again', async () => {
  const home = program();
  const { key, first } = await depot();
  const { file: bundle, digest } = first;
  const here = site(home);
  await here.restart();
  await here.good('content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot');
  await here.good('content', 'apply', bundle);
  rmSync(join(here.folder, 'gapstone.db'));
  assert.match(await here.restart(), /imported the shipped data/);
  assert.ok(here.slugs().includes('harbor_linux_3'));
  // As a start leaves it that was killed before it had imported anything.
  rmSync(join(here.folder, 'gapstone.db'));
  openCatalog(join(here.folder, 'gapstone.db'), { create: true }).close();
  assert.match(await here.restart(), /imported the shipped data/);
  assert.ok(here.slugs().includes('harbor_linux_3'));
  await here.good('content', 'apply', bundle);
  assert.is(here.digest(), digest);
});

stays('facts come without the samples where that is asked for', async () => {
  const home = program();
  const here = site(home);
  const kinds = () => {
    const sqlite = new Sqlite(join(here.folder, 'gapstone.db'), { readonly: true });
    const all = sqlite.prepare<[], string>('SELECT DISTINCT kind FROM sources ORDER BY kind').pluck().all();
    sqlite.close();
    return all;
  };
  await here.restart('--no-samples');
  assert.equal(kinds(), ['controls-csv']);
  here.env.GAPSTONE_SAMPLES = 'off';
  await here.restart();
  assert.equal(kinds(), ['controls-csv']);
  here.env.GAPSTONE_SAMPLES = 'on';
  await here.restart();
  assert.equal(kinds(), ['controls-csv', 'regdoc', 'xccdf']);
});

stays.run();
