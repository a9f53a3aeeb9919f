import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { ErrorBody } from '../../../src/http/schema.ts';
import { testApp } from '../app.ts';
import { addControls } from '../control-rows.ts';
import { shipped } from '../reference.ts';
import { heapInUse } from './heap.ts';
import { type HostileRequest, hostileRequests, operationsOf } from './requests.ts';
import { seed } from './seed.ts';

/**
 * Sends so many hostile requests to an application: none is a 5xx, every refusal has the documented form, and what is
 * served afterwards is what was served before. Gives the number of answers of each status, and the growth in MB.
 */
export async function runRequests(
  count: number,
): Promise<{ statuses: Record<string, number>; growth: number }> {
  const t = await testApp([shipped('stigs'), shipped('roles'), shipped('regulatory')], { cronSecret: 'c' });
  addControls(t.db);
  const document = (await t.get('/openapi.json', { token: null })).json;
  const token = await t.token({ entitlements: ['regdoc', 'occ'] });
  const served = async () =>
    Promise.all(['/api/v1/stigs/harbor_linux_3', '/api/v1/controls/nist-800-53'].map((path) => t.get(path)));
  const before = await served();
  const statuses: Record<string, number> = {};

  async function check({ method, path, headers, body }: HostileRequest): Promise<void> {
    let request: Request;
    try {
      request = new Request(`http://local${path}`, { method, headers, ...(body ? { body } : {}) });
    } catch {
      // No client can send it as a URL; `test/src-server.test.ts` does so over raw connections.
      return;
    }
    const response = await t.app.request(request);
    const text = await response.text();
    const sent = body === undefined ? '' : ` ${Buffer.from(body).toString('utf8').slice(0, 200)}`;
    const where = `${method} ${path.slice(0, 200)}${sent} ${response.status}: ${text.slice(0, 200)}`;
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    assert.ok(response.status < 500, where);
    assert.ok(response.headers.get('X-Request-Id'), where);
    if (response.status < 400 || method === 'HEAD') return;
    assert.match(response.headers.get('Content-Type')!, /^application\/json/, where);
    if (path.startsWith('/plants')) return;
    const { error } = ErrorBody.parse(JSON.parse(text));
    assert.ok(error.message.length > 0 && error.message.length <= 300, where);
    assert.not.match(error.message, /SQLITE|node_modules|\bat .*\.js:|Invalid input/, where);
  }

  const requests = hostileRequests(operationsOf(document), token);
  await fc.assert(fc.asyncProperty(requests, check), {
    numRuns: Math.min(count, 200),
    seed: seed + 1,
    includeErrorInReport: true,
  });
  const start = await heapInUse();
  await fc.assert(fc.asyncProperty(requests, check), { numRuns: count, seed, includeErrorInReport: true });
  const growth = (await heapInUse()) - start;
  const after = await served();
  assert.equal(
    after.map((each) => each.text),
    before.map((each) => each.text),
  );
  assert.is(({} as { name?: unknown }).name, undefined, 'no prototype was polluted');
  assert.is(t.db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
  t.db.close();
  return { statuses, growth };
}
