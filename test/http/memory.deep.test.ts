import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { mostMegabytes, residentMegabytes } from '../faults/support/process.ts';
import { suite } from '../support/harness.ts';
import { killAll, runToEnd, startServer } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// Rule S2.10, threat M1: what a process took for large answers and for callers who hung up does not stay with it.
const memory = suite('Memory after work');
memory.after(killAll);

const stigs = 12;
const isLinux = process.platform === 'linux';

/** Made-up STIGs whose batch is an answer of some 30 MB. */
async function made(folder: string): Promise<string[]> {
  const names = Array.from({ length: stigs }, (_, index) => String.fromCharCode(65 + index));
  for (const [index, name] of names.entries()) {
    const rules = sampleRules(300, `MADE-${name}`, 200_001 + 1000 * index).map((rule) => ({
      ...rule,
      description: `<VulnDiscussion>${'A long text. '.repeat(600)}</VulnDiscussion>`,
    }));
    const title = `Made Product ${name} Security Technical Implementation Guide`;
    writeFileSync(join(folder, `${name}.xml`), writeXccdf({ id: `Made_${name}_STIG`, title, rules }));
  }
  const files = names.map((name) => `${name}.xml`);
  const { code, stderr } = await runToEnd(folder, ['import', ...files, '--db', 'g.db']);
  assert.is(code, 0, stderr);
  return names.map((name) => `made_product_${name.toLowerCase()}`);
}

(isLinux ? memory : memory.skip)(
  'three batches at once, and downloads that hang up: memory comes back',
  async () => {
    const folder = scratchFolder();
    const slugs = await made(folder);
    const issued = await runToEnd(folder, ['token', 'issue', '--subject', 'ann', '--db', 'g.db']);
    const headers = { Authorization: `Bearer ${issued.stdout.trim()}`, 'Content-Type': 'application/json' };
    const { url, port, child } = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
    const resident = () => residentMegabytes(child.pid!);
    const post = (path: string, body: object) =>
      fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const list = (await (await post('/api/v1/lists', { name: 'all' })).json()) as { id: string };
    assert.is((await post(`/api/v1/lists/${list.id}/stigs`, { slugs })).status, 200);
    /** Waits until the process has at most so many megabytes; the bound is for a server that never gives them back. */
    const givenBack = async (most: number) => {
      for (let count = 0; count < 300 && resident() > most; count++)
        await new Promise((resolve) => setTimeout(resolve, 200));
      return resident();
    };
    // Statements are prepared when they are first needed, and stay.
    await (await post('/api/v1/stigs/batch', { slugs: slugs.slice(0, 1) })).arrayBuffer();
    const before = resident();

    const sizes = await Promise.all(
      [1, 2, 3].map(
        async () => (await (await post('/api/v1/stigs/batch', { slugs })).arrayBuffer()).byteLength,
      ),
    );
    assert.ok(Math.min(...sizes) > 25e6, String(sizes));
    const most = mostMegabytes(child.pid!);
    assert.ok(most > before + 150, `${before} MB, then ${most}: it is no test of what comes back`);
    assert.ok((await givenBack(before + 100)) <= before + 100, `${before} MB, then ${resident()}`);

    const hosts = Array.from({ length: 100 }, (_, index) => ({ hostName: `host${index}` }));
    const body = JSON.stringify({ hosts });
    const head = `POST /api/v1/lists/${list.id}/checklists HTTP/1.1\r\nHost: local\r\nAuthorization: ${headers.Authorization}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const hungUp = () =>
      new Promise<number>((resolve) => {
        let received = 0;
        const socket = connect(port, '127.0.0.1', () => socket.write(head + body));
        socket.on('data', (part) => {
          received += part.length;
          socket.destroy();
        });
        socket.on('error', () => undefined);
        socket.on('close', () => resolve(received));
      });
    const received = await Promise.all(Array.from({ length: 12 }, hungUp));
    assert.ok(
      received.every((bytes) => bytes > 0),
      'each zip had begun',
    );
    assert.ok((await givenBack(before + 120)) <= before + 120, `${before} MB, then ${resident()}`);
  },
);

memory.run();
