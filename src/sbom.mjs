// The software bill of materials (CycloneDX) of what runs: `node src/sbom.mjs [FOLDER] [--base]`. FOLDER is the result
// of src/runtime-tree.mjs, by default this checkout. It names the npm packages inside, the Node that runs this script,
// the driver and its SQLite, and with --base the packages of the system. Prints it, and writes it to
// FOLDER/dist/sbom.cdx.json. The same content gives the same bytes. Plain JavaScript, as the build is.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = process.argv.slice(2).find((argument) => argument !== '--base') ?? root;
const withBase = process.argv.includes('--base');
const file = join(folder, 'dist', 'sbom.cdx.json');

const readJson = (...parts) => JSON.parse(readFileSync(join(root, ...parts), 'utf8'));
const locked = readJson('package-lock.json').packages;
const inside = readJson('dist', 'packages.json');
const hashesOf = (path) => [
  { alg: 'SHA-256', content: createHash('sha256').update(readFileSync(path)).digest('hex') },
];

function component(type, name, version, purl, license) {
  const licenses = license === undefined ? {} : { licenses: [{ license: { id: license } }] };
  return { 'bom-ref': purl, type, name, version, scope: 'required', purl, ...licenses };
}

const nameOf = (path) => path.split('node_modules/').at(-1);

function npmPackage(path) {
  const { version, license, integrity } = locked[path];
  const purl = `pkg:npm/${nameOf(path).replace('@', '%40')}@${version}`;
  const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return {
    ...component('library', nameOf(path), version, purl, license),
    hashes: [{ alg: 'SHA-512', content }],
  };
}

/** The packages of the system, as its dpkg or rpm lists them. */
function basePackages() {
  const lines = readFileSync('/etc/os-release', 'utf8').matchAll(/^(\w+)="?(.*?)"?$/gm);
  const { ID: id, VERSION_ID: versionId } = Object.fromEntries(
    [...lines].map(([, name, text]) => [name, text]),
  );
  const distro = `${id}-${versionId}`;
  const isDebian = existsSync('/var/lib/dpkg/status');
  const text = isDebian
    ? // biome-ignore lint/suspicious/noTemplateCurlyInString: these are placeholders of dpkg
      execFileSync('dpkg-query', ['-W', '-f', '${db:Status-Status} ${Package} ${Version} ${Architecture}\\n'])
    : execFileSync('rpm', [
        '-qa',
        '--qf',
        'installed %{NAME} %|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE} %{ARCH}\\n',
      ]);
  const found = [...text.toString().matchAll(/^installed (\S+) (?:(\d+):)?(\S+) (\S+)$/gm)].map(
    ([, name, epoch, version, arch]) => {
      // An epoch is a part of the version for dpkg, and a qualifier for rpm.
      const whole = isDebian && epoch ? `${epoch}:${version}` : version;
      const qualifiers = `arch=${arch}&distro=${distro}${!isDebian && epoch ? `&epoch=${epoch}` : ''}`;
      const purl = `pkg:${isDebian ? 'deb' : 'rpm'}/${id}/${encodeURIComponent(name)}@${encodeURIComponent(whole)}`;
      return component('library', name, whole, `${purl}?${qualifiers}`);
    },
  );
  const system = component('operating-system', id, versionId, `pkg:generic/${distro}`);
  return [system, ...found.sort((a, b) => (a.purl < b.purl ? -1 : 1))];
}

const { version, license } = readJson('package.json');
const own = component('application', 'gapstone', version, `pkg:generic/gapstone@${version}`, license);

const driverHome = join(folder, 'node_modules', 'better-sqlite3');
const driver = join(driverHome, 'prebuilds', `${process.platform}-${process.arch}.node`);
const database = new (createRequire(join(driverHome, 'package.json'))('better-sqlite3'))(':memory:');
const sqliteVersion = database.prepare('SELECT sqlite_version()').pluck().get();
database.close();
const sqlite = {
  ...component('library', 'sqlite', sqliteVersion, `pkg:generic/sqlite@${sqliteVersion}`, 'blessing'),
  description: `compiled into better-sqlite3, ${relative(driverHome, driver)}`,
  hashes: hashesOf(driver),
};
const node = {
  ...component('platform', 'node', process.versions.node, `pkg:generic/node@${process.versions.node}`, 'MIT'),
  description: 'the runtime; its properties are what it says of the libraries that it uses',
  hashes: hashesOf(process.execPath),
  properties: Object.entries(process.versions)
    .filter(([name, value]) => name !== 'node' && value !== '')
    .map(([name, value]) => ({ name: `node:${name}`, value })),
};

const components = [...inside.map(npmPackage), node, sqlite, ...(withBase ? basePackages() : [])];
const bill = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  serialNumber: '',
  version: 1,
  metadata: { component: own },
  components,
  dependencies: [{ ref: own['bom-ref'], dependsOn: components.map((each) => each['bom-ref']) }],
};
// A UUID of version 8 (RFC 9562), made of the content.
bill.serialNumber = createHash('sha256')
  .update(JSON.stringify(bill))
  .digest('hex')
  .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, 'urn:uuid:$1-$2-8$3-a$4-$5');

const text = `${JSON.stringify(bill, null, 2)}\n`;
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, text);
process.stdout.write(text);
process.stderr.write(`written to ${file}: ${components.length} components\n`);
