// Copies exactly what runs into a folder: `node src/runtime-tree.mjs FOLDER [COMMIT]`. The container image and the
// package contain this folder: the two programs and their chunks, migrations, data, documents, the driver for this
// platform, and the licences. Plain JavaScript, as the build is.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const built = join(root, 'dist', '.commit');
// Without git, as in the build of the image, the build names no commit.
const [target, commit = existsSync(built) ? readFileSync(built, 'utf8').trim() : ''] = process.argv.slice(2);

function copy(...paths) {
  for (const path of paths) cpSync(join(root, path), join(target, path), { recursive: true });
}

/** The files of better-sqlite3 that this platform loads: without its sources and its builds for others. */
function driverFiles() {
  const home = join('node_modules', 'better-sqlite3');
  const library = readdirSync(join(root, home, 'lib'), { recursive: true })
    .filter((name) => name.endsWith('.js') && !/^(darwin|linux|linuxmusl|win32)-/.test(name))
    .map((name) => join('lib', name));
  const prebuilt = join('prebuilds', `${process.platform}-${process.arch}.node`);
  return ['package.json', 'LICENSE', ...library, prebuilt].map((name) => join(home, name));
}

function manifest() {
  const { name, version, description, license, type, engines } = readJson('package.json');
  return { name, version, description, license, private: true, type, engines, ...(commit && { commit }) };
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

/** The licence texts of every package inside, sorted by path; a package without a text says so. */
function licenses() {
  const compiledIn = 'node_modules/node-addon-api';
  const texts = [...readJson('dist/packages.json'), compiledIn].sort().map((path) => {
    const { name, version, license, author } = readJson(join(path, 'package.json'));
    const files = readdirSync(join(root, path)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    const own = files.sort().map((file) => readFileSync(join(root, path, file), 'utf8').trim());
    const by = typeof author === 'object' ? author.name : author;
    const text =
      own.join('\n\n') ||
      `The package has no text of its licence. It names: ${license}${by ? `, ${by}` : ''}.`;
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** Sets the same modes whatever the umask: everybody reads, the owner writes, no file is executable. */
function setModes(folder) {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) setModes(path);
    else chmodSync(path, 0o644);
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

if (target === undefined) fail('usage: node src/runtime-tree.mjs FOLDER [COMMIT]');
if (existsSync(target) && readdirSync(target).length > 0) fail(`${target} is not empty`);
if (!existsSync(join(root, 'dist', 'packages.json'))) fail('nothing is built: run node src/build.mjs first');

mkdirSync(target, { recursive: true });
copy('README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'docs', 'data', 'migrations');
copy(
  ...[
    'cli.js',
    'work/worker.js',
    'pages/checklists/upload-thread.js',
    'checklists/zip-worker.js',
    'auth/revocation-thread.js',
    'pages/assets',
  ].map((name) => join('dist', 'src', name)),
);
copy(join('dist', 'chunks'));
copy(...driverFiles());
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), licenses());
setModes(target);
process.stderr.write(`${relative(process.cwd(), target) || target}: what runs is put together\n`);
