import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { variables } from '../src/base/config.ts';
import { packageRoot } from '../src/base/root.ts';
import { suite, testIf } from './support/harness.ts';
import { programs } from './support/programs.ts';
import { reference, referenceData } from './support/reference.ts';
import { killAll, startServer } from './support/running.ts';
import { put, scratchFolder } from './support/scratch.ts';
import { writeXccdf } from './support/xccdf-writer.ts';
import { makeZip } from './support/zip.ts';

const documents = suite('Documents');
documents.after(killAll);

const read = (path: string) => readFileSync(join(packageRoot, path), 'utf8');
const bytesOf = (path: string) => Buffer.byteLength(read(path));
const pages = ['', 'docs', 'data'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
/** The code, without this file, whose examples are no citations. */
const sources = ['src', 'importers', 'test'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!documents\.test)\.(tsx?|mjs|css)$/.test(entry.name))
    .map((entry) => relative(packageRoot, join(entry.parentPath, entry.name))),
);

/** The lines of a page that are no code, with their numbers. */
function prose(page: string): { line: string; number: number }[] {
  let code = false;
  return read(page)
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => {
      const fence = line.trimStart().startsWith('```');
      if (fence) code = !code;
      return !code && !fence;
    });
}

/** What a link into a page may name: its explicit anchors, and those that a reader makes of headings. */
function anchorsOf(page: string): Set<string> {
  const headings = prose(page).flatMap(({ line }) => /^#+ (.*)/.exec(line)?.slice(1) ?? []);
  return new Set([
    ...[...read(page).matchAll(/<a id="([^"]+)">/g)].map((match) => match[1]!),
    ...headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  ]);
}

documents('every link leads to a file, and to an anchor that is there', () => {
  for (const page of pages) {
    const text = prose(page)
      .map(({ line }) => line)
      .join('\n');
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target!)) continue;
      const [path, anchor] = target!.split('#') as [string, string | undefined];
      const file = path === '' ? page : join(dirname(page), path);
      assert.ok(existsSync(join(packageRoot, file)), `${page}: ${target}`);
      if (anchor !== undefined) assert.ok(anchorsOf(file).has(anchor), `${page}: ${target}`);
    }
  }
});

documents(
  'no line is wider than 120 characters but in tables, and no paragraph longer than six lines',
  () => {
    for (const page of pages) {
      let length = 0;
      for (const { line, number } of prose(page)) {
        const begins = /^\s*([-*]|\d+\.) /.test(line);
        length = line === '' || /^[#|<]/.test(line) ? 0 : begins ? 1 : length + 1;
        assert.ok(length <= 6, `${page}:${number} is in a paragraph of more than six lines`);
      }
      for (const [index, line] of read(page).split('\n').entries())
        assert.ok(
          line.startsWith('|') || line.length <= 120,
          `${page}:${index + 1} has ${line.length} characters`,
        );
    }
  },
);

documents('every file and folder of the source that a document names is there', () => {
  // Within a sentence about a subject its folder need not be repeated.
  const above = ['', 'src', 'src/catalog', 'src/http', 'src/site', 'importers', 'data'];
  const isThere = (path: string) => above.some((folder) => existsSync(join(packageRoot, folder, path)));
  let named = 0;
  for (const page of pages)
    for (const { line } of prose(page))
      for (const [, path] of line.matchAll(/`((?:[a-z-]+\/)+(?:[\w.-]+\.(?:tsx?|mjs))?)`/g)) {
        if (path!.startsWith('dist/')) continue;
        assert.ok(isThere(path!), `${page}: ${path}`);
        named++;
      }
  assert.ok(named > 60, `${named} paths`);
});

const rule = String.raw`[DFS]\d+(?:\.\d+)*`;
const list = (item: string) => String.raw`${item}(?:(?:,| and|, and| or| to)\s+${item})*`;

/** The rules and threats that a text names. */
function citations(text: string, comments: string): { rules: string[]; threats: string[] } {
  const flat = (part: string) => part.replace(/\n\s*(?:\*|\/\/)?\s*/g, ' ');
  const named = (part: string, word: string, item: string) =>
    [...flat(part).matchAll(new RegExp(`\\b${word}s?\\s+(${list(item)})`, 'gi'))].flatMap((match) =>
      [...match[1]!.matchAll(new RegExp(item, 'g'))].map((each) => each[0]),
    );
  const threats = named(text, 'threat', String.raw`[A-Z]\d\b`);
  const rest = flat(comments).replace(/\bthreats? [A-Z]\d(?:(?:,| and) [A-Z]\d)*/gi, '');
  const bare = [...rest.matchAll(/(?<![\w./-])D\d+(?:\.\d+)*\b/g)].map((match) => match[0]);
  return { rules: [...named(text, 'rule', rule), ...bare], threats };
}

documents('every rule and threat that code, tests and documents cite is there', () => {
  const rules = new Set(
    ['rules', 'asking', 'running', 'files'].flatMap((name) => [...anchorsOf(`docs/${name}.md`)]),
  );
  const threats = new Set(
    [...read('docs/security.md').matchAll(/^\| ([A-Z]\d) \|/gm)].map((match) => match[1]!),
  );
  let cited = 0;
  for (const path of [...pages, ...sources]) {
    const text = read(path);
    const comments = path.endsWith('.md')
      ? ''
      : (text.match(/^\s*(?:\/\*\*|\*|\/\/).*$|\s\/\/ .*$/gm) ?? []).join('\n');
    const found = citations(text, comments);
    for (const each of found.rules) assert.ok(rules.has(each.toLowerCase()), `${path}: rule ${each}`);
    for (const each of found.threats) assert.ok(threats.has(each), `${path}: threat ${each}`);
    cited += found.rules.length + found.threats.length;
    // Names of papers that are not here; a title may be written in capitals.
    const elsewhere =
      /\b(?:DECISIONS|FORMATS|EXCHANGE|ANCHORS|SECURITY) (?:D?\d|[A-Z]\d|D\b)|\(specification[,;)]/;
    assert.not.match(text, elsewhere, path);
  }
  assert.ok(cited > 200, `${cited} citations`);
});

documents('a citation of a rule that is not there is found, in each form', () => {
  const comment = '/** See D99.1 (rules D7.1, F98\n * and S97), threat Z9. */';
  const found = citations(comment, comment);
  assert.equal([...new Set(found.rules)].sort(), ['D7.1', 'D99.1', 'F98', 'S97']);
  assert.equal(found.threats, ['Z9']);
});

documents('every picture of the README is there, small, and has words in its place', () => {
  const pictures = [...read('README.md').matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)];
  assert.is(pictures.length, 3);
  for (const [, words, path] of pictures) {
    assert.ok(words!.length > 10, path);
    const bytes = readFileSync(join(packageRoot, path!));
    assert.is(bytes.subarray(1, 4).toString(), 'PNG', path);
    assert.ok(bytes.length < 120_000, `${path} has ${bytes.length} bytes`);
  }
});

documents('every environment variable that is read has a row in docs/operate.md, and no other has', () => {
  const rows = read('docs/operate.md').match(/^\| `GAPSTONE_.*$/gm)!;
  const told = rows.flatMap((row) =>
    [...row.split('|')[1]!.matchAll(/`(GAPSTONE_[A-Z_]+)`/g)].map((m) => m[1]!),
  );
  assert.is(variables.length, 41);
  assert.equal(told.sort(), [...variables].sort());
});

documents('CI runs what the README says, then the linter and the type check', () => {
  const script = read('.ci/run');
  for (const command of ['npm ci && npm start', 'npm ci && npm test'])
    assert.ok(read('README.md').includes(command), command);
  for (const command of ['npm ci', 'npm run lint', 'npm run typecheck', 'npm run test:browser', 'npm test'])
    assert.match(script, new RegExp(`^${command}$`, 'm'));
  const newcomer = read('.ci/newcomer');
  assert.match(script, /^\.ci\/newcomer \.ci\/products$/m);
  for (const command of ['{ npm ci && npm test; }', 'npm ci && exec npm start'])
    assert.ok(newcomer.includes(command), command);
  const products = read('.ci/products');
  assert.match(products, /^"\$\{as_root\[@\]\}" env "PATH=\$PATH" \.ci\/image$/m);
  for (const each of ['package', 'clients', 'programs'])
    assert.match(products, new RegExp(`^\\.ci/${each}$`, 'm'));
  assert.match(script, /npm test\n*$/);
});

/** Commands of the documents that are not run here, and why. */
const notRun: [RegExp, string][] = [
  [
    /^npm (ci && npm (start|test)|test|start)\b/,
    'installs the project or runs these very tests; CI does both',
  ],
  [/^npm run (lint|typecheck|bench|test:|pictures)/, 'part of CI, or minutes of work'],
  [/^GAPSTONE_UPDATE_GOLDEN=1 /, 'rewrites files of the repository'],
];

/** Pages whose commands are run elsewhere, on what they install: by test/package/pages.test.ts. */
const ofPackages = ['docs/rpm.md', 'docs/tar.md'];

/** The commands of a page's sh blocks, continuation lines joined; `stopped` ones are run without the server. */
function commandsOf(page: string): { command: string; stopped: boolean }[] {
  return [...read(page).matchAll(/^```sh( stopped)?\n([\s\S]*?)^```$/gm)].flatMap(([, stopped, block]) =>
    block!
      .replace(/\\\n\s*/g, '')
      .split('\n')
      .filter((command) => command !== '' && !command.startsWith('#'))
      .map((command) => ({ command, stopped: stopped !== undefined })),
  );
}

/** A folder that looks like a built checkout, with files under the names that the documents use. */
function checkout(): string {
  const folder = scratchFolder();
  for (const name of [
    'dist',
    'data',
    'src',
    'package.json',
    'package-lock.json',
    'node_modules',
    'migrations',
  ])
    symlinkSync(join(packageRoot, name), join(folder, name));
  const stigs = readdirSync(join(packageRoot, 'data', 'stigs')).map((name) => ({
    name,
    data: readFileSync(join(packageRoot, 'data', 'stigs', name)),
  }));
  put(folder, 'U_SRG-STIG_Library_July_2026.zip', makeZip(stigs));
  const added = { name: 'added.xml', data: writeXccdf({ title: 'Added In October' }) };
  put(folder, 'U_SRG-STIG_Library_October_2026.zip', makeZip([...stigs, added]));
  put(folder, 'gapstone.tar', 'an image');
  return folder;
}

/** The catalog that the first start of a package makes, made once for all pages. */
let catalog: string | undefined;

const withPrograms = testIf(programs('bash', 'curl', 'openssl', 'sha256sum', 'unzip'), documents);
for (const page of pages.filter((name) => !ofPackages.includes(name) && commandsOf(name).length > 0))
  withPrograms(`the commands of ${page} run, one after the other`, async () => {
    const folder = checkout();
    if (catalog !== undefined) copyFileSync(catalog, join(folder, 'gapstone.db'));
    const server = await startServer(folder, ['start', '--port', '0', '--no-token']);
    if (catalog === undefined) {
      catalog = join(scratchFolder(), 'gapstone.db');
      const made = new Sqlite(join(folder, 'gapstone.db'), { readonly: true });
      await made.backup(catalog);
      made.close();
    }
    const commands = commandsOf(page).filter(({ command }) => !notRun.some(([form]) => form.test(command)));
    const script = (parts: typeof commands) =>
      [
        `trap 'echo "failed: $BASH_COMMAND" >&2' ERR`,
        // As the pages of the ways to install say what `gapstone` is.
        'gapstone() { node dist/src/cli.js "$@"; }',
        // A status of 400 and more is a failure here.
        'curl() { command curl --silent --show-error --fail-with-body "$@"; }',
        ...parts.map(({ command }) => command),
      ]
        .join('\n')
        .replaceAll('http://127.0.0.1:8080', server.url);
    const run = (parts: typeof commands) => {
      const env = { PATH: process.env.PATH, HOME: folder, npm_config_update_notifier: 'false' };
      const { status, stderr, stdout } = spawnSync(
        'bash',
        ['--norc', '-Eeuo', 'pipefail', '-c', script(parts)],
        {
          cwd: folder,
          env,
          encoding: 'utf8',
          timeout: 600_000,
        },
      );
      assert.is(status, 0, `${page}: ${stderr.slice(-2000)}\n${stdout.slice(-500)}`);
    };
    run(commands.filter(({ stopped }) => !stopped));
    server.child.kill('SIGTERM');
    await server.ended;
    const after = commands.filter(({ stopped }) => stopped);
    if (after.length > 0) run(after);
  });

documents('docker\u2019s lines of docs/container.md are podman\u2019s, but for what podman alone has', () => {
  const blocks = [
    ...read('docs/container.md').matchAll(/^```sh (podman|docker)( outside)?\n([\s\S]*?)^```$/gm),
  ];
  const linesOf = (engine: string) =>
    blocks
      .filter((match) => match[1] === engine)
      .flatMap((match) =>
        match[3]!
          .replace(/\\\n\s*/g, '')
          .trimEnd()
          .split('\n'),
      );
  const expected = linesOf('podman')
    .filter((line) => !line.startsWith('podman healthcheck '))
    .map((line) =>
      line.replace(/^podman /, 'docker ').replace(/--format docker --timestamp "\$\(git log[^)]*\)" /, ''),
    );
  assert.equal(linesOf('docker'), expected);
  assert.ok(expected.length > 20, String(expected.length));
});

documents('a page for installing, and that for an accreditor, has at most 8 KB', () => {
  for (const page of ['container', 'rpm', 'rhel', 'tar', 'source', 'operate'].map(
    (name) => `docs/${name}.md`,
  ))
    assert.ok(bytesOf(page) <= 8192, `${page} has ${bytesOf(page)} bytes`);
  assert.ok(bytesOf('SECURITY.md') <= 8192);
});

testIf(referenceData, documents)('each rule that docs/rhel.md cites is one of the RHEL 9 STIG', () => {
  const cited = new Set(read('docs/rhel.md').match(/RHEL-09-\d+/g));
  const stig = readFileSync(reference('xccdf', 'U_RHEL_9_STIG_V2R8_Manual-xccdf.xml'), 'utf8');
  const known = new Set(stig.match(/RHEL-09-\d+(?=<\/version>)/g));
  assert.equal(
    [...cited].filter((id) => !known.has(id)),
    [],
  );
  assert.ok(cited.size > 12, String(cited.size));
});

documents('the Quadlet has the options of docs/container.md', () => {
  const run = /^podman run -d .*$/m.exec(read('docs/container.md').replace(/\\\n\s*/g, ''))![0];
  const file = read('packaging/gapstone.container');
  const values = (key: string) =>
    [...file.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map((match) => match[1]!);
  const given = (option: string) =>
    [...run.matchAll(new RegExp(` ${option} "?([^ "]+)"?`, 'g'))].map((match) => match[1]!);
  assert.equal(values('PublishPort'), given('-p'));
  assert.equal(values('Environment'), given('-e'));
  const place = (volume: string) => volume.slice(volume.indexOf(':'));
  assert.equal(values('Volume').map(place), given('-v').map(place));
  for (const [option, key, value] of [
    ['--read-only', 'ReadOnly', 'true'],
    ['--cap-drop=ALL', 'DropCapability', 'ALL'],
    ['--security-opt=no-new-privileges', 'NoNewPrivileges', 'true'],
    ['--restart=always', 'Restart', 'always'],
  ] as const) {
    assert.ok(run.includes(option), option);
    assert.equal(values(key), [value]);
  }
  const { version } = JSON.parse(read('package.json')) as { version: string };
  assert.equal(values('Image'), [`localhost/gapstone:${version}`]);
});

documents('each reason not to run a command is needed by some document', () => {
  const all = pages.flatMap((page) => commandsOf(page).map(({ command }) => command));
  for (const [form, why] of notRun)
    assert.ok(
      all.some((command) => form.test(command)),
      `${form} (${why}) fits no command`,
    );
});

documents.run();
