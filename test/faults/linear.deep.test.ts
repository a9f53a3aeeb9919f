import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { addControls } from '../support/control-rows.ts';
import { effortOf } from '../support/effort.ts';
import { suite } from '../support/harness.ts';
import { operationsOf } from '../support/malformed/requests.ts';
import { shipped } from '../support/reference.ts';
import { say, scaled } from './support/profile.ts';

// Threat P5: no text of a request costs more than its length. Patterns that make regular expressions go back and
// forth are put into every parameter and every field, a hundred thousand characters long.
const linear = suite('Texts that would cost time');

const length = 100_000;
const of = (part: string) => part.repeat(Math.ceil(length / part.length)).slice(0, length);
const parts = ['a', ' ', '0', ',', 'AC-2(', '-', '1.', '(', '()', 'a_', '%', 'high,', '#', '\t', '＝', ':'];
const texts = parts.slice(0, scaled(16, 2)).flatMap((part) => [`${of(part)}!`, `AC-2${of(part)}`]);
/** Milliseconds of processor time for one request with one such text. */
const most = 250;

linear('every parameter, path and field takes a hundred thousand characters in little time', async () => {
  const t = await testApp([shipped('stigs')], { cronSecret: 'c' });
  addControls(t.db);
  const token = await t.token({ entitlements: ['regdoc', 'occ'] });
  const document = (await t.get('/openapi.json', { token: null })).json;
  const headers = { Authorization: `Bearer ${token}` };
  const worst = { ms: 0, what: '' };
  let asked = 0;
  const ask = async (what: string, path: string, init: RequestInit) => {
    let status = 0;
    const ms = await effortOf(async () => {
      const response = await t.app.request(path, { ...init, headers: { ...headers, ...init.headers } });
      await response.text();
      status = response.status;
    });
    if (ms > worst.ms) Object.assign(worst, { ms, what });
    asked++;
    assert.ok(status < 500, `${what}: ${status}`);
    assert.ok(ms < most, `${what}: ${ms.toFixed(0)} ms`);
  };
  const fields = [
    'name',
    'description',
    'color',
    'icon',
    'visibility',
    'slug',
    'notes',
    'controlId',
    'framework',
    'to',
    'tag',
  ];
  const lists = ['slugs', 'ccis', 'tags', 'status', 'to'];
  for (const text of texts) {
    const encoded = encodeURIComponent(text);
    const shown = `${text.slice(0, 8)}...${text.slice(-3)}`;
    for (const { method, path, query } of operationsOf(document)) {
      const plain = path.replaceAll(/\{[^}]*\}/g, 'harbor_linux_3');
      if (method === 'GET') {
        if (path !== plain) await ask(`${path} ${shown}`, path.replaceAll(/\{[^}]*\}/g, encoded), {});
        for (const name of query) await ask(`${path}?${name} ${shown}`, `${plain}?${name}=${encoded}`, {});
        continue;
      }
      if (method === 'DELETE' && path.includes('session')) continue;
      const body = {
        ...Object.fromEntries(fields.map((name) => [name, text])),
        ...Object.fromEntries(lists.map((name) => [name, [text]])),
        from: [{ framework: text, identifier: text, version: text }],
        controls: [{ controlId: text, framework: text }],
      };
      await ask(`${method} ${path} ${shown}`, plain, { method, body: JSON.stringify(body) });
    }
    for (const name of ['If-None-Match', 'Cookie', 'Authorization', 'Origin', 'X-Request-Id'])
      if (!/[^\x20-\x7e]/.test(text))
        await ask(`${name} ${shown}`, '/api/v1/stigs', {
          headers: { [name]: name === 'Cookie' ? `gapstone_session=${text}` : text },
        });
  }
  say(`${asked} requests, the slowest ${worst.ms.toFixed(0)} ms of processor time: ${worst.what}`);
  t.db.close();
});

linear.run();
