import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative } from 'node:path';
import { getTableConfig, getViewConfig, type SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { knownControls } from '../src/db/control-tables.ts';
import { openCatalog, openDatabase } from '../src/db/database.ts';
import { listMigrations } from '../src/db/migrate.ts';
import { stigReleases } from '../src/db/tables.ts';
import { routesOf, testApp } from './support/app.ts';
import { arrows, longestChain, picture, roomOf } from './support/arrows.ts';
import { assertPicture } from './support/golden.ts';
import { suite } from './support/harness.ts';
import { isPage } from './support/pages.ts';
import { shipped } from './support/reference.ts';
import { put, scratchFolder } from './support/scratch.ts';

// The house rules of ARCHITECTURE.md ("Rooms and directions"), read from the source itself.
const structure = suite('Structure');

interface SourceFile {
  path: string;
  text: string;
  /** The project's files that it imports, types included. */
  files: string[];
  /** The packages that it imports. */
  packages: string[];
}

const sources: SourceFile[] = ['src', 'importers'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readSource(relative(packageRoot, join(entry.parentPath, entry.name)))),
);

function readSource(path: string): SourceFile {
  const text = readFileSync(join(packageRoot, path), 'utf8');
  const imports = [
    ...text.matchAll(
      /^(?:import|export)\b[^'";]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
    ),
  ];
  const names = imports.map((match) => (match[1] ?? match[2] ?? match[3])!);
  return {
    path,
    text,
    files: names.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(path), name))),
    packages: names.filter((name) => !name.startsWith('.')),
  };
}

structure('every import goes in a direction that ARCHITECTURE.md draws', () => {
  assert.ok(sources.length > 40);
  const wrong: string[] = [];
  for (const { path, files } of sources) {
    const room = roomOf(path);
    assert.ok(arrows[room], `${path} is in no room of ARCHITECTURE.md`);
    for (const file of files) {
      const target = roomOf(file);
      assert.ok(
        sources.some((source) => source.path === file),
        `${path} imports ${file}, which is not there`,
      );
      if (target === room || arrows[room]!.includes(target)) continue;
      wrong.push(`${path} imports ${file}`);
    }
  }
  assert.equal(wrong, []);
});

structure('no arrow is drawn that no import takes', () => {
  for (const room of Object.keys(arrows)) {
    const taken = new Set(
      sources.filter(({ path }) => roomOf(path) === room).flatMap(({ files }) => files.map(roomOf)),
    );
    assert.equal(
      arrows[room]!.filter((other) => !taken.has(other)),
      [],
      room,
    );
  }
});

structure('few folders hold source, and no chain of imports between rooms is long or comes back', () => {
  const folders = new Set(sources.map(({ path }) => dirname(path)));
  const chains = Object.keys(arrows).map((room) => longestChain(room));
  const longest = chains.reduce((most, each) => (each.length > most.length ? each : most));
  process.stdout.write(
    `${folders.size} folders hold source; the longest chain has ${longest.length} rooms: `,
  );
  process.stdout.write(`${longest.join(' > ')}\n`);
  assert.ok(folders.size <= 41, `${folders.size} folders`);
  assert.ok(longest.length <= 11, longest.join(' > '));
});

structure('ARCHITECTURE.md draws the arrows as they are', () => assertPicture(picture()));

structure('no two files share a name, but those that each subject has', () => {
  const shared = ['schema', 'queries', 'api', 'export', 'routes'];
  const names = sources.map(({ path }) => basename(path).replace(/\.tsx?$/, ''));
  const twice = names.filter((name, index) => names.indexOf(name) !== index && !shared.includes(name));
  assert.equal(twice, []);
});

structure('a page enters the folder of its subject, what pages share, and services', () => {
  const pages = sources.filter(({ path }) => dirname(dirname(path)) === 'src/site');
  const subjects = pages.filter(({ path }) => dirname(path) !== 'src/site/parts');
  const shared = pages.filter(({ path }) => dirname(path) === 'src/site/parts');
  const entered = (from: SourceFile[], isWrong: (file: string, path: string) => boolean) =>
    from.flatMap(({ path, files }) =>
      files.filter((file) => isWrong(file, path)).map((to) => `${path} > ${to}`),
    );
  const isOther = (file: string, path: string) => ![dirname(path), 'src/site/parts'].includes(dirname(file));
  assert.equal(
    entered(subjects, (file, path) => file.startsWith('src/site/') && isOther(file, path)),
    [],
  );
  // What pages share knows no subject, and no page reads a database.
  const subject = /^src\/(catalog|collections|checklists|content|services|site\/(?!parts\/))/;
  assert.equal(
    entered(shared, (file) => subject.test(file)),
    [],
  );
  assert.equal(
    entered(pages, (file) => /^(src\/(db|audit|commands|server)|importers)\b/.test(file)),
    [],
  );
  // A page is given its services by `Pick<Services, ...>`: it makes none. The upload thread works by itself.
  const makesOne =
    /^import [^;]*\bcreate\w+[^;]* from '(\.\.\/){2}(catalog|collections)\/[^']*(?<!schema)\.ts'/m;
  const makers = pages.filter(({ text }) => makesOne.test(text.replace(/^import type .*$/gm, '')));
  assert.equal(
    makers.map(({ path }) => path),
    [],
  );
  const rooms = new Set(subjects.map(({ path }) => dirname(path)));
  process.stdout.write(`the pages of ${rooms.size} subjects enter their own folder, parts and services\n`);
});

structure('no file imports more than 40 others', () => {
  const many = sources.filter(({ files, packages }) => files.length + packages.length > 40);
  assert.equal(
    many.map(({ path }) => path),
    [],
  );
});

structure('no cycles between files', () => {
  assert.equal(findCycle(new Map(sources.map(({ path, files }) => [path, files]))), []);
});

function findCycle(graph: Map<string, string[]>): string[] {
  const done = new Set<string>();
  const walk = (node: string, path: string[]): string[] => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return [];
    for (const next of graph.get(node) ?? []) {
      const cycle = walk(next, [...path, node]);
      if (cycle.length > 0) return cycle;
    }
    done.add(node);
    return [];
  };
  for (const node of graph.keys()) {
    const cycle = walk(node, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

structure('hono stays in the rooms that speak HTTP, XML and zips where files are read', () => {
  const rules: [RegExp, RegExp][] = [
    [/^(hono|@hono\/node-server)(\/|$)/, /^src\/(http|site|app|server)\b/],
    [/^@hono\/zod-openapi$/, /^src\/(app|http|site)\/|^src\/(openapi|.*(api|schema))\.ts$/],
    [/^better-sqlite3$/, /^(src\/db|importers)\//],
    [/^drizzle-orm/, /^(src\/(db|catalog|collections|content|auth|commands)|importers)\//],
    [/^saxes$/, /^src\/read\//],
    [/^@modelcontextprotocol\/server(\/stdio)?$/, /^src\/mcp\//],
    [/^yauzl$/, /^(importers|src\/(db|read))\//],
    [/^yazl$/, /^src\/(db\/|http\/xlsx\.ts$)/],
    [/^@noble\//, /^src\/content\/signing-keys\.ts$/],
    [/^jose$/, /^src\/auth\//],
    [/^(node:)?(http|https|http2|dgram|dns|tls)$/, /^src\/(server|http\/.*)\.ts$/],
    [/^(node:)?net$/, /^src\/(server|base\/addresses)\.ts$/],
    // No other program is ever started, but the Node of the package in place of one that is too old, and our own import.
    [/^(node:)?child_process$/, /^src\/(runtime|commands\/inbox)\.ts$/],
    [/^(node:)?cluster$/, /^$/],
    // A new context is where V8 shows its collector of garbage; nothing else is ever run in one.
    [/^(node:)?vm$/, /^src\/base\/idle-memory\.ts$/],
    [/^(uvu|fast-check|@nuwcdivnpt|typescript)(\/|$)/, /^$/],
  ];
  for (const { path, packages } of sources) {
    for (const name of packages)
      for (const [packageName, place] of rules)
        if (packageName.test(name)) assert.match(path, place, `${path} imports ${name}`);
  }
});

structure('every package that is imported is a dependency', () => {
  const { dependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  for (const { path, packages } of sources) {
    for (const name of packages.filter((each) => !each.startsWith('node:'))) {
      const owner = name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/');
      assert.ok(Object.hasOwn(dependencies, owner), `${path} imports ${name}, which is no dependency`);
    }
  }
});

structure('no default exports, no barrels, and only the configuration reads the environment', () => {
  for (const { path, text } of sources) {
    assert.not.match(text, /^export default|\bas default\b/m, `${path} has a default export`);
    assert.not.match(
      text,
      /^export\s+(type\s+)?(\*|\{[^}]*\})[^;'"]*\bfrom\b/m,
      `${path} hands on the exports of another file`,
    );
    if (path !== 'src/base/config.ts')
      assert.not.match(text, /process\.env\b/, `${path} reads the environment`);
    assert.not.match(path, /(^|\/)index\.tsx?$/);
  }
});

structure('the Drizzle mirror equals the migrated schema, column by column', async () => {
  const db = openCatalog(':memory:', { create: true });
  const list = db.sqlite.pragma('table_list') as {
    schema: string;
    name: string;
    strict: number;
    type: string;
  }[];
  const stored = list.filter(
    ({ schema, name, type }) => schema === 'main' && type === 'table' && !name.startsWith('sqlite_'),
  );
  const folder = new URL('../src/db/', import.meta.url);
  const files = readdirSync(folder).filter((name) => /tables\.js$/.test(name));
  const modules: object[] = await Promise.all(files.map((name) => import(new URL(name, folder).href)));
  const mirrors = modules
    .flatMap((module) => Object.values(module))
    .filter((value) => value instanceof SQLiteTable)
    .map((table) => getTableConfig(table));
  assert.ok(mirrors.length > 20);
  for (const { name, strict } of stored) assert.is(strict, 1, `${name} is not STRICT`);
  for (const mirror of mirrors) {
    const { name } = mirror;
    // A view is mirrored as a table where its rows are asked for whole.
    assert.ok(
      stored.some((table) => table.name === name) || name === 'stig_releases',
      `there is no table ${name}`,
    );
    const columns = db.sqlite.pragma(`table_info(${name})`) as {
      name: string;
      type: string;
      notnull: number;
      pk: number;
    }[];
    const described = mirror.columns.map((column) => ({
      name: column.name,
      type: column.getSQLType().toUpperCase(),
      notNull: column.notNull,
    }));
    // A primary key is never null, whether or not it says so.
    const actual = columns.map((column) => ({
      name: column.name,
      type: column.type,
      notNull: column.notnull === 1 || column.pk > 0,
    }));
    assert.equal(described, actual, name);
    const keys = mirror.columns.filter((column) => column.primary).map((column) => column.name);
    const primary = columns.filter((column) => column.pk > 0).map((column) => column.name);
    // A key of several columns is stated by the migration alone.
    assert.equal(keys, primary.length === 1 ? primary : [], `${name}: the primary key`);
  }
  db.close();
});

structure(
  'every table that is mirrored is named by a query, and the mirrored views have the columns of theirs',
  async () => {
    const db = openCatalog(':memory:', { create: true });
    for (const { path, text } of sources.filter((source) => /^src\/db\/.*tables\.ts$/.test(source.path)))
      for (const [, name] of text.matchAll(/^export const (\w+) = sqlite(?:Table|View)\(/gm))
        assert.ok(
          sources.some((other) => other.path !== path && new RegExp(`\\b${name}\\b`).test(other.text)),
          `nothing uses ${name} of ${path}`,
        );
    for (const view of [stigReleases, knownControls]) {
      const { name, selectedFields } = getViewConfig(view);
      const columns = (db.sqlite.pragma(`table_info(${name})`) as { name: string }[]).map(
        (each) => each.name,
      );
      const mirrored = Object.values(selectedFields).map((column) => (column as SQLiteColumn).name);
      assert.equal(mirrored.sort(), columns.sort(), name);
    }
    db.close();
  },
);

structure('the catalog is written by importers alone (rule D23.1)', async () => {
  using db = openCatalog(join(scratchFolder(), 'g.db'), { create: true });
  const rows = db.sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  const tables = (rows as string[]).filter((name) => !/^(sqlite|rule_search)_/.test(name));
  assert.ok(tables.length > 30);
  const folder = new URL('../src/db/', import.meta.url);
  const files = ['tables.js', 'control-tables.js', 'role-tables.js', 'scap-tables.js'];
  const modules: object[] = await Promise.all(files.map((name) => import(new URL(name, folder).href)));
  const mirrors = modules.flatMap((module) => Object.keys(module));
  const table = `["\`[]?(?:${tables.join('|')})\\b["\`\\]]?`;
  // A name of a database before the table, also one that a template fills in: then any table counts.
  const qualified = '["`[]?(?:\\w+|\\$\\{[^}]*\\})["`\\]]?\\.["`[]?[\\w$]';
  const raw = [
    'INSERT\\s+(?:OR\\s+\\w+\\s+)?INTO',
    'REPLACE\\s+INTO',
    'DELETE\\s+FROM',
    '(?:DROP|ALTER)\\s+TABLE',
  ]
    .map((verb) => `\\b${verb}\\s+(?:${qualified}|${table})`)
    .concat(`\\bUPDATE\\s+(?:OR\\s+\\w+\\s+)?(?:${qualified}\\S*|${table})\\s+SET\\b`);
  const mirrored = `\\.(?:insert|update|delete)\\((?:${mirrors.join('|')})\\)`;
  const isWritten = (text: string) =>
    new RegExp(raw.join('|'), 'i').test(text) || new RegExp(mirrored).test(text);
  const planted = [
    'db.orm.update(catalog).set(',
    'INSERT OR IGNORE INTO stig_aliases VALUES (?, ?)',
    'insert into main.x VALUES (?)',
    'update catalog.y set a = 1',
    'UPDATE "main"."stigs" SET slug = ?',
    'delete from main.sources WHERE id = ?',
    'DELETE\n        FROM $' + '{names.catalog}.findings',
    'REPLACE INTO earlier."x" SELECT 1',
    'drop table catalog.controls',
  ];
  for (const text of planted) assert.ok(isWritten(text), text);
  for (const text of [
    'SELECT a FROM main.stigs',
    'INSERT INTO lists VALUES (?)',
    'update catalog.json by hand',
  ])
    assert.not.ok(isWritten(text), text);
  const found = sources.filter(({ path, text }) => path.startsWith('src/') && isWritten(text));
  assert.equal(
    found.map(({ path }) => path),
    // The first opens the catalog alone, as an importer does, and notes what it imported; the second makes the copy of
    // a catalog that a bundle holds.
    ['src/commands/start.ts', 'src/content/canonical.ts'],
  );
});

structure('migrations are numbered 0001, 0002 ... and make the schema version', () => {
  const files = { db: join(scratchFolder(), 'g.db'), usersDb: join(scratchFolder(), 'u.db') };
  using db = openDatabase(files, { create: true });
  for (const kind of ['catalog', 'users'] as const) {
    const names = readdirSync(join(packageRoot, 'migrations', kind)).sort();
    names.forEach((name, index) => {
      assert.match(name, /^\d{4}_[a-z0-9_]+\.sql$/);
      assert.is(Number(name.slice(0, 4)), index + 1, name);
    });
    assert.is(db.sqlite.pragma(`${db.names[kind]}.user_version`, { simple: true }), names.length);
    assert.equal(db.sqlite.pragma(`${db.names[kind]}.foreign_key_check`), []);
  }
});

structure('a gap or a repeat in the numbers of migrations is refused', () => {
  const folderOf = (...names: string[]) => {
    const folder = scratchFolder();
    for (const name of names) put(join(folder, 'users'), name, '');
    return folder;
  };
  assert.equal(
    listMigrations('users', folderOf('0002_b.sql', '0001_a.sql', 'README.md')).map((each) => each.number),
    [1, 2],
  );
  for (const names of [['0001_a.sql', '0003_c.sql'], ['0001_a.sql', '0001_b.sql'], ['0002_a.sql'], ['a.sql']])
    assert.throws(() => listMigrations('users', folderOf(...names)), /not numbered/);
});

structure(
  '/openapi.json lists every route of the application, and every route declares its security',
  async () => {
    const t = await testApp();
    const document = (await t.get('/openapi.json', { token: null })).json;
    assert.is(document.openapi, '3.1.0');
    const listed = new Set<string>();
    for (const [path, methods] of Object.entries<
      Record<string, { security?: unknown[]; summary?: string; responses: object }>
    >(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        listed.add(`${method.toUpperCase()} ${path}`);
        assert.ok(Array.isArray(operation.security), `${method} ${path} does not declare its security`);
        assert.ok(operation.summary, `${method} ${path} has no summary`);
        const statuses = Object.keys(operation.responses);
        if (operation.security!.length > 0)
          assert.ok(statuses.includes('401'), `${method} ${path} declares no 401`);
        // The role mapping of a STIG that is not there is an empty one (rule D9.4).
        const mayBeMissing = path.includes('{') && !path.startsWith('/api/v1/role-mapping/');
        if (mayBeMissing)
          assert.ok(statuses.includes('404') && statuses.includes('400'), `${method} ${path}`);
      }
    }
    const mounted = t.app.routes
      // The Model Context Protocol describes itself (rule D41.1).
      .filter((route) => route.method !== 'ALL' && !isPage(route.path) && route.path !== '/mcp')
      .map((route) => `${route.method} ${route.path.replace(/:([A-Za-z]+)/g, '{$1}')}`);
    assert.equal([...new Set(mounted)].sort(), [...listed].sort());
    assert.equal(
      routesOf(t.app)
        .map((route) => `${route.method.toUpperCase()} ${route.path}`)
        .sort(),
      [...listed].sort(),
    );
    t.db.close();
  },
);

structure('/openapi.json: every reference resolves, and the examples come from the sample data', async () => {
  const t = await testApp([shipped('stigs')]);
  const { json: document } = await t.get('/openapi.json', { token: null });
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { $ref } = value as { $ref?: string };
    if (typeof $ref === 'string') {
      const target = $ref
        .slice(2)
        .split('/')
        .reduce((node, key) => node?.[key], document);
      assert.ok($ref.startsWith('#/') && target, `${$ref} leads nowhere`);
    }
    for (const each of Object.values(value)) walk(each);
  };
  walk(document);
  const slugs = ['harbor_linux_3', 'harbor_linux_3?version=V1R1', 'lantern_web_server_2'];
  const records = await Promise.all(slugs.map((slug) => t.get(`/api/v1/stigs/${slug}`)));
  const said = JSON.stringify(records.map((record) => record.json));
  let examples = 0;
  for (const name of ['StigSummary', 'Finding']) {
    const { properties } = document.components.schemas[name] as {
      properties: Record<string, { example?: unknown }>;
    };
    for (const [field, { example }] of Object.entries(properties)) {
      if (example === undefined) continue;
      examples++;
      assert.ok(said.includes(JSON.stringify(example)), `the example of ${name}.${field} is not in data/`);
    }
  }
  assert.ok(examples >= 8, `${examples} examples`);
  t.db.close();
});

structure('/openapi.json: the STIG catalog needs a user token, health does not', async () => {
  const t = await testApp();
  const { json: document } = await t.get('/openapi.json', { token: null });
  assert.equal(document.components.securitySchemes.userToken.scheme, 'bearer');
  for (const [path, methods] of Object.entries<Record<string, { security: unknown[] }>>(document.paths)) {
    for (const { security } of Object.values(methods)) {
      if (path.startsWith('/api/v1/stigs'))
        assert.equal(security, [{ userToken: [] }, { session: [] }], path);
      if (!path.startsWith('/api/') && path !== '/plants') assert.equal(security, [], path);
    }
  }
  t.db.close();
});

structure('the top level of the repository holds what ARCHITECTURE.md allows, and nothing else', () => {
  const allowed = new Set([
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'biome.json',
    'Dockerfile',
    'README.md',
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'LICENSE',
    'data',
    'docs',
    'migrations',
    'packaging',
    'importers',
    'src',
    'test',
  ]);
  const made = (name: string) =>
    ['node_modules', 'dist', 'gapstone-key.json'].includes(name) ||
    /^gapstone-audit\.jsonl/.test(name) ||
    /\.db(-wal|-shm|\..*)?$/.test(name);
  const other = readdirSync(packageRoot).filter(
    (name) => !name.startsWith('.') && !allowed.has(name) && !made(name),
  );
  assert.equal(other, []);
});

structure('what running makes is ignored by git, the private key above all', () => {
  const ignored = readFileSync(join(packageRoot, '.gitignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const patterns = ignored.map((line) => {
    const escaped = line.replace(/^\/|\/$/g, '').replace(/[.+^${}()|[\]\\]/g, '\\$&');
    return new RegExp(`^${escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`);
  });
  for (const name of [
    'node_modules',
    'dist',
    'gapstone.db',
    'gapstone.db-wal',
    'gapstone.db-shm',
    'gapstone-key.json',
    'gapstone-audit.jsonl',
    'gapstone-audit.jsonl.head',
    'gapstone-audit.jsonl.lock',
  ])
    assert.ok(
      patterns.some((pattern) => pattern.test(name)),
      `${name} is not in .gitignore`,
    );
});

structure.run();
