import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { suite, testIf } from './support/harness.ts';
import { littleProgram, runBy } from './support/little-program.ts';
import { programs } from './support/programs.ts';
import { killAll, startServer } from './support/running.ts';
import { put, scratchFolder } from './support/scratch.ts';
import { writeXccdf } from './support/xccdf-writer.ts';
import { makeZip } from './support/zip.ts';

const documents = suite('Commands of the documents');
documents.after(killAll);

const read = (path: string) => readFileSync(join(packageRoot, path), 'utf8');
const pages = ['', 'docs', 'data'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
/** Commands of the documents that are not run here, and why. */
const notRun: [RegExp, string][] = [
  [
    /^npm (ci && npm (start|test)|test|start)\b/,
    'installs the project or runs these very tests; CI does both',
  ],
  [/^npm run (lint|typecheck|bench|pictures)/, 'part of CI, or minutes of work'],
  [/^GAPSTONE_UPDATE_GOLDEN=1 /, 'rewrites files of the repository'],
];

/** Pages whose commands are run elsewhere, on what they install: by test/package/pages.package.test.ts. */
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

/** The program without the pairs of CCIs, which take most of the time of a first start; what asks for them has all. */
const withoutCcis = littleProgram(
  ['assessment', 'controls', 'emass', 'mappings', 'regulatory', 'roles', 'search', 'stigs'].flatMap(
    (folder) =>
      readdirSync(join(packageRoot, 'data', folder))
        .filter((name) => !name.startsWith('cci'))
        .map((name) => `${folder}/${name}`),
  ),
);
const homeOf = (page: string) => (page === 'docs/api.md' ? packageRoot : withoutCcis);

/** A folder that looks like a built checkout, with files under the names that the documents use. */
function checkout(home: string): string {
  const folder = scratchFolder();
  for (const name of ['dist', 'data', 'migrations']) symlinkSync(join(home, name), join(folder, name));
  for (const name of ['src', 'package.json', 'package-lock.json', 'node_modules'])
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

/** The catalogs that the first start of each program makes, made once for all pages. */
const catalogs = new Map<string, string>();

const withPrograms = testIf(programs('bash', 'curl', 'openssl', 'sha256sum', 'unzip'), documents);
for (const page of pages.filter((name) => !ofPackages.includes(name) && commandsOf(name).length > 0))
  withPrograms(`the commands of ${page} run, one after the other`, async () => {
    const home = homeOf(page);
    const folder = checkout(home);
    let catalog = catalogs.get(home);
    if (catalog !== undefined) copyFileSync(catalog, join(folder, 'gapstone.db'));
    // Of what asks no server the catalog alone is needed, if it is made.
    const asks = commandsOf(page).some(({ command }) => command.includes('http://127.0.0.1:8080'));
    const server =
      asks || catalog === undefined
        ? await startServer(folder, ['start', '--port', '0', '--no-token'], {}, runBy(home))
        : null;
    if (catalog === undefined) {
      catalog = join(scratchFolder(), 'gapstone.db');
      catalogs.set(home, catalog);
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
        .replaceAll('http://127.0.0.1:8080', server?.url ?? '');
    const run = (parts: typeof commands) => {
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      const env = { PATH, NODE_COMPILE_CACHE, HOME: folder, npm_config_update_notifier: 'false' };
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
    server?.child.kill('SIGTERM');
    await server?.ended;
    const after = commands.filter(({ stopped }) => stopped);
    if (after.length > 0) run(after);
  });

documents.run();
