import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { suite } from '../support/harness.ts';
import { putCatalog } from '../support/prepared.ts';
import { message } from '../support/programs-client.ts';
import { shipped } from '../support/reference.ts';
import { scratchFolder } from '../support/scratch.ts';
import { importInto } from '../support/site.ts';

// `gapstone mcp` (rules D41.1 and D41.2): lines in, lines out, and the end of the pipe.
const test = suite('gapstone mcp');
const cli = join(packageRoot, 'dist', 'src', 'cli.js');
const folder = scratchFolder();
const db = join(folder, 'g.db');

test.before(async () => {
  await putCatalog(db);
});

interface Ended {
  code: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  lines: any[];
  stderr: string;
}

/** Runs the command with some input, to the end of it. */
async function run(
  input: string | (string | Buffer)[],
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [cli, 'mcp', '--db', db, ...args], {
    env: { PATH: process.env.PATH!, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  child.stdin.on('error', () => undefined);
  for (const part of [input].flat()) child.stdin.write(part);
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  return {
    code,
    stderr,
    lines: stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  };
}

const line = (name: string, args: object, id: unknown = 1) =>
  `${JSON.stringify(message('tools/call', { name, arguments: args }, id))}\n`;
const answerOf = ({ lines }: Ended, id: unknown) =>
  JSON.parse(lines.find((each) => each.id === id).result.content[0].text);

test('it answers each question before it ends with its input, without a token', async () => {
  const ended = await run(
    line('get_rule', { id: 'V-900001' }, 1) + line('coverage', { stig: 'lantern' }, 'two'),
  );
  assert.equal([ended.code, ended.stderr], [0, '']);
  assert.is(answerOf(ended, 1).groupId, 'V-900001');
  assert.is(answerOf(ended, 'two').found, true);
  const without = await run(line('my_lists', {}));
  assert.equal(
    [without.lines[0].result.isError, without.lines[0].result.content[0].text],
    [true, 'Lists need a user token: start gapstone mcp with --token-file'],
  );
});

test('garbage, half lines, batches, wrong shapes and long lines: an error each, and the next question is answered', async () => {
  const deep = '['.repeat(200_000);
  const params = { name: 'find', arguments: 'audit' };
  const ended = await run([
    Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]),
    `${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })}\n`,
    `${JSON.stringify({ jsonrpc: '2.0', id: {}, method: 'tools/list' })}\n`,
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 5 })}\n`,
    ...['garbage\n', '\n', '{}\n', '7\n', '[]\n', `[${line('catalog_info', {}).trim()}]\n`, `${deep}\n`],
    ...[
      '\0\u0001\u0002\n',
      `{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"a":"${'x'.repeat(2_000_000)}"}}\n`,
    ],
    ...[
      line('get_control', { id: 'AC-2' }, 5).slice(0, 40),
      line('get_control', { id: 'AC-2' }, 5).slice(40),
    ],
    '{"jsonrpc":"2.0","id":3',
  ]);
  assert.is(ended.code, 0);
  assert.equal(
    ended.lines
      .filter(({ error }) => error)
      .map(({ id, error }) => [id, error.code])
      .sort(),
    [[7, -32602], ...[...Array(8).fill(-32600), ...Array(4).fill(-32700)].map((code) => [null, code])].sort(),
  );
  assert.is(answerOf(ended, 5).identifier, 'AC-2');
});

test('a cancelled request is not waited for, 200 at once are all answered, an unknown method is one', async () => {
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'gone' } };
  const all = Array.from({ length: 200 }, (_, id) => line('get_control', { id: 'AC-2' }, id));
  const unknown = ['initialize', 'subscriptions/listen'].map((method) => message(method, {}, method));
  const rest = [cancel, ...unknown].map((each) => `${JSON.stringify(each)}\n`);
  const ended = await run([line('coverage', { stig: 'lantern' }, 'gone'), ...rest, ...all]);
  assert.equal([ended.code, ended.stderr], [0, '']);
  assert.is(ended.lines.filter(({ id, result }) => id !== 'gone' && result).length, 200);
  const error = { code: -32601, message: 'Method not found' };
  for (const { id } of unknown)
    assert.equal(
      ended.lines.find((each) => each.id === id),
      { jsonrpc: '2.0', id, error },
    );
});

test('it ends when its pipe is closed, and when nobody reads', async () => {
  const child = spawn(process.execPath, [cli, 'mcp', '--db', db], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write(line('catalog_info', {}));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  child.stdin.on('error', () => undefined);
  child.stdin.write(line('catalog_info', {}, 2));
  await once(child, 'exit');
  const other = spawn(process.execPath, [cli, 'mcp', '--db', db], { stdio: ['pipe', 'pipe', 'ignore'] });
  other.stdin.write(line('catalog_info', {}));
  await once(other.stdout, 'data');
  other.stdin.destroy();
  assert.equal(await once(other, 'exit'), [0, null]);
});

test('what is imported meanwhile is in the next answer', async () => {
  const small = join(folder, 'small.db');
  await importInto(small, [shipped('stigs')]);
  const child = spawn(process.execPath, [cli, 'mcp', '--db', small], { stdio: ['pipe', 'pipe', 'ignore'] });
  const reader = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async () => {
    child.stdin.write(line('get_control', { id: 'AC-2' }));
    return JSON.parse(JSON.parse((await reader.next()).value!).result.content[0].text);
  };
  assert.is((await ask()).reason, 'not_imported');
  await importInto(small, [shipped('controls')]);
  assert.is((await ask()).identifier, 'AC-2');
  child.stdin.end();
  assert.equal(await once(child, 'exit'), [0, null]);
});

test('a token file gives lists; a bad one, and GAPSTONE_MCP=off, end the start with one line', async () => {
  const issued = spawn(process.execPath, [cli, 'token', 'issue', '--subject', 'ann', '--db', db], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let token = '';
  issued.stdout.on('data', (chunk) => (token += chunk));
  await once(issued, 'close');
  const file = join(folder, 'token.txt');
  writeFileSync(file, token);
  assert.equal(answerOf(await run(line('my_lists', {}), ['--token-file', file]), 1).lists, []);
  writeFileSync(file, token.trim().slice(0, -5));
  for (const [args, env] of [
    [['--token-file', file], {}],
    [['--token-file', join(folder, 'none.txt')], {}],
    [[], { GAPSTONE_MCP: 'off' }],
    [['--db', join(folder, 'none.db')], {}],
  ] as [string[], Record<string, string>][]) {
    const { code, lines, stderr } = await run('', args, env);
    assert.equal([code, lines], [1, []], stderr);
    assert.match(stderr, /^gapstone: [^\n]+\n$/);
  }
});

test.run();
