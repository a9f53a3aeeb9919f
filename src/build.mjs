// Bundles the programs into `dist` when their sources changed since the last build; `npm start` runs it first. esbuild
// strips the types: `npm run typecheck` checks them. Plain JavaScript, because it runs before anything is built.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const stamp = join(dist, '.sources');
/** The entry points: the command line, the query workers, and the threads that read uploads and revocation lists and write zips. */
const programs = [
  'src/cli.ts',
  'src/work/worker.ts',
  'src/pages/checklists/upload-thread.ts',
  'src/checklists/zip-worker.ts',
  'src/auth/revocation-thread.ts',
];
const assets = 'src/pages/assets';

function filesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function digest() {
  const settings = ['tsconfig.json', 'package-lock.json'].map((name) => join(root, name));
  const hash = createHash('sha256');
  for (const file of [...settings, ...filesBelow('src'), ...filesBelow('importers')].sort()) {
    const bytes = readFileSync(file);
    hash.update(`${file.replace(root, '')}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

/** Bundles each program with everything that it imports into few files: 580 modules take longer to read than a start. */
async function bundle() {
  // Imported here: esbuild is missing where nothing needs to be built.
  const { build } = await import('esbuild');
  return build({
    // Makes the bundle independent of the directory in which the build runs: texts and chunk names contain relative
    // paths.
    absWorkingDir: root,
    entryPoints: programs,
    outbase: '.',
    outdir: 'dist',
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // The driver searches for its native library relative to its own files.
    external: ['better-sqlite3'],
    // CommonJS packages call `require` for Node's modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
    metafile: true,
    plugins: [onlyEnglish, noValidator],
  });
}

/** Leaves out the messages of zod in fifty other languages, a tenth of the bundle, which each start would read. */
const onlyEnglish = {
  name: 'only English',
  setup(build) {
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** Leaves out the validator of JSON Schema that programs never need: 40 % of what their first message loads. */
const noValidator = {
  name: 'no validator',
  setup(build) {
    build.onLoad({ filter: /\/@modelcontextprotocol\/server\/dist\/shimsNode\.mjs$/ }, () => ({
      contents:
        "export { default as process } from 'node:process'; export class DefaultJsonSchemaValidator {}",
    }));
  },
};

async function minifyAssets() {
  const { build } = await import('esbuild');
  return build({
    absWorkingDir: root,
    entryPoints: filesBelow(assets),
    outdir: join('dist', assets),
    minify: true,
    loader: { '.svg': 'copy' },
    logLevel: 'warning',
    metafile: true,
  });
}

/** The packages in the bundle or loaded beside it, as paths of the lock file. */
function packagesInside({ outputs }) {
  const files = Object.values(outputs).flatMap(({ inputs, imports }) => [
    ...Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0),
    ...imports
      .filter(({ path, external }) => external && !isBuiltin(path))
      .map(({ path }) => `node_modules/${path}`),
  ]);
  const paths = files.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(paths)].filter((path) => path !== undefined).sort();
}

const sourceDigest = digest();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== sourceDigest) {
  process.stderr.write('building Gapstone; it is not built again until its source changes\n');
  mkdirSync(dist, { recursive: true });
  rmSync(stamp, { force: true });
  const made = await Promise.all([bundle(), minifyAssets()]);
  const current = new Set(made.flatMap(({ metafile }) => Object.keys(metafile.outputs)));
  for (const folder of ['dist/chunks', 'dist/src'])
    for (const file of filesBelow(folder)) if (!current.has(file.slice(root.length + 1))) rmSync(file);
  writeFileSync(
    join(dist, 'packages.json'),
    `${JSON.stringify(packagesInside(made[0].metafile), null, 2)}\n`,
  );
  writeFileSync(stamp, sourceDigest);
}
// `gapstone --version` prints it. Without git, as in the build of the image, the caller of that build passes the
// commit.
const { status: isGit, stdout: commit } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root });
if (isGit === 0) writeFileSync(join(dist, '.commit'), commit);
