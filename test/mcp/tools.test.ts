import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { testAudit } from '../support/audit.ts';
import {
  ask,
  type Caller,
  countingIds,
  integrationCaller,
  sessionCaller,
  userCaller,
} from '../support/callers.ts';
import { assertGolden } from '../support/golden.ts';
import { suite } from '../support/harness.ts';
import { callTool, message, messageHeaders, reply, send } from '../support/programs-client.ts';
import { shipped } from '../support/reference.ts';
import { linesOf, rowsOf } from '../support/tables.ts';

// The tools for programs that reason (rules D41.1, D41.2, D41.3, D41.5), over what is shipped.
const test = suite('Tools for programs');
const needsUser =
  'You need a user token: send the header Authorization: Bearer TOKEN. On stdio, start gapstone mcp with --token-file';
let t: TestApp;
let alice: Caller;
let carol: Caller;
let list = '';
let shared = '';

test.before(async () => {
  t = await testApp([shipped()], { newId: countingIds() });
  alice = await userCaller(t);
  carol = await userCaller(t, { sub: 'carol', email: 'carol@example.org', org: 'blue' });
  const make = async (visibility: string) =>
    (await ask(t, 'POST', '/api/v1/lists', alice, { name: 'Ours', visibility })).json.id;
  list = await make('PRIVATE');
  shared = await make('SHARED');
  await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, {
    slugs: ['harbor_linux_3', 'lantern_web_server_2'],
    releases: { harbor_linux_3: 'V1R1' },
  });
});
test.after(() => t.db.close());

/** Calls of each tool with each kind of refusal, `<list>` being a list of alice; and arguments that mean the same. */
const tables = readFileSync(join(import.meta.dirname, 'tools.txt'), 'utf8').split('----\n');
const calls = rowsOf(tables[0]!).map(([who, tool, args]) => ({
  ...{ who: who as 'nobody' | 'alice' | 'carol', tool: tool! },
  args: (): Record<string, unknown> => JSON.parse(args!.replace('<list>', list)),
}));

test('the contract: what tools/list says, and an answer of each tool and of each refusal', async () => {
  const { result } = await reply(send(t, 'tools/list', {}));
  const tokens = JSON.stringify(result.tools).length / 4;
  assert.ok(tokens < 4000, `${tokens} tokens`);
  const lines = [JSON.stringify(result, null, 1)];
  for (const { who, tool, args } of calls) {
    const caller = who === 'nobody' ? {} : who === 'alice' ? alice : carol;
    const { text, isError } = await callTool(t, tool, args(), caller);
    lines.push(`${who} ${tool} ${JSON.stringify(args())}${isError ? ' (error)' : ''}\n${text}`);
  }
  const text = lines
    .join('\n\n')
    .replaceAll(list, '<list>')
    .replaceAll(shared, '<shared>')
    .replace(/"digest":"[0-9a-f]{64}"/g, '"digest":"<digest>"')
    .replace(/"cursor":"(?!0{12})[0-9a-f]{12}-/g, '"cursor":"<digest>-')
    .replace(/"changedAt":"[^"]+"/g, '"changedAt":"<time>"');
  assertGolden('programs.txt', `${text}\n`);
});

test('equal questions of several callers at once are answered to each by its rights', async () => {
  const rule = { id: 'V-900002' };
  const first = await callTool(t, 'get_rule', rule, alice);
  assert.equal(await callTool(t, 'get_rule', rule, carol), first);
  assert.is((await callTool(t, 'get_rule', rule)).text, needsUser);
  const [own, none] = [
    await callTool(t, 'my_lists', { list }, alice),
    'No list with this id. my_lists gives the ids',
  ];
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, at) => callTool(t, 'my_lists', { list }, [alice, carol, {}][at % 3])),
  );
  for (const [at, { text, json }] of answers.entries())
    if (at % 3 === 0) assert.is(text, own.text);
    else assert.is(at % 3 === 1 ? json.advice : text, at % 3 === 1 ? none : needsUser);
});

const asked: Record<string, object> = {
  find: { q: 'audit' },
  get_rule: { id: 'V-900001' },
  get_control: { id: 'AC-2' },
  get_stig: { stig: 'harbor_linux_3' },
  crosswalk: { from: 'AC-2', to: 'cci' },
  rules_for_control: { control: 'CM-6' },
  coverage: { stig: 'harbor_linux_3' },
  compare_releases: { stig: 'harbor_linux_3' },
};

test('who may call what: get_control and crosswalk are public, the others want a user token', async () => {
  const callers: Caller[] = [
    ...[{}, { Authorization: 'Bearer no' }, { Authorization: 'Basic x' }],
    ...[await userCaller(t, { iat: 1, exp: 2 }), await sessionCaller(t, alice)],
    await integrationCaller(t, 'reader', [list]),
  ];
  const { result } = await reply(send(t, 'tools/list', {}));
  assert.is(result.tools.length, 10);
  for (const { name } of result.tools) {
    const isPublic = name === 'get_control' || name === 'crosswalk';
    for (const caller of callers) {
      const { status, text, isError } = await callTool(t, name, asked[name] ?? {}, caller);
      assert.equal([status, isError], [200, !isPublic], `${name}: ${text}`);
      if (isError) assert.is(text, needsUser);
    }
    assert.not.ok((await callTool(t, name, asked[name] ?? {}, alice)).isError, name);
  }
  const read = (uri: string, caller?: Caller) => reply(send(t, 'resources/read', { uri }, caller));
  const uri = 'gapstone://rules/V-900001';
  assert.is((await read(uri)).error.message, needsUser);
  assert.is(JSON.parse((await read(uri, alice)).result.contents[0].text).groupId, 'V-900001');
  assert.is((await read('gapstone://rules/V-1', alice)).error.code, -32602);
});

test('ids, names, releases and frameworks are read as people write them', async () => {
  const same = rowsOf(tables[1]!).map(([tool, args, of, spellings]) => ({
    ...{ tool: tool!, args: JSON.parse(args!), of: of! },
    spellings: spellings!.split(';').map((each) => each.trim()),
  }));
  for (const { tool, args, of, spellings } of same) {
    const answers = await Promise.all(
      spellings.map((each) => callTool(t, tool, { ...args, [of]: each }, alice)),
    );
    assert.ok(answers[0]!.json.found, `${tool} ${spellings[0]}`);
    for (const [at, { json, text }] of answers.entries())
      assert.equal(
        { ...json, next: 0 },
        { ...answers[0]!.json, next: 0 },
        `${spellings[at]}: ${text.slice(0, 200)}`,
      );
  }
});

test("another's list and one that is not there are the same bytes", async () => {
  const ids = [list, '00000000-0000-4000-8000-00000000dead', 'x', "' OR 1=1 --", '__proto__'];
  const tools = [
    ['my_lists', (id: string) => ({ list: id })],
    ['find', (id: string) => ({ q: 'audit', list: id })],
    ['rules_for_control', (id: string) => ({ control: 'CM-6', list: id })],
    ['coverage', (id: string) => ({ list: id })],
  ] as const;
  for (const [name, args] of tools) {
    const answers = await Promise.all(ids.map((id) => callTool(t, name, args(id), carol)));
    assert.is(new Set(answers.map(({ text }) => text)).size, 1, name);
    assert.equal([answers[0]!.json.found, answers[0]!.json.reason], [false, 'unknown_id']);
    assert.is((await callTool(t, name, args(list), alice)).json.found, true, name);
  }
});

test('the audit stream gets the line of a 401, and the sign-in of a token', async () => {
  const audit = testAudit({ now: new Date('2026-11-21T12:00:00Z') });
  const own = await testApp([shipped('stigs')], { audit: audit.stream });
  const lines = () =>
    audit.lines().map(({ action, outcome, reason, objectId }) => [action, outcome, reason, objectId]);
  await callTool(own, 'get_rule', { id: 'V-1' }, {});
  await callTool(own, 'get_rule', { id: 'V-1' }, { Authorization: 'Bearer no' });
  await callTool(own, 'get_control', { id: 'AC-2' }, { Authorization: 'Bearer no' });
  await callTool(own, 'get_rule', { id: 'V-1' }, await userCaller(own));
  assert.equal(lines(), [
    ['auth.failure', 'denied', 'NO_CREDENTIALS', 'POST /mcp'],
    ['auth.failure', 'denied', 'INVALID_CREDENTIALS', 'POST /mcp'],
    ['auth.success', 'success', null, 'POST /mcp'],
  ]);
  own.db.close();
});

test('the official client reads every answer of both versions against its output schema', async () => {
  for (const versionNegotiation of [{ mode: { pin: '2026-07-28' } }, undefined]) {
    const client = new Client({ name: 'test', version: '1' }, {
      ...(versionNegotiation && { versionNegotiation }),
    } as object);
    const fetch = (input: string | URL | Request, init?: RequestInit) => {
      const headers = new Headers(init?.headers);
      headers.set('Authorization', alice.Authorization!);
      return Promise.resolve(
        t.app.request(new URL(String(input)).pathname, { ...init, headers } as RequestInit),
      );
    };
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch } as object),
    );
    assert.is((await client.listTools()).tools.length, 10);
    for (const { tool: name, args } of calls.filter(({ who }) => who === 'alice')) {
      const { structuredContent, isError } = await client.callTool({ name, arguments: args() });
      assert.ok(isError === true || structuredContent !== undefined, name);
    }
    await client.close();
  }
});

test('a batch, a message of another origin, and one for another host are refused', async () => {
  const body = JSON.stringify(message('tools/list', {}));
  const post = (headers: Record<string, string>, text = body) =>
    t.app.request('/mcp', {
      method: 'POST',
      headers: { ...messageHeaders('tools/list'), ...headers },
      body: text,
    });
  assert.is((await post({}, `[${body}]`)).status, 400);
  for (const origin of linesOf(`
    https://evil.example
    null
    http://localhost.evil.example
    x
    http://localhost/
    https://localhost
    ftp://localhost
    http://me@localhost
    http://localhost:1
    http://localhost.
  `))
    assert.is((await post({ Origin: origin })).status, 403, origin);
  assert.is((await post({ Origin: '' })).status, 403);
  assert.is((await post({ Origin: 'http://localhost' })).status, 200);
  for (const host of ['evil.example', 'localhost.', '127.0.0.1.evil.example', '10.0.0.1', '127.0.0.2'])
    assert.is((await post({ Host: host })).status, 403, host);
  for (const host of ['LocalHost:8080', '127.0.0.1', '[::1]:8080', '127.0.0.1:1'])
    assert.is((await post({ Host: host })).status, 200, host);
  for (const method of ['GET', 'DELETE', 'PUT'])
    assert.is((await t.app.request('/mcp', { method })).status, 405, method);
});

test('GAPSTONE_MCP=off takes /mcp away; a public URL, allowed origins and the own host are let in', async () => {
  const named = { publicUrl: 'https://gapstone.example', corsOrigins: ['https://chat.example'] };
  for (const [deps, headers, status] of [
    [{ mcp: false }, {}, 404],
    [named, { Host: 'gapstone.example' }, 200],
    [named, { Host: 'GAPSTONE.example:443' }, 200],
    [named, { Origin: 'https://chat.example' }, 200],
    [named, { Origin: 'https://gapstone.example' }, 200],
    [named, { Origin: 'https://other.example' }, 403],
    [{ host: '127.0.0.2' }, { Host: '127.0.0.2:8080' }, 200],
    [{ host: '0.0.0.0' }, { Host: 'any.example' }, 200],
  ] as const) {
    const own = await testApp([], deps as object);
    assert.is((await send(own, 'tools/list', {}, headers as Caller)).status, status, JSON.stringify(headers));
    own.db.close();
  }
});

test.run();
