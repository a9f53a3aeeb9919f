import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { openCatalog } from '../../src/db/database.ts';
import { digestOf } from '../../src/db/digest.ts';
import { newestSchema } from '../../src/db/schema.ts';
import { sampleKey } from '../support/bundles.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { facts, littleProgram, runBy } from '../support/little-program.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer, until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rules D44.1 and D42.8: a signed catalog stays what it is, and what was taken back stays away.
const stays = suite('A catalog that came in a bundle');
stays.after(killAll);

const names = ['Depot', 'Later', 'Local', 'Former', 'New', 'Other'] as const;
const benchmark = (name: (typeof names)[number], date = '01 Jan 2026') =>
  writeXccdf({
    id: `${name}_STIG`,
    title: `${name} STIG`,
    stem: name.toUpperCase(),
    first: 300_001 + 100 * names.indexOf(name),
    date,
  });
/** The data of a new version: a fact and a sample more, and one sample that is another. */
function changeData(home: string, sample: (typeof names)[number]): void {
  const fact = 'controls/nist-800-171_rev3.csv';
  cpSync(shipped(...fact.split('/')), join(home, 'data', fact));
  put(home, `data/stigs/${sample}.xml`, benchmark(sample));
  put(home, 'data/stigs/U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml', benchmark(sample, '02 Feb 2026'));
}

/** A new version whose catalog has another schema. */
function addMigration(home: string): void {
  const number = String(newestSchema('catalog') + 1).padStart(4, '0');
  const sql =
    'CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;\nUPDATE catalog SET generation = generation;\n';
  writeFileSync(join(home, 'migrations', 'catalog', `${number}_later.sql`), sql);
}

/** A site with a program of its own, in a folder of its own. */
function site(home: string, inbox: string | null = null) {
  const folder = scratchFolder();
  const env: Record<string, string> = inbox === null ? {} : { GAPSTONE_INBOX: inbox };
  let probes = 0;

  /** As what lies beside the program has no part in it. */
  const run = (...args: string[]) => commandHere(args, { cwd: folder, env });
  const runOwn = (...args: string[]) => gapstone(args, { cwd: folder, env, under: runBy(home) });

  async function good(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    assert.is(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  /** Starts and stops the server; what lies in the inbox was looked at in between. */
  async function restart(...args: string[]): Promise<string> {
    const start = ['start', '--port', '0', '--no-token', ...args];
    const { child, stdout, stderr, ended } = await startServer(folder, start, env, runBy(home));
    if (inbox !== null) {
      // It stood still no longer than what lay there before, and is refused in the same import.
      const probe = put(inbox, `probe${probes++}.xml`, `<probe${probes}`);
      await until('the inbox was read', () => stdout().includes(probe));
    }
    child.kill('SIGTERM');
    assert.is((await ended).code, 0, stderr());
    return stderr();
  }

  function read<T>(look: (sqlite: Sqlite.Database) => T): T {
    const sqlite = new Sqlite(join(folder, 'gapstone.db'), { readonly: true });
    try {
      return look(sqlite);
    } finally {
      sqlite.close();
    }
  }

  const digest = () => read(digestOf);
  const all = (sql: string) => read((sqlite) => sqlite.prepare<[], string>(sql).pluck().all());
  const slugs = () => all('SELECT slug FROM stigs ORDER BY slug');
  const kinds = () => all('SELECT DISTINCT kind FROM sources ORDER BY kind');
  return { folder, env, run, runOwn, good, restart, digest, slugs, kinds };
}

type Site = ReturnType<typeof site>;

let made: ReturnType<typeof makeDepot> | undefined;

/** What the depot of all tests sends. */
const depot = () => (made ??= makeDepot());

/** A depot's catalog, and what it sends: a bundle, and one after that. */
async function makeDepot() {
  const key = sampleKey('depot');
  const { folder, good } = site(packageRoot);
  const sources = facts.map((name) => shipped(...name.split('/')));
  const build = async (name: string, sequence: number) => {
    const args = ['--out', name, '--key', key.file, '--sequence', String(sequence)];
    const { digest } = JSON.parse(await good('content', 'build', '--json', ...args)) as { digest: string };
    return { file: join(folder, name), digest };
  };
  const [one, ...more] = (['Depot', 'Later', 'New'] as const).map((name) =>
    put(folder, `${name}.xml`, benchmark(name)),
  );
  await good('import', ...sources, one!);
  const first = await build('first', 1);
  await good('import', ...more);
  return { key, first, second: await build('second', 2) };
}

async function refuses({ run }: Pick<Site, 'run'>, file: string, why: RegExp): Promise<void> {
  const { code, stderr } = await run('content', 'apply', file);
  assert.is(code, 1, stderr);
  assert.match(stderr, why);
}

stays('has one digest through all that follows', async () => {
  const home = littleProgram();
  const { key, first, second } = await depot();
  const inbox = join(scratchFolder(), 'inbox');
  mkdirSync(inbox);
  const here = site(home, inbox);
  await here.restart();
  assert.equal(here.slugs(), ['harbor_linux_3', 'lantern_web_server_2']);
  await here.good('content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot');
  await here.good('backup', 'sample.zip');
  put(inbox, 'local.xml', benchmark('Local'));
  await here.restart();
  assert.ok(here.slugs().includes('local'));
  // What came with the package is no reason, what the inbox brought is.
  await refuses(here, first.file, /holds 1 source that it lacks: local\.xml \(local\);/);
  const before = here.digest();
  await here.good('backup', '--users-only', 'users.db');
  await here.good('content', 'apply', first.file, '--drop-local');
  const same = (what: string) => assert.is(here.digest(), first.digest, what);
  same('applied');
  changeData(home, 'Former');
  assert.not.match(await here.restart(), /imported/);
  same('after a restart with other data');
  await here.good('backup', 'bundle.zip');
  await here.good('restore', 'bundle.zip');
  same('after a restore of both files');
  await here.good('restore', 'users.db');
  await here.restart();
  same("after a restore of users' data from before the bundle");
  await refuses(here, first.file, /it is applied already: sequence 1 of the channel main/);

  await here.good('restore', 'sample.zip');
  await here.restart();
  // What the restore took back lies in the inbox, as before; the catalog is no bundle's, so the new data comes.
  assert.not.ok(here.slugs().includes('local'));
  assert.not.equal(here.digest(), before);
  await here.good('content', 'apply', first.file);
  same('applied again after a restore of both files from before');

  await here.good('content', 'apply', second.file);
  await refuses(here, first.file, /its sequence 1 is not greater than 2/);
  await here.good('restore', 'bundle.zip');
  same('the first one again, by a restore');
  await refuses(here, first.file, /its sequence 1 is not greater than 2/);
  await here.good('content', 'apply', second.file);
  addMigration(home);
  assert.match(await here.restart(), /gapstone\.db was upgraded from schema/);
  assert.is(here.digest(), second.digest, 'after an upgrade of the catalog');
  await refuses({ run: here.runOwn }, first.file, /its sequence 1 is not greater than 2/);
});

/** A program that no test changes. */
const home = littleProgram();

stays('a rollback stays one: the inbox brings nothing back, unless it changes or is named', async () => {
  const { key, ...bundles } = await depot();
  const inbox = join(scratchFolder(), 'inbox');
  const here = site(home, inbox);
  mkdirSync(inbox);
  await here.good('import', bundles.first.file.replace(/first$/, 'Depot.xml'));
  await here.good('content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot');
  await here.good('content', 'apply', bundles.second.file);
  put(inbox, 'local.xml', benchmark('Local'));
  put(inbox, 'folder/former.xml', benchmark('Former'));
  await here.restart();
  assert.equal(here.slugs(), ['depot', 'former', 'later', 'local', 'new']);
  await here.good('content', 'rollback');
  assert.equal(here.slugs(), ['depot']);
  await here.restart('--no-samples');
  assert.equal(here.slugs(), ['depot']);
  // Of a folder that changed, what is new comes alone; and a file that is another one.
  put(inbox, 'folder/other.xml', benchmark('Other'));
  put(inbox, 'local.xml', benchmark('Local', '03 Mar 2026'));
  await here.restart('--no-samples');
  assert.equal(here.slugs(), ['depot', 'local', 'other']);
  await here.good('import', `${inbox}/folder`);
  assert.equal(here.slugs(), ['depot', 'former', 'local', 'other']);
});

stays('what was imported by name and dropped by a bundle is not brought back by an inbox', async () => {
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

stays('a catalog that is made anew has the shipped data, and may have the bundle again', async () => {
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
  const here = site(home);
  here.env.GAPSTONE_SAMPLES = 'off';
  await here.restart();
  assert.equal(here.kinds(), ['controls-csv']);
  here.env.GAPSTONE_SAMPLES = 'on';
  await here.restart();
  assert.equal(here.kinds(), ['controls-csv', 'regdoc', 'xccdf']);
});

stays.run();
