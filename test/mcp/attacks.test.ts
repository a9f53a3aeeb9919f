import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { callTool, message, messageHeaders, reply, send } from '../support/programs-client.ts';
import { shipped } from '../support/reference.ts';

// Hostile messages to `/mcp`: a clear refusal each, and no 5xx (rules D41.1 and D41.2).
const test = suite('Hostile messages of programs');
let t: TestApp;
let alice: Caller;

test.before(async () => {
  t = await testApp([shipped()]);
  alice = await userCaller(t);
});
test.after(() => t.db.close());

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  Promise.resolve(
    t.app.request('/mcp', {
      method: 'POST',
      headers: { ...messageHeaders('tools/call', 'get_rule'), ...alice, ...headers },
      body,
    }),
  );

const tools: [string, Record<string, unknown>][] = [
  ['find', { q: 'audit' }],
  ['get_rule', { id: 'V-900001' }],
  ['get_control', { id: 'AC-2' }],
  ['get_stig', { stig: 'harbor_linux_3' }],
  ['crosswalk', { from: 'AC-2', to: 'cci' }],
  ['rules_for_control', { control: 'AC-2' }],
  ['coverage', { stig: 'harbor_linux_3' }],
  ['compare_releases', { stig: 'harbor_linux_3' }],
  ['my_lists', {}],
  ['catalog_info', {}],
];

const odd: unknown[] = [
  ...[null, -1, 1.5, true, [], {}, [[]], { toString: 1 }, 'a'.repeat(20_000), '💥'.repeat(50)],
  ...['', '\0', '\ud800', '\u202e', '\\', '/etc/passwd', "' OR 1=1 --", 'NOT', '((((('],
  ...'% * " __proto__ AC-99999999 V- SV-1r1_rule a@b#c x@V1R1#V-1 İ nist-800-53@Rev:5# hasOwnProperty:x'.split(
    ' ',
  ),
];

test('every argument of every tool with every odd value: an answer or a short refusal, never a fault', async () => {
  const { result } = await reply(send(t, 'tools/list', {}));
  let tried = 0;
  for (const [name, args] of tools) {
    const { properties } = result.tools.find((tool: { name: string }) => tool.name === name).inputSchema;
    for (const argument of Object.keys(properties))
      for (const value of odd) {
        const { status, text, isError } = await callTool(t, name, { ...args, [argument]: value }, alice);
        const where = `${name} ${argument} ${JSON.stringify(value)?.slice(0, 60)}: ${text.slice(0, 200)}`;
        assert.is(status, 200, where);
        assert.ok(text.length <= (isError ? 400 : 24_000 * 1.05), where);
        assert.not.match(
          text,
          /Something went wrong|SQLITE|\bat \w+ \(|\/(?:src|dist|node_modules)\//,
          where,
        );
        tried++;
      }
  }
  assert.ok(tried > 1000, `${tried}`);
});

test('members of no schema are refused by name, those of prototypes too', async () => {
  for (const [name, args] of tools)
    for (const member of ['x', '__proto__', 'constructor', 'toString', 'a'.repeat(5000)]) {
      const body = JSON.stringify(message('tools/call', { name, arguments: args })).replace(
        '"arguments":{',
        `"arguments":{${JSON.stringify(member)}:{"a":1}${Object.keys(args).length > 0 ? ',' : ''}`,
      );
      const response = await post(body, { 'Mcp-Name': name });
      if (member === '__proto__') {
        assert.is(response.status, 400, name);
        continue;
      }
      const { result } = (await response.json()) as {
        result: { isError: boolean; content: { text: string }[] };
      };
      assert.ok(result.isError, `${name} ${member}`);
      assert.ok(result.content[0]!.text.length < 400, `${name} ${member}`);
    }
  for (const name of ['__proto__', 'constructor', 'toString', '', 'a'.repeat(10_000)]) {
    const body = JSON.stringify(message('tools/call', { name, arguments: {} }));
    const { status } = await post(body, { 'Mcp-Name': name.slice(0, 5000) });
    assert.ok(status < 500, `${name.slice(0, 20)} ${status}`);
  }
});

test('bodies that are too large, too deep, of too many values, or no message', async () => {
  const call = (id: string) => JSON.stringify(message('tools/call', { name: 'get_rule', arguments: { id } }));
  const cases: Record<string, string | Uint8Array<ArrayBuffer>> = {
    'a deep body': `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'['.repeat(30_000)}`,
    'a deep object': `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
    'many values': `{"a":[${'1,'.repeat(20_000)}1]}`,
    'a batch': `[${call('V-1')},${call('V-2')}]`,
    'half a message': call('V-1').slice(0, -5),
    'bytes that are no UTF-8': new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
    'another JSON-RPC': '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
    'an id that is an object': '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    ...Object.fromEntries(['hello', '', '7', 'null', '{}'].map((text) => [text, text])),
  };
  for (const [name, body] of [...Object.entries(cases), ['1 MiB', call('V'.repeat(1024 * 1024))] as const]) {
    const response = await post(body);
    assert.is(response.status, name === '1 MiB' ? 413 : 400, name);
    assert.ok((await response.text()).length < 1000, name);
  }
});

test('headers that do not fit the body, and versions that nobody speaks', async () => {
  const body = JSON.stringify(message('tools/call', { name: 'get_rule', arguments: { id: 'V-1' } }));
  const wrong: Record<string, string>[] = [
    { 'Mcp-Method': 'tools/list' },
    { 'Mcp-Name': 'find' },
    { 'MCP-Protocol-Version': '2025-11-25' },
    { 'MCP-Protocol-Version': '1999-01-01' },
  ];
  for (const headers of wrong) assert.is((await post(body, headers)).status, 400, JSON.stringify(headers));
  const unknown = body.replace(
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28"',
    '"io.modelcontextprotocol/protocolVersion":"2099-01-01"',
  );
  assert.is((await post(unknown, { 'MCP-Protocol-Version': '2099-01-01' })).status, 400);
  for (const method of ['nope', 'tools/nope', 'prompts/list', 'completion/complete']) {
    const answer = await post(JSON.stringify(message(method, {})), {
      ...messageHeaders(method),
      'Mcp-Name': '',
    });
    assert.ok([400, 404].includes(answer.status), `${method} ${answer.status}`);
  }
  const params = [{}, { protocolVersion: '2026-07-28' }, { notifications: { toolsListChanged: true } }];
  for (const method of ['initialize', 'subscriptions/listen', 'nope'])
    for (const each of params) {
      const answer = await post(JSON.stringify(message(method, each, 'a')), messageHeaders(method));
      const error = { code: -32601, message: 'Method not found' };
      assert.equal([answer.status, await answer.json()], [404, { jsonrpc: '2.0', id: 'a', error }], method);
    }
  const bare = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
  assert.is((await post(JSON.stringify(bare), messageHeaders('initialize'))).status, 404);
  const older = { 'MCP-Protocol-Version': '2025-11-25' };
  assert.is((await post(JSON.stringify(bare), older)).status, 400, 'the older protocol has it');
});

test('who lacks a token learns that before what is wrong with the arguments', async () => {
  for (const [name] of tools) {
    if (['get_control', 'crosswalk'].includes(name)) continue;
    const refused = (await callTool(t, name, { nothing: 1 }, {})).text;
    assert.match(refused, /^You need a user token/, name);
    for (const args of [{ nothing: 1 }, { cursor: 5 }]) {
      const { text, isError } = await callTool(t, name, args, alice);
      assert.ok(isError, name);
      assert.match(text, new RegExp(`^Input validation error: Invalid arguments for tool ${name}: `));
    }
  }
});

test('rate limits are those of the API, and coverage counts as expensive', async () => {
  const { createLimiter } = await import('../../src/http/limits.ts');
  const limited = await testApp([shipped('stigs')], { limiter: createLimiter(20, () => 0) });
  const caller = await userCaller(limited);
  const statuses: number[] = [];
  for (let at = 0; at < 4; at++) {
    const answer = callTool(limited, 'coverage', { stig: 'harbor_linux_3' }, caller);
    statuses.push(await answer.then(({ status }) => status).catch(() => 429));
  }
  assert.equal(statuses, [200, 200, 429, 429]);
  limited.db.close();
});

test.run();
