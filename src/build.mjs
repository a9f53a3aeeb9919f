// Compiles the project when its sources changed since the last build; `npm start` and `npm test` run it first. Plain
// JavaScript, because it runs before anything is compiled.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const stamp = join(dist, '.sources');
/** The entry points: the command line, and the thread that reads uploads. */
const programs = [join('src', 'cli.js'), join('src', 'site', 'checklists', 'upload-thread.js')];
const assets = join('src', 'site', 'assets');

function sources() {
  const files = ['tsconfig.json', 'package-lock.json'];
  // The container is built without the tests.
  for (const folder of ['src', 'importers', 'test'].filter((name) => existsSync(join(root, name)))) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && /\.(tsx?|css|js|mjs|svg)$/.test(entry.name))
        files.push(join(entry.parentPath, entry.name));
    }
  }
  return files.sort();
}

function digest() {
  const hash = createHash('sha256');
  for (const file of sources()) {
    const bytes = readFileSync(file.startsWith(root) ? file : join(root, file));
    hash.update(`${file.replace(root, '')}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

/**
 * Bundles each program with everything that it imports into few files: reading some 580 modules takes longer than the
 * rest of a start. The single compiled modules stay beside the bundle, for the tests.
 */
async function bundle() {
  // Imported here: esbuild is missing where nothing needs to be built.
  const { build } = await import('esbuild');
  return build({
    // Makes the bundle independent of the directory in which the build runs: texts and chunk names contain relative
    // paths.
    absWorkingDir: root,
    entryPoints: programs.map((program) => join(dist, program)),
    outbase: dist,
    outdir: dist,
    allowOverwrite: true,
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
  const names = readdirSync(join(root, assets));
  return build({
    entryPoints: names.filter((name) => /\.(css|js)$/.test(name)).map((name) => join(root, assets, name)),
    outdir: join(dist, assets),
    minify: true,
    logLevel: 'warning',
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

const wanted = digest();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  process.stderr.write('building Gapstone; it is not built again until its source changes\n');
  rmSync(dist, { recursive: true, force: true });
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  const { status } = spawnSync(process.execPath, [join(dirname(compiler), 'bin', 'tsc'), '-p', root], {
    stdio: 'inherit',
  });
  if (status === 0) {
    cpSync(join(root, assets), join(dist, assets), { recursive: true });
    await minifyAssets();
    const { metafile } = await bundle();
    writeFileSync(join(dist, 'packages.json'), `${JSON.stringify(packagesInside(metafile), null, 2)}\n`);
    writeFileSync(stamp, wanted);
  }
  process.exitCode = status ?? 1;
}
// `gapstone --version` prints it. Without git, as in the build of the image, the caller of that build passes the
// commit.
const { status: isGit, stdout: commit } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root });
if (isGit === 0 && existsSync(dist)) writeFileSync(join(dist, '.commit'), commit);
