// Loads the sources as they are: `node --import ./test/support/loader.mjs FILE.ts`. Node strips the types; esbuild
// compiles JSX. Both results are cached, so that an edit costs one file.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..');
/** What the tests keep between runs; `npm ci` removes it. */
const cache = join(root, 'node_modules', '.cache', 'gapstone');
// Threads, and programs that the tests start.
process.env.NODE_OPTIONS ??= `--import=${import.meta.url}`;
enableCompileCache(join(cache, 'compiled'));

// Modules whose relative imports are ES modules: Node would read a package.json for each import to find that out.
const sources = ['src', 'importers', 'test'].map((folder) => `${pathToFileURL(join(root, folder))}/`);
const packages = /\/node_modules\/(?:drizzle-orm|hono|zod)\/.*\.js$/;
const isSource = (url) => sources.some((folder) => url.startsWith(folder));
/** What the sources import of packages, found once in a process. */
const found = new Map();
const properties = pathToFileURL(join(import.meta.dirname, 'properties.ts')).href;
const formats = { ts: 'module-typescript', js: 'module' };

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '', conditions } = context;
    const ofSource = isSource(parentURL);
    if (!conditions.includes('import') || !(ofSource || packages.test(parentURL)))
      return next(specifier, context);
    if (!specifier.startsWith('.')) {
      if (!ofSource) return next(specifier, context);
      if (specifier === 'fast-check' && parentURL !== properties)
        return { url: properties, format: formats.ts, shortCircuit: true };
      if (!found.has(specifier)) found.set(specifier, next(specifier, context));
      return { ...found.get(specifier), shortCircuit: true };
    }
    const url = new URL(specifier, parentURL).href;
    return { url, format: formats[url.split('.').at(-1)], shortCircuit: true };
  },
  load(url, context, next) {
    if (!/\.tsx(?:\?again)?$/.test(url)) return next(url, context);
    return { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true };
  },
});

/** The JavaScript of a TSX file, from the cache unless the file has changed. */
function compiled(file) {
  const text = readFileSync(file, 'utf8');
  const key = `// ${createHash('sha256').update(text).digest('hex')}\n`;
  const place = join(cache, 'tsx', basename(dirname(file)), `${basename(file)}.js`);
  try {
    const stored = readFileSync(place, 'utf8');
    if (stored.startsWith(key)) return stored;
  } catch {
    // It is not there yet.
  }
  const { transformSync } = createRequire(import.meta.url)('esbuild');
  const { code } = transformSync(text, {
    loader: 'tsx',
    format: 'esm',
    target: 'es2024',
    sourcefile: file,
    tsconfigRaw: readFileSync(join(root, 'tsconfig.json'), 'utf8'),
  });
  try {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(`${place}.${process.pid}`, key + code);
    renameSync(`${place}.${process.pid}`, place);
  } catch (error) {
    // Another account, under which some tests start a program, compiles it each time.
    if (error.code !== 'EACCES') throw error;
  }
  return key + code;
}
