import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { cli, gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { putCatalog } from '../support/prepared.ts';
import { message, messageHeaders } from '../support/programs-client.ts';
import { killAll, openRaw, type Running, readAnswer, startServer, until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

// `/mcp` of a server of its own (rules D41.1 and D41.2): names, clients that go away, and the entries of the document.
const test = suite('Programs and a server');
const cwd = scratchFolder();
let token: string;
let server: Running;

test.before(async () => {
  await putCatalog(join(cwd, 'gapstone.db'));
  token = (await gapstone(['token', 'issue', '--subject', 'ann'], { cwd })).stdout.trim();
  server = await startServer(cwd, ['serve', '--port', '0']);
});
test.after(killAll);

/** A call of a tool as bytes on the wire. */
function call(name: string, args: object, host = 'localhost'): string {
  const body = JSON.stringify(message('tools/call', { name, arguments: args }));
  const headers = {
    Host: host,
    Authorization: `Bearer ${token}`,
    ...messageHeaders('tools/call', name),
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

const ask = async (port: number, text: string) => readAnswer(await (await openRaw(port, text)).end);

test('on loopback another name is let in where a trusted proxy passes it on', async () => {
  const info = call('catalog_info', {}, 'catalog.example');
  assert.is((await ask(server.port, info)).status, 403);
  const behind = await startServer(cwd, ['serve', '--port', '0'], { GAPSTONE_TRUSTED_PROXIES: '127.0.0.1' });
  assert.is((await ask(behind.port, info)).status, 200);
  behind.child.kill('SIGTERM');
  await behind.ended;
});

test('clients that hang up, in the middle of a message or before the answer, leave nothing behind', async () => {
  const whole = call('coverage', { stig: 'harbor_linux_3', detail: 'full' });
  const before = server.stdout().length;
  for (let at = 0; at < 40; at++) {
    const { socket } = await openRaw(server.port, at % 2 === 0 ? whole.slice(0, -at - 1) : whole);
    socket.destroy();
  }
  await until('all requests have ended', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^gapstone_http_requests_in_flight (\d+)$/m.exec(text)![1]) <= 1;
  });
  assert.is((await ask(server.port, call('get_rule', { id: 'V-900001' }))).status, 200);
  assert.not.match(server.stdout().slice(before), /"level":"error"|"status":5/);
});

interface Entry {
  command?: string;
  args?: string[];
  url?: string;
  headers?: Record<string, string>;
}

test('each entry of docs/mcp.md sets a client up', async () => {
  const text = readFileSync(join(packageRoot, 'docs/mcp.md'), 'utf8');
  const entries = [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
    ([, block]) => (JSON.parse(block!) as { mcpServers: { gapstone: Entry } }).mcpServers.gapstone,
  );
  assert.is(entries.length, 2);
  const bin = scratchFolder();
  writeFileSync(join(bin, 'gapstone'), `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`);
  chmodSync(join(bin, 'gapstone'), 0o755);
  for (const { command, args, url, headers } of entries) {
    const own = (value: string) =>
      value
        .replace('/var/lib/gapstone/gapstone.db', join(cwd, 'gapstone.db'))
        .replace('http://127.0.0.1:8080', server.url)
        .replace('TOKEN', token);
    const transport =
      url === undefined
        ? new StdioClientTransport({
            command: command!,
            args: args!.map(own),
            env: { PATH: `${bin}${delimiter}${process.env.PATH}` },
          })
        : new StreamableHTTPClientTransport(new URL(own(url)), {
            requestInit: { headers: JSON.parse(own(JSON.stringify(headers))) },
          });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    const { structuredContent } = await client.callTool({ name: 'get_rule', arguments: { id: 'V-900001' } });
    assert.is((structuredContent as { state: string }).state, 'current');
    await client.close();
  }
});

test.run();
