import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { generateSource } from 'oazapfts';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { testApp } from './support/app.ts';
import { addControls } from './support/control-rows.ts';
import { suite } from './support/harness.ts';
import { publishedDocument } from './support/published.ts';
import { shipped } from './support/reference.ts';
import { put, scratchFolder } from './support/scratch.ts';

// A client is generated from /openapi.json, compiled with what somebody would write over it, and used.
const test = suite('A generated TypeScript client');

/** What somebody writes over a generated client; each line that must not compile says so. */
const program = `
import * as api from './api.ts';

export type Ask = { fetch: typeof fetch; headers: Record<string, string> };

/** Arrays of words go as arrays. */
export async function found(opts: Ask): Promise<string[]> {
  const answer = await api.searchRules({ q: 'the', severity: ['high', 'low'], limit: 100 }, opts);
  if (answer.status === 429) throw new Error(answer.data.error.message);
  if (answer.status !== 200) throw new Error(String(answer.status));
  return answer.data.results.map((rule) => rule.severity);
}

export async function paths(opts: Ask): Promise<string[]> {
  const answer = await api.resolveCrosswalk('nist-800-53:AC-2', 'cci', { status: ['auto', 'verified'] }, opts);
  if (answer.status !== 200) throw new Error(String(answer.status));
  const { reason, truncated } = answer.data;
  const cut: true | undefined = truncated;
  return answer.data.paths.flatMap((path) => path.controls.map((step) => \`\${step.status} \${cut} \${reason?.code}\`));
}

export async function lists(opts: Ask): Promise<(string[] | undefined)[]> {
  const made = await api.createList({ name: 'Web', visibility: 'SHARED', tags: ['a'] }, opts);
  if (made.status !== 201) throw new Error(String(made.status));
  const added = await api.addListStigs(made.data.id, { slugs: ['harbor_linux_3', 'nobody'] }, {}, opts);
  if (added.status !== 200) throw new Error(String(added.status));
  const all = await api.listLists({ include: ['slugs'] }, opts);
  if (all.status !== 200) throw new Error(String(all.status));
  return [added.data.notFound, ...all.data.lists.map((list) => list.stigSlugs)];
}

export async function controls(opts: Ask): Promise<string> {
  const answer = await api.getNist80053Control('AC-2', {}, opts);
  if (answer.status !== 200) throw new Error(String(answer.status));
  const { identifier, baselines, statementParts, withdrawn } = answer.data;
  const deep: string | undefined = statementParts[0]?.parts[0]?.label;
  return [identifier, ...baselines, deep, withdrawn?.incorporatedInto.length].join();
}

/** The formats of a download are told apart by what they hold. */
export async function download(opts: Ask): Promise<string> {
  const answer = await api.downloadStig('harbor_linux_3', { format: 'cklb', hostName: 'h' }, opts);
  if (answer.status !== 200) throw new Error(String(answer.status));
  if (!('cklb_version' in answer.data)) return answer.data.groups[0]!.ruleTitle;
  const kind: '1.0' = answer.data.cklb_version;
  return kind + answer.data.target_data.host_name;
}

/** What may be null is seen to be. */
export function matched(rule: api.UpgradedRule): string {
  // @ts-expect-error: it may be null
  const always: string = rule.matchedBy;
  return rule.matchedBy === null ? rule.reason : rule.matchedBy.toUpperCase() + always + rule.lost?.comments;
}

export function changed(change: api.FieldChange): string[] {
  return change.field === 'ccis' ? change.added : [change.old];
}

export const wrong = [
  // @ts-expect-error: no such severity
  () => api.searchRules({ q: 'a', severity: ['critical'] }),
  // @ts-expect-error: no array of words
  () => api.listLists({ include: [1] }),
  // @ts-expect-error: a name is required
  () => api.createList({ tags: [] }),
  // @ts-expect-error: a body without a pair
  () => api.resolveCrosswalkBatch({ from: [{ framework: 'cci' }], to: ['cci'] }),
];
`;

/** Generates and compiles in a folder; gives what the compiler said. */
async function compiled(folder: string, written: string): Promise<string> {
  put(folder, 'openapi.json', JSON.stringify(await publishedDocument()));
  put(folder, 'package.json', '{ "type": "module" }');
  put(folder, 'api.ts', await generateSource(join(folder, 'openapi.json')));
  put(folder, 'program.ts', written);
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  const settings = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom,dom.iterable'];
  const checks = ['--strict', '--exactOptionalPropertyTypes', 'false', '--rewriteRelativeImportExtensions'];
  const args = [
    join(dirname(compiler), 'bin', 'tsc'),
    ...settings,
    ...checks,
    '--types',
    '',
    'program.ts',
    'wrong.ts',
  ];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return stdout + stderr;
}

test('it compiles, takes arrays, sees what may be null, and works', async () => {
  const folder = scratchFolder();
  put(
    folder,
    'wrong.ts',
    `import * as api from './api.ts';
     export const a = api.searchRules({ q: 'a', severity: 'high' });
     export const b = (rule: api.UpgradedRule): string => rule.matchedBy;
     export const c = (record: api.ControlRecord80053): number => record.title;`,
  );
  const said = await compiled(folder, program);
  // What does not fit the interface does not compile, and nothing else.
  const faults = [...said.matchAll(/^(\w+\.ts)\((\d+),/gm)].map(([, file, line]) => `${file} ${line}`);
  assert.equal(faults, ['wrong.ts 2', 'wrong.ts 3', 'wrong.ts 4'], said);
  const t = await testApp([shipped('stigs')]);
  addControls(t.db);
  const asked: string[] = [];
  const opts = {
    headers: { Authorization: `Bearer ${await t.token()}` },
    fetch: async (input: string, init: RequestInit) => {
      asked.push(`${init.method ?? 'GET'} ${input.replace(/^\/+/, '/')}`);
      return t.app.request(asked.at(-1)!.split(' ')[1]!, init);
    },
  };
  const client = await import(pathToFileURL(join(folder, 'program.js')).href);
  const severities = new Set(await client.found(opts));
  assert.equal(severities, new Set(['high', 'low']));
  assert.match(asked[0]!, '/api/v1/search?q=the&severity=high&severity=low&');
  await client.paths(opts);
  assert.match(asked[1]!, 'status=auto&status=verified');
  assert.equal(await client.lists(opts), [['nobody'], ['harbor_linux_3']]);
  assert.match(asked.at(-1)!, 'GET /api/v1/lists?include=slugs');
  assert.match(await client.controls(opts), /^AC-2,/);
  assert.is(await client.download(opts), '1.0h');
  t.db.close();
});

test.run();
