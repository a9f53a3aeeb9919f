// Holds what lies in the root of the image against its bill of materials: `node .ci/inside.mjs ROOT NODE SQLITE PACKAGE...`,
// with the versions that the image's own programs tell, and its packages as its own dpkg or rpm lists them. Prints a line
// for each thing that was shown; the first that is not so ends it with one line and code 1.
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

const [root, nodeVersion, sqliteVersion, ...listed] = process.argv.slice(2);
const home = join(root, 'opt', 'gapstone');
const { components, metadata } = JSON.parse(readFileSync(join(home, 'dist', 'sbom.cdx.json'), 'utf8'));

function fail(message) {
  process.stderr.write(`image: ${message}\n`);
  process.exit(1);
}
const shown = (message) => process.stdout.write(`shown: ${message}\n`);

/** Fails with what only one of two lists has. */
function same(what, stated, found) {
  const only = (a, b) => [...new Set(a)].filter((each) => !b.includes(each)).sort();
  const missing = only(found, stated);
  const extra = only(stated, found);
  if (missing.length > 0) fail(`${what}: not in the bill of materials: ${missing.join(', ')}`);
  if (extra.length > 0) fail(`${what}: in the bill of materials alone: ${extra.join(', ')}`);
  if (new Set(stated).size !== stated.length) fail(`${what}: named twice in the bill of materials`);
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
  }
}

function isBinary(path) {
  const bytes = Buffer.alloc(4);
  const handle = openSync(path, 'r');
  readSync(handle, bytes);
  closeSync(handle);
  return bytes.toString('latin1') === '\x7fELF';
}

/** The files of the packages that dpkg knows, as they lie in this root (`/lib` is a link to `/usr/lib`). */
function filesOfBase() {
  const records = join(root, 'var', 'lib', 'dpkg', 'info');
  const folders = new Map();
  const settle = (path) => {
    const folder = dirname(path);
    if (!folders.has(folder)) folders.set(folder, existsSync(folder) ? realpathSync(folder) : folder);
    return join(folders.get(folder), path.slice(folder.length));
  };
  const lists = readdirSync(records).filter((name) => name.endsWith('.list'));
  const paths = lists.flatMap((name) => readFileSync(join(records, name), 'utf8').split('\n'));
  return new Set(paths.filter((path) => path !== '').map((path) => settle(join(root, path))));
}

const byKind = (start) => components.filter(({ purl }) => purl.startsWith(start));
const named = (list) => list.map(({ name, version }) => `${name} ${version}`);
const hashOf = (name) => components.find((each) => each.name === name)?.hashes[0].content;
const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

if (!lstatSync(root).isDirectory()) fail(`${root} is no folder`);
same('Gapstone', named([metadata.component]), named([readJson(join(home, 'package.json'))]));
same('Node', [`node ${nodeVersion}`, `sqlite ${sqliteVersion}`], named(byKind('pkg:generic/').slice(0, 2)));
shown(`the bill of materials names Node ${nodeVersion} and SQLite ${sqliteVersion}, as they say themselves`);

// The bundler leaves the path of each module above its text; the versions are those of the licences.
const programs = [...filesBelow(join(home, 'dist'))].filter((path) => path.endsWith('.js'));
const modules = new Set(['better-sqlite3']);
for (const path of programs)
  for (const [, name] of readFileSync(path, 'utf8').matchAll(
    /^\/\/ node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm,
  ))
    modules.add(name);
const licences = readFileSync(join(home, 'THIRD-PARTY-LICENSES.txt'), 'utf8').split(/\n-{80}\n\n/);
const versions = new Map(licences.map((text) => text.split(' ', 2)));
same(
  'npm packages',
  named(byKind('pkg:npm/')),
  [...modules].map((name) => `${name} ${versions.get(name)}`),
);
const all = [...filesBelow(root)];
const manifests = all.filter((path) => path.endsWith('/package.json')).map((path) => relative(home, path));
if (manifests.sort().join() !== 'node_modules/better-sqlite3/package.json,package.json')
  fail(`there are other modules than the driver: ${manifests.join(', ')}`);
shown(
  `the bill of materials names the ${modules.size} npm packages of which something is inside, and no other`,
);

const kind = existsSync(join(root, 'var', 'lib', 'dpkg', 'status')) ? 'deb' : 'rpm';
same('packages of the base', named(byKind(`pkg:${kind}/`)), listed);
if (byKind('pkg:').length !== byKind('pkg:npm/').length + listed.length + 3)
  fail('the bill of materials names what is of no known kind');
shown(
  `the bill of materials names the ${listed.length} packages of the base that its own ${kind === 'deb' ? 'dpkg' : 'rpm'} lists`,
);

if (kind === 'deb') {
  const base = filesOfBase();
  const others = all.filter((path) => isBinary(path) && !base.has(path));
  const driver = join(home, 'node_modules', 'better-sqlite3', 'prebuilds', `linux-${process.arch}.node`);
  const unknown = others.filter((path) => ![hashOf('node'), hashOf('sqlite')].includes(sha256(path)));
  if (unknown.length > 0)
    fail(`binaries of no package: ${unknown.map((path) => relative(root, path)).join(', ')}`);
  if (others.length !== 2 || !others.includes(driver))
    fail(`these are not Node and the driver: ${others.join(', ')}`);
  shown(
    `of ${all.filter(isBinary).length} binaries, all are of packages of the base but Node and one driver, whose SHA-256 is in the bill`,
  );
}

const privileged = all.filter((path) => lstatSync(path).mode & 0o6000);
if (privileged.length > 0)
  fail(`setuid or setgid: ${privileged.map((path) => relative(root, path)).join(', ')}`);
shown(`none of ${all.length} files is setuid or setgid`);
const tools = /^(npm|npx|corepack|yarn|yarnpkg|gcc|cc|g\+\+|c\+\+|make|python3?|curl|wget)$/;
const left = all.filter((path) => /\/s?bin$/.test(dirname(path)) && tools.test(path.split('/').at(-1)));
if (left.length > 0)
  fail(`it has what it never runs: ${left.map((path) => relative(root, path)).join(', ')}`);
shown('it has no npm, no compiler and no program that fetches');

const documentation = /^usr\/share\/(doc|man|info|locale)\//;
const seen = new Set();
let bytes = 0;
for (const path of all) {
  const { size, ino } = lstatSync(path);
  if (seen.has(ino) || documentation.test(relative(root, path))) continue;
  seen.add(ino);
  bytes += size;
}
if (bytes >= 220e6)
  fail(`it has ${(bytes / 1e6).toFixed(1)} MB without its documentation, and should have less than 220`);
shown(`it has ${(bytes / 1e6).toFixed(1)} MB without the documentation of its base`);
