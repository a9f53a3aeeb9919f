// The software bill of materials (CycloneDX) of what runs: npm's own, made from the lock file, with Node and the
// SQLite inside better-sqlite3 added. Printed, and written to dist/sbom.cdx.json. The same lock file gives the same
// bytes. Plain JavaScript, as the build is.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const file = join(root, 'dist', 'sbom.cdx.json');

const { status, stdout, stderr } = spawnSync(
  'npm',
  ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'],
  { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
);
if (status !== 0) {
  process.stderr.write(`npm sbom failed: ${stderr}\n`);
  process.exit(1);
}
const bill = JSON.parse(stdout);

// Left out here: `--omit dev` leaves out what development has in common with what runs, as well.
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const runs = new Set([bill.metadata.component['bom-ref']]);
for (const [path, { version, dev, optional, devOptional, peer }] of Object.entries(packages))
  if (!(dev || optional || devOptional || peer)) runs.add(`${path.split('node_modules/').at(-1)}@${version}`);
bill.components = bill.components.filter((component) => runs.has(component['bom-ref']));
bill.dependencies = bill.dependencies
  .filter(({ ref }) => runs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => runs.has(each)) }));

function runtime(name, version, license, description) {
  const purl = `pkg:generic/${name}@${version}`;
  const licenses = [{ license: { id: license } }];
  return { 'bom-ref': purl, type: 'library', name, version, scope: 'required', description, purl, licenses };
}
const database = new Sqlite(':memory:');
const sqlite = runtime(
  'sqlite',
  database.prepare('SELECT sqlite_version()').pluck().get(),
  'blessing',
  'compiled into better-sqlite3',
);
database.close();
const node = { ...runtime('node', process.versions.node, 'MIT', 'the runtime'), type: 'platform' };
bill.components.push(node, sqlite);

// npm names the project after its folder.
const own = bill.metadata.component;
own.name = 'gapstone';
bill.dependencies.find((entry) => entry.ref === own['bom-ref']).dependsOn.push(node['bom-ref']);
const driver = bill.components.find((component) => component.name === 'better-sqlite3')['bom-ref'];
bill.dependencies.find((entry) => entry.ref === driver).dependsOn.push(sqlite['bom-ref']);
bill.dependencies.push({ ref: node['bom-ref'], dependsOn: [] }, { ref: sqlite['bom-ref'], dependsOn: [] });

delete bill.metadata.timestamp;
delete bill.serialNumber;
const hash = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
const uuid = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
bill.serialNumber = `urn:uuid:${uuid}`;

const text = `${JSON.stringify(bill, null, 2)}\n`;
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, text);
process.stdout.write(text);
process.stderr.write(`written to dist/sbom.cdx.json: ${bill.components.length} components\n`);
