import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { checkKeys, localKey } from '../../src/auth/keys.ts';
import { readConfig } from '../../src/base/config.ts';
import { CommandError } from '../../src/base/errors.ts';
import { type Files, openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { applicationIds, type Kind } from '../../src/db/header.ts';
import { listMigrations } from '../../src/db/migrate.ts';
import { openUpgraded } from '../../src/db/upgrade-files.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { filesIn, filesOf, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const kinds: Kind[] = ['catalog', 'users'];
const newest = listMigrations('catalog').length;
const newestOf = (kind: Kind) => listMigrations(kind).length;
const fileOf = ({ db, usersDb }: Files, kind: Kind) => (kind === 'catalog' ? db : usersDb);

const samples = filesOf(join(scratchFolder(), 'g.db'));
const sample = samples.db;
{
  const catalog = openCatalog(sample, { create: true });
  await runImport(catalog, [shipped('stigs')]);
  catalog.close();
  const db = openDatabase(samples);
  db.sqlite.exec(
    "INSERT INTO favorite_stigs VALUES ('ann', 'harbor_linux_3', 'h', 'H', '2026-01-01T00:00:00.000Z')",
  );
  db.close();
}
const bytesOf = { catalog: readFileSync(sample), users: readFileSync(samples.usersDb) };
const pageSize = bytesOf.catalog.readUInt16BE(16);
assert.is(bytesOf.users.readUInt16BE(16), pageSize);

/** Everything about the files of a folder that a refusal must leave as it is. */
function stateOf(folder: string): Record<string, string> {
  const state: Record<string, string> = {};
  for (const name of readdirSync(folder).sort()) {
    const { mode, size, ino } = lstatSync(join(folder, name));
    const hash = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    // The index of a log is made anew by whoever reads it; it holds nothing of its own.
    state[name] = `${ino} ${mode.toString(8)} ${size} ${name.endsWith('-shm') ? '' : hash}`;
  }
  return state;
}

async function refusalOf(work: () => unknown): Promise<string> {
  try {
    const db = (await work()) as { close?(): void } | undefined;
    db?.close?.();
  } catch (error) {
    assert.instance(error, CommandError, (error as Error).stack);
    const { message } = error as Error;
    assert.not.match(message, /\n/);
    return message;
  }
  return 'nothing was refused';
}

interface Site {
  folder: string;
  files: Files;
  /** The one of the kind that was asked for. */
  file: string;
}

/** A new folder with both files, that of a kind with these bytes. */
function place(kind: Kind, bytes: Uint8Array = bytesOf[kind]): Site {
  const folder = scratchFolder();
  const files = filesOf(join(folder, 'g.db'));
  for (const each of kinds) writeFileSync(fileOf(files, each), each === kind ? bytes : bytesOf[each]);
  return { folder, files, file: fileOf(files, kind) };
}

/** Asserts that opening is refused with a message, however it is opened, and that every file stays as it is. */
async function assertRefused({ folder, files, file }: Site, message: RegExp): Promise<void> {
  const before = stateOf(folder);
  for (const open of [
    ...(file === files.db ? [() => openCatalog(file), () => openCatalog(file, { create: true })] : []),
    () => openDatabase(files),
    () => openDatabase(files, { create: true }),
    () => openUpgraded(files, { create: true, checkUnclean: true }),
  ]) {
    assert.match(await refusalOf(open), message);
    assert.equal(stateOf(folder), before);
  }
  // Nor is the other one made where it is missing.
  rmSync(file === files.db ? files.usersDb : files.db);
  const alone = stateOf(folder);
  assert.match(await refusalOf(() => openUpgraded(files, { create: true, checkUnclean: true })), message);
  assert.equal(stateOf(folder), alone);
}

/** Files of which one has a log that waits beside it, as a kill leaves the two; `change` is in the log alone. */
function unclean(kind: Kind, change: (sqlite: Sqlite.Database) => void): Site {
  const from = place(kind);
  const sqlite = new Sqlite(from.file);
  sqlite.pragma('journal_mode = WAL');
  change(sqlite);
  const to = place(kind);
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(`${from.file}${suffix}`, `${to.file}${suffix}`);
  sqlite.close();
  assert.ok(lstatSync(`${to.file}-wal`).size > 0);
  return to;
}

const refuse = suite('Start-up: what is refused is left as it was');

refuse('a file cut at any place', async () => {
  for (const kind of kinds) {
    const whole = bytesOf[kind];
    for (let part = 0; part < 40; part++) {
      const length = part < 4 ? [0, 1, 16, 99][part]! : Math.floor((whole.length * part) / 41);
      await assertRefused(
        place(kind, whole.subarray(0, length)),
        /is not a database|is not a Gapstone database|is truncated: \d+ bytes of \d+/,
      );
    }
    const site = place(kind);
    truncateSync(site.file, whole.length - 1);
    await assertRefused(site, /is truncated/);
  }
});

refuse('an empty file: it is no fresh install, and the line says what to do', async () => {
  for (const kind of kinds)
    await assertRefused(
      place(kind, Buffer.alloc(0)),
      /g(-users)?\.db is not a database \(0 bytes\): restore a backup with "gapstone restore", or move the file away to start with a new database$/,
    );
});

refuse("a catalog in the place of users' data, and users' data in that of the catalog", async () => {
  await assertRefused(
    place('users', bytesOf.catalog),
    /g-users\.db is a catalog, not a file of users' data$/,
  );
  await assertRefused(place('catalog', bytesOf.users), /g\.db is a file of users' data, not a catalog$/);
});

refuse('flipped bytes in the pages of the schema: never a crash, never a change', async () => {
  for (const kind of kinds) {
    const whole = bytesOf[kind];
    const sqlite = new Sqlite(fileOf(samples, kind), { readonly: true });
    const pages = sqlite
      .prepare<[], number>("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")
      .pluck()
      .all();
    sqlite.close();
    assert.ok(pages.length > 2, `${kind}: ${pages.length}`);
    let refused = 0;
    let tries = 0;
    for (const page of pages) {
      const start = (page - 1) * pageSize;
      for (let step = 0; step < 16; step++) {
        // The head of the page closely, the rest of it here and there; the header of the file has its own tests.
        const offset = (page === 1 ? 100 : 0) + (step < 10 ? step : step * 240);
        const bytes = Buffer.from(whole);
        bytes[start + offset]! ^= 0xff;
        const { folder, files } = place(kind, bytes);
        const before = stateOf(folder);
        const message = await refusalOf(() => openDatabase(files, { asItIs: true }));
        if (message !== 'nothing was refused') {
          refused++;
          assert.match(
            message,
            /is damaged \(.+\): restore a backup|has schema|is not a Gapstone database|is refused: .+/,
          );
        }
        assert.equal(stateOf(folder), before, `${kind}, page ${page}, byte ${offset}: ${message}`);
        tries++;
      }
    }
    assert.ok(refused > tries / 2, `${refused} of ${tries}`);
  }
});

refuse('a schema of the right number and other tables', async () => {
  for (const [kind, change, message] of [
    [
      'catalog',
      'ALTER TABLE findings RENAME COLUMN fix_text TO fix',
      /g\.db is refused: the table findings does not belong to Gapstone, and \d+ more: run "gapstone check"$/,
    ],
    [
      'users',
      'ALTER TABLE bundles RENAME COLUMN name TO title',
      /g-users\.db is refused: the table bundles does not belong to Gapstone$/,
    ],
  ] as const) {
    const site = place(kind);
    const sqlite = new Sqlite(site.file);
    sqlite.exec(change);
    sqlite.close();
    await assertRefused(site, message);
  }
});

refuse('a newer schema, in the file and in a log that was not closed', async () => {
  for (const kind of kinds) {
    const message = new RegExp(
      `has schema 999, this version of Gapstone supports ${newestOf(kind)} at most: use a newer Gapstone`,
    );
    const site = place(kind);
    const sqlite = new Sqlite(site.file);
    sqlite.pragma('user_version = 999');
    sqlite.close();
    await assertRefused(site, message);
    await assertRefused(
      unclean(kind, (each) => each.pragma('user_version = 999')),
      message,
    );
  }
});

/** A change of each kind of file. */
const changes = {
  catalog: 'UPDATE catalog SET generation = 4711',
  users: "UPDATE favorite_stigs SET title = 'in the log'",
};

refuse(
  'a damaged page beside a log that was not closed: every page is looked at before the log is taken',
  async () => {
    for (const kind of kinds) {
      const site = unclean(kind, (sqlite) => sqlite.exec(changes[kind]));
      const table = { catalog: 'findings', users: 'integration_tokens' }[kind];
      const sqlite = new Sqlite(fileOf(samples, kind), { readonly: true });
      const page = sqlite
        .prepare('SELECT max(pageno) FROM dbstat WHERE name = ?')
        .pluck()
        .get(table) as number;
      sqlite.close();
      const bytes = readFileSync(site.file);
      bytes.fill(0xff, (page - 1) * pageSize, (page - 1) * pageSize + 64);
      writeFileSync(site.file, bytes);
      const before = stateOf(site.folder);
      const message = await refusalOf(() => openUpgraded(site.files, { checkUnclean: true }));
      assert.match(message, /is damaged \(.+\): restore a backup/);
      assert.equal(stateOf(site.folder), before);
    }
  },
);

refuse('a log that was not closed is taken when everything is whole', async () => {
  for (const kind of kinds) {
    const { files, file } = unclean(kind, (sqlite) => sqlite.exec(changes[kind]));
    const db = await openUpgraded(files, { checkUnclean: true });
    if (kind === 'catalog')
      assert.is(db.sqlite.prepare('SELECT generation FROM catalog').pluck().get(), 4711);
    else assert.is(db.sqlite.prepare('SELECT title FROM favorite_stigs').pluck().get(), 'in the log');
    db.close();
    assert.not(existsSync(`${file}-wal`));
  }
});

/** Whether this process may write what others may not, and can act as somebody who may not. */
const isRoot = process.getuid?.() === 0;
const nobody = 65534;

function asNobody<T>(work: () => T): T {
  if (!isRoot) return work();
  process.setegid!(nobody);
  process.seteuid!(nobody);
  try {
    return work();
  } finally {
    process.seteuid!(0);
    process.setegid!(0);
  }
}

function nobodyReadsPackage(): boolean {
  return asNobody(() => {
    try {
      return readFileSync(listMigrations('users')[0]!.file).length > 0;
    } catch {
      return false;
    }
  });
}

// Where the package lies in a folder of root's own, nobody else can run it either.
if (nobodyReadsPackage()) {
  refuse('a file, or a folder, that may not be written', async () => {
    const rights = (path: string, mode: string) =>
      `${path} belongs to uid \\d+, gid \\d+ \\(mode ${mode}\\), and this process is uid ${process.geteuid!() || nobody},`;
    const file = '/\\S*/g(-users)?\\.db';
    const cases: [string, number, number, string][] = [
      [
        'the file',
        0o755,
        0o444,
        `^${file} cannot be written: EACCES: permission denied: ${rights(file, '0444')}`,
      ],
      [
        'the file, and its folder',
        0o555,
        0o444,
        `^${file} cannot be written: EACCES.*: ${rights(file, '0444')}`,
      ],
      [
        'the folder',
        0o555,
        0o644,
        `^${file} cannot be opened \\(.+\\): its folder must be writable, .+: ${rights('/[^ ]+', '0555')}`,
      ],
      ['the file, not even read', 0o755, 0o000, `^${file} cannot be read: EACCES.*: ${rights(file, '0000')}`],
    ];
    for (const kind of kinds)
      for (const [name, folderMode, fileMode, message] of cases) {
        const { folder, files, file } = place(kind);
        if (isRoot) for (const path of [folder, ...Object.values(files)]) chownSync(path, nobody, nobody);
        chmodSync(file, fileMode);
        chmodSync(folder, folderMode);
        const before = isRoot ? stateOf(folder) : readdirSync(folder);
        let said = 'nothing was refused';
        asNobody(() => {
          try {
            // Of the two, the catalog is written by importers, who open it alone.
            (kind === 'catalog' ? openCatalog(file) : openDatabase(files)).close();
          } catch (error) {
            assert.instance(error, CommandError);
            said = (error as Error).message;
          }
        });
        assert.match(said, new RegExp(message), `${kind}: ${name}`);
        assert.equal(isRoot ? stateOf(folder) : readdirSync(folder), before, name);
        chmodSync(folder, 0o700);
      }
  });

  refuse('is not a catalog that cannot be written, nor its folder: users write beside', async () => {
    const { folder, files } = place('catalog');
    const usersFolder = scratchFolder();
    const usersDb = join(usersFolder, 'u.db');
    if (isRoot) for (const path of [folder, files.db, usersFolder]) chownSync(path, nobody, nobody);
    chmodSync(files.db, 0o444);
    chmodSync(folder, 0o555);
    const before = isRoot ? stateOf(folder) : readdirSync(folder);
    asNobody(() => {
      const db = openDatabase({ db: files.db, usersDb });
      assert.is(db.sqlite.prepare('SELECT count(*) FROM stigs').pluck().get(), 2);
      db.sqlite.exec("INSERT INTO favorite_stigs VALUES ('ann', 'harbor_linux_3', 'h', 'H', 't')");
      db.close();
    });
    assert.equal(isRoot ? stateOf(folder) : readdirSync(folder), before);
    assert.equal(readdirSync(usersFolder), ['u.db']);
    chmodSync(folder, 0o700);
  });

  refuse('a new database where nothing may be written', () => {
    const folder = scratchFolder();
    if (isRoot) chownSync(folder, nobody, nobody);
    chmodSync(folder, 0o555);
    assert.throws(
      () => asNobody(() => openCatalog(join(folder, 'g.db'), { create: true })),
      (error: Error) => error instanceof CommandError && /g\.db cannot be created: /.test(error.message),
    );
    assert.equal(readdirSync(folder), []);
    chmodSync(folder, 0o700);
  });
}

refuse('a bad key: the database is not touched, and no part of the key is told', async () => {
  const { folder, file } = place('catalog');
  const sqlite = new Sqlite(file);
  // Older: a start that went on would migrate it.
  sqlite.pragma(`user_version = ${newest - 1}`);
  sqlite.close();
  const config = readConfig({ db: file }, {});
  const key = await localKey(config);
  const other = await localKey(readConfig({ db: join(scratchFolder(), 'g.db') }, {}));
  const good = readFileSync(config.keyFile, 'utf8');
  const cases: [string, string, number, RegExp][] = [
    ['read by others', good, 0o640, /is readable by others \(mode 640\): run chmod 600 on it/],
    ['half written', good.slice(0, good.length / 2), 0o600, /cannot be read: it is not JSON/],
    ['empty', '', 0o600, /cannot be read: it is not JSON/],
    [
      'halves of two keys',
      JSON.stringify({ ...key, d: other.d }),
      0o600,
      /does not contain an ES256 private key/,
    ],
    [
      'another curve',
      JSON.stringify({ ...key, crv: 'P-384' }),
      0o600,
      /does not contain an ES256 private key/,
    ],
    [
      'no private half',
      JSON.stringify({ ...key, d: undefined }),
      0o600,
      /does not contain an ES256 private key/,
    ],
  ];
  for (const [name, text, mode, message] of cases) {
    writeFileSync(config.keyFile, text);
    chmodSync(config.keyFile, mode);
    const before = stateOf(folder);
    const { code, stdout, stderr } = await gapstone(['serve', '--port', '0', '--db', file]);
    assert.equal([code, stdout, stderr.trim().split('\n').length], [1, '', 1], `${name}: ${stderr}`);
    assert.match(stderr, message, name);
    for (const secret of [key.d!, other.d!]) assert.not(stderr.includes(secret.slice(0, 6)), name);
    assert.equal(stateOf(folder), before, name);
  }
  writeFileSync(config.keyFile, good);
  chmodSync(config.keyFile, 0o600);
  await checkKeys(config);
});

refuse.run();

const create = suite('Start-up: a new database is whole or not there');

create('killed at any moment of its making', async () => {
  const folder = scratchFolder();
  const source = put(folder, 'a.xml', writeXccdf());
  // As long as the last whole run took, for the machine may have other work now than it had a moment ago.
  let { ms } = await gapstone(['import', source, '--db', join(folder, 'full.db')]);
  let killed = 0;
  // More than these only where the machine got so much faster meanwhile that runs end before their moment.
  for (let round = 0; round < 8 || (killed < 2 && round < 40); round++) {
    const file = join(folder, `${round}.db`);
    const part = 0.3 + 0.09 * (round % 8);
    const run = await gapstone(['import', source, '--db', file], { killAfter: ms * part });
    if (run.signal === 'SIGKILL') killed++;
    if (existsSync(file)) {
      const db = openCatalog(file);
      assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
      db.close();
    }
    const next = await gapstone(['import', source, '--db', file]);
    assert.is(next.code, 0, next.stderr);
    ms = next.ms;
  }
  assert.ok(killed >= 2, String(killed));
});

create('two processes that make it at once share one', async () => {
  for (let round = 0; round < 2; round++) {
    const folder = scratchFolder();
    const file = join(folder, 'g.db');
    const runs = [1, 2, 3].map((number) =>
      gapstone([
        'import',
        put(
          folder,
          `${number}.xml`,
          writeXccdf({
            id: `N${number}_STIG`,
            title: `N${number} STIG`,
            stem: `N${number}`,
            first: 1000 * number,
          }),
        ),
        '--db',
        file,
      ]),
    );
    for (const { code, stderr } of await Promise.all(runs)) assert.is(code, 0, stderr);
    const db = openCatalog(file);
    assert.is(db.sqlite.prepare('SELECT count(*) FROM stigs').pluck().get(), 3);
    db.close();
    assert.equal(filesIn(folder), ['1.xml', '2.xml', '3.xml', 'g.db']);
  }
});

create.run();

const upgrade = suite('Start-up: an older schema');

/** A database of the first migrations alone, with one STIG in it. */
function older(schema: number): Site {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  const sqlite = new Sqlite(file);
  sqlite.pragma(`application_id = ${applicationIds.catalog}`);
  sqlite.pragma('journal_mode = WAL');
  for (const migration of listMigrations('catalog').slice(0, schema))
    sqlite.exec(readFileSync(migration.file, 'utf8'));
  sqlite.pragma(`user_version = ${schema}`);
  sqlite.pragma('foreign_keys = OFF');
  sqlite.exec("INSERT INTO stigs VALUES (1, 'kept', 'stig', 'Kept', 'kept', 1)");
  sqlite.close();
  return { folder, file, files: filesOf(file) };
}

upgrade('is migrated after a verified copy was laid beside it, which is told', async () => {
  for (let schema = 1; schema < newest; schema++) {
    const { folder, file, files } = older(schema);
    assert.match(
      await refusalOf(() => openCatalog(file)),
      new RegExp(
        `has schema ${schema}, this version of Gapstone needs ${newest}: start "gapstone serve" once`,
      ),
    );
    const said: string[] = [];
    const db = await openUpgraded(files, { catalogAlone: true, say: (line) => said.push(line) });
    assert.is(db.sqlite.pragma('user_version', { simple: true }), newest);
    assert.is(db.sqlite.prepare('SELECT slug FROM stigs').pluck().get(), 'kept');
    const fresh = openCatalog(':memory:');
    db.sqlite.exec('DELETE FROM stigs');
    assert.is(catalogDigest(db), catalogDigest(fresh));
    fresh.close();
    db.close();
    const copy = `${file}.before-schema-${newest}`;
    assert.equal(said, [
      `${file} was upgraded from schema ${schema} to ${newest}; a copy from before is in ${copy}`,
    ]);
    assert.equal(filesIn(folder), ['g.db', `g.db.before-schema-${newest}`]);
    assert.is(lstatSync(copy).mode & 0o777, 0o600);
    const before = new Sqlite(copy, { readonly: true });
    assert.is(before.pragma('user_version', { simple: true }), schema);
    assert.is(before.pragma('journal_mode', { simple: true }), 'delete');
    assert.is(before.pragma('integrity_check', { simple: true }), 'ok');
    assert.is(before.prepare('SELECT slug FROM stigs').pluck().get(), 'kept');
    before.close();
    // Once more: there is nothing to do.
    (await openUpgraded(files, { catalogAlone: true, say: (line) => said.push(line) })).close();
    assert.is(said.length, 1);
    assert.equal(filesIn(folder), ['g.db', `g.db.before-schema-${newest}`], 'users’ data is not looked at');
  }
});

upgrade('a copy that is there already is kept', async () => {
  const { folder, files } = older(newest - 1);
  put(folder, `g.db.before-schema-${newest}`, 'of another day');
  (await openUpgraded(files)).close();
  assert.equal(filesIn(folder), [
    'g-users.db',
    'g.db',
    `g.db.before-schema-${newest}`,
    `g.db.before-schema-${newest}-2`,
  ]);
  assert.is(readFileSync(join(folder, `g.db.before-schema-${newest}`), 'utf8'), 'of another day');
});

upgrade('without room for the copy, or where a migration fails, everything stays as it was', async () => {
  const { folder, files } = older(newest - 1);
  const before = stateOf(folder);
  const message = await refusalOf(() => openUpgraded(files, { room: () => 4096 }));
  assert.match(
    message,
    /cannot be upgraded to schema \d+: there is not enough space for .+: it needs \d+ bytes, 4096 are free\. It is unchanged$/,
  );
  assert.equal(stateOf(folder), before);

  const first = older(1);
  const state = stateOf(first.folder);
  // All migrations are made by then.
  const onMigrate = () => {
    throw new Error('no more');
  };
  assert.match(
    await refusalOf(() => openUpgraded(first.files, { onMigrate })),
    /: no more\. It is unchanged$/,
  );
  assert.equal(stateOf(first.folder), state);
});

upgrade('an older schema that is not ours to the letter is refused before anything is done', async () => {
  const { folder, file, files } = older(1);
  const sqlite = new Sqlite(file);
  // What a later migration makes: in this schema it is foreign.
  sqlite.exec('CREATE TABLE role_mappings (other INTEGER)');
  sqlite.close();
  const state = stateOf(folder);
  assert.match(
    await refusalOf(() => openUpgraded(files)),
    /g\.db is refused: the table role_mappings does not belong to Gapstone$/,
  );
  assert.equal(stateOf(folder), state);
});

upgrade('a folder, or a link that leads nowhere, in the place of the copy is passed by', async () => {
  const { folder, files } = older(newest - 1);
  const copy = `g.db.before-schema-${newest}`;
  mkdirSync(join(folder, copy));
  symlinkSync(join(folder, 'elsewhere'), join(folder, `${copy}-2`));
  (await openUpgraded(files)).close();
  assert.equal(filesIn(folder), ['g-users.db', 'g.db', copy, `${copy}-2`, `${copy}-3`]);
});

upgrade('two processes at once: one migrates, both go on', async () => {
  const { folder, file } = older(newest - 1);
  const runs = [1, 2].map(() => gapstone(['mapping', 'list', '--db', file]));
  for (const { code, stderr } of await Promise.all(runs)) assert.is(code, 0, stderr);
  // Two that close in the same moment both leave the log to the other one: who comes after them puts it away.
  assert.is((await gapstone(['mapping', 'list', '--db', file])).code, 0);
  assert.equal(filesIn(folder), ['g-users.db', 'g.db', `g.db.before-schema-${newest}`]);
});

upgrade.run();
