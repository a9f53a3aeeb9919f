import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type AnyNode, parse } from 'acorn';
import { transformSync } from 'esbuild';
import { checkSync } from 'recheck';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { suite } from './support/harness.ts';

// Threat P5: every regular expression of the sources is checked by recheck. One that takes more than its length has to
// be named here with the bound of its texts. Verdicts of recheck are kept, as some take a minute.
const regexps = suite('Regular expressions');

/** Expressions of polynomial kind, and why no text makes them slow. */
const bounded: Record<string, string> = {
  '/[^\\s@"\'<>(),;:]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,8}/g': 'every repetition is bounded',
  '/^https?:\\/\\/([^/?]*)(.*)$/i': 'a request line has no line break: it cannot fail',
  '/_v(?:er(?:sion)?)?_?(\\d+)_?r(?:el(?:ease)?)?_?(0_\\d+|\\d+)(?:_.*)?$/':
    'names of at most 1,000 characters',
  '/[^a-z0-9]v(?:er(?:sion)?)?[\\W_]*\\d+[\\W_]*r(?:el(?:ease)?)?[\\W_]*(?:0[._-]\\d+|\\d+)(?![a-z0-9])/gi':
    'cells of at most 500 characters',
  '/\\(.*?\\)/g': 'titles cut to 1,000 characters',
  '/ v\\d+r\\d+\\b.*$/': 'words on one line: it cannot fail',
  '/^(.*\\S)[\\s,]+v?(\\d+)[.\\s-](\\d+)$/i': 'names of at most 500 characters',
  '/^\\s*([a-z]{2})\\s{0,4}-\\s{0,4}0*(\\d{1,4})(?!\\d)(?:\\s{0,4}\\(\\s{0,4}0*(\\d{1,4})\\s{0,4}\\))?(.*)$/is':
    'begins at the beginning only; its repetitions are bounded but for zeros',
  '/:$|\\bfollowing\\b[^.:;!?]{0,500}$/i': 'the repetition is bounded',
  '/\\[\\^[^\\]\\s]{1,50}\\]/g': 'the repetition is bounded',
  '/^\\s*\\{[^\\n]*\\}(?=[ \\t]*\\r?\\n\\s*\\S)/': 'begins at the beginning only, of one line',
  '/^(?!\\s*\\.)(?:[\\s.]*(?:\\([\\w ]+\\)|[a-z]{1,2}(?![a-z])|\\d{1,2}(?!\\d)))*[\\s.]*$/i':
    'references of the CCI list, one for each of its items',
  '/^---[ \\t]*\\r?\\n([\\s\\S]{0,65536}?)(?<=\\n)---[ \\t]*\\r?(?=\\n|$)/': 'heads of at most 64 KiB',
  '/<!--[\\s\\S]*?-->/g': 'the text ends with the end of a comment: it cannot fail',
  '/\\b(?:unless|except|excluding|with the exception of|other than|(?:does|do|shall|must) not apply to)\\b[^,;.]*/gi':
    'cannot fail after its first word',
  '/Release:\\s{0,20}\\S{1,100}\\s/': 'every repetition is bounded',
  '/^(?:[ \\t>]|[-+*](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))*/': 'begins at the beginning only, and cannot fail',
  '/^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\\.?$/i':
    'its repetitions are bounded between points',
  '/<(?:[\\w.-]+:)?(?:Benchmark|cci_list|catalog|profile|mapping-collection|IMPORT_FILE|DiacapToRmf|data-stream(?:-collection)?)[\\s>]/':
    'each attempt begins at <, which no repetition takes',
  '/(?<=\\d)[\\s,;|]+(?=S?V-)/i': 'each run of separators is read once, after its digit',
  '/([^/\\\\#?]+)(?:[#?].*)?$/': 'ends of addresses of 500 characters',
  '/(?:\\.(?:json|xml|gz|min))+$/': 'names of at most 500 characters',
  '/\\bthis\\b.{0,80}\\b(?:directive|document|publication|policy|guidance|guidelines?|standard|instruction|memorandum|manual|regulation|framework|order|bulletin|notice|circular|version|edition)\\b/i':
    'the repetition is bounded',
  '/\\/+$/': 'ends of systems of 40 characters',
  '/(?:_stig|_srg)+$/': 'each repetition has letters of its own: five times the length at most',
};

/** The beginning of one that recheck cannot decide: of sentences, a few words after each first one. */
const timing = '/\\bwithin (?:\\w+ )?(?:\\d+|an?|one|two';

/** How many expressions a file makes of texts. Those made when a module is read are checked with the literals. */
const made: Record<string, number> = {
  'src/base/installation.ts': 1,
  'src/pages/parts/prose.tsx': 4,
  'src/checklists/inspect.ts': 1,
  // Of the name of a site, 64 characters without marks but the point.
  'src/commands/backup.ts': 1,
  'src/catalog/controls/id-grammar.ts': 1,
  'src/catalog/search/pattern.ts': 1,
  'src/catalog/search/query.ts': 3,
  'src/catalog/search/relaxed.ts': 1,
  'src/catalog/stigs/host-schema.ts': 2,
  // Of one word of a question.
  'src/catalog/stigs/name-match.ts': 2,
  'importers/parse-xml.ts': 2,
  'importers/controls/oscal-publication.ts': 1,
  'importers/guidance/document-status.ts': 5,
  'importers/guidance/sentences.ts': 2,
  'importers/guidance/csf.ts': 1,
  'importers/guidance/markdown.ts': 1,
  'importers/stigs/xccdf-description.ts': 1,
};

const files = ['src', 'importers'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(packageRoot, join(entry.parentPath, entry.name))),
);
const written = (source: string, flags: string) => `/${source}/${flags}`;

/** The expressions of a file, and how many others it makes of texts. */
function readFile(path: string): { literals: string[]; makes: number } {
  const text = readFileSync(join(packageRoot, path), 'utf8');
  const { code } = transformSync(text, { loader: path.endsWith('x') ? 'tsx' : 'ts', target: 'es2024' });
  const literals: string[] = [];
  let makes = 0;
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, regex, callee } = node as AnyNode & {
      regex?: RegExp & { pattern: string };
      callee?: AnyNode;
    };
    if (type === 'Literal' && regex) literals.push(written(regex.pattern, regex.flags));
    if (callee?.type === 'Identifier' && callee.name === 'RegExp') makes++;
    for (const each of Object.values(node)) walk(each);
  };
  walk(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }));
  return { literals, makes };
}

/** The expressions that modules make when they are read, without those of what they import. */
async function madeAtImport(paths: Iterable<string>): Promise<string[]> {
  const modules = [...paths].map((path) => join(packageRoot, path));
  for (const each of modules) await import(each);
  const found: string[] = [];
  const { RegExp: own } = globalThis;
  globalThis.RegExp = new Proxy(own, {
    construct(target, args) {
      const each = new target(...(args as [string, string]));
      found.push(written(each.source, each.flags));
      return each;
    },
  });
  try {
    for (const each of modules) await import(`${each}?again`);
  } finally {
    globalThis.RegExp = own;
  }
  return found;
}

const verdicts = join(packageRoot, 'test', 'support', 'regexps.txt');
const hashOf = (expression: string) => createHash('sha256').update(expression).digest('hex').slice(0, 10);

regexps('none takes more than its length, but where its texts are bounded', async () => {
  const read = files.map((path) => ({ path, ...readFile(path) }));
  const making = read.filter(({ makes }) => makes > 0).map(({ path, makes }) => [path, makes]);
  assert.equal(Object.fromEntries(making), made);
  const all = new Set([
    ...read.flatMap(({ literals }) => literals),
    ...(await madeAtImport(Object.keys(made))),
  ]);
  assert.ok(all.size > 600, `${all.size} expressions`);
  assert.equal(
    Object.keys(bounded).filter((each) => !all.has(each)),
    [],
    'named but gone',
  );
  const safe = new Set(readFileSync(verdicts, 'utf8').trim().split(/\s+/));
  process.env.RECHECK_BACKEND = 'pure';
  const slow: string[] = [];
  const reviewed = (each: string) => each in bounded || each.startsWith(timing);
  for (const each of all) {
    if (reviewed(each) || safe.has(hashOf(each))) continue;
    const end = each.lastIndexOf('/');
    const found = checkSync(each.slice(1, end), each.slice(end + 1), { timeout: 120_000 });
    if (found.status === 'safe') safe.add(hashOf(each));
    else slow.push(`${each}: ${found.status === 'vulnerable' ? found.complexity.summary : found.status}`);
  }
  assert.equal(slow, []);
  const kept = [...all].map(hashOf).filter((each) => safe.has(each));
  if (process.env.GAPSTONE_UPDATE_GOLDEN === '1')
    writeFileSync(
      verdicts,
      `${kept
        .sort()
        .join(' ')
        .replace(/(.{109}) /g, '$1\n')}\n`,
    );
});

regexps('recheck finds what is slow', () => {
  process.env.RECHECK_BACKEND = 'pure';
  for (const [source, status] of [
    ['^[\\s,;]+|[\\s,;]+$', 'vulnerable'],
    ['(?:a+)+$', 'vulnerable'],
    ['^[\\w-]{43}$', 'safe'],
  ])
    assert.is(checkSync(source!, '').status, status, source);
});

regexps.run();
