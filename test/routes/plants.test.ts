import * as assert from 'uvu/assert';
import { readConfig } from '../../src/base/config.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';

const plants = suite('The plant sample');

let t: TestApp;
let alice: Caller;

plants.before(async () => {
  t = await testApp();
  alice = await userCaller(t);
});

plants.after(() => t.db.close());

const post = (body: unknown, caller = alice) => ask(t, 'POST', '/plants', caller, body);

plants('a plant comes back without its id, the tag only when it was sent', async () => {
  assert.equal((await post({ id: 1, name: 'fern', tag: 'green' })).json, { name: 'fern', tag: 'green' });
  assert.equal((await post({ id: -(2 ** 53 - 1), name: 'fern', extra: 1 })).json, { name: 'fern' });
  assert.is((await post({ id: 0, name: '', tag: '' })).text, '{"name":"","tag":""}');
});

plants('every failure has the sample’s own form', async () => {
  const wrong = ['{', '[]', 'null', {}, { id: 1.5, name: 'x' }, { id: 1, name: 'x', tag: null }].concat(
    ['9007199254740992', '-9223372036854775808', '1e400'].map((id) => `{"id":${id},"name":"x"}`),
    ['{"id":1,"name":"x\\ud800"}', '{"id":1,"name":"x","tag":"a\\u0000b"}'],
  );
  for (const body of wrong) {
    const answer = await post(body);
    assert.is(answer.status, 400, JSON.stringify(body));
    assert.equal(Object.keys(answer.json), ['error', 'message']);
    assert.is(answer.json.error, 400);
    assert.type(answer.json.message, 'string');
  }
  const large = await post({ id: 1, name: 'x'.repeat(1024 * 1024) });
  assert.equal([large.status, large.json.error], [413, 413]);
  const other = await ask(t, 'GET', '/plants', alice);
  assert.equal([other.status, other.json.error, other.headers.get('Allow')], [405, 405, 'POST']);
});

plants('GAPSTONE_PLANTS=off removes it, and /openapi.json says its version', async () => {
  const on = (await t.get('/openapi.json', { token: null })).json;
  assert.is(on.paths['/plants'].post['x-version'], '1.0.0');
  const { plants: isOn } = readConfig({}, { GAPSTONE_PLANTS: 'OFF' });
  assert.is(isOn, false);
  assert.throws(() => readConfig({}, { GAPSTONE_PLANTS: 'no' }), /GAPSTONE_PLANTS must be on or off/);
  const without = await testApp([], { plants: isOn });
  const gone = await ask(without, 'POST', '/plants', alice, { id: 1, name: 'x' });
  assert.equal([gone.status, gone.json.error.code], [404, 'NOT_FOUND']);
  const off = (await without.get('/openapi.json', { token: null })).json;
  assert.not.ok('/plants' in off.paths);
  without.db.close();
});

plants.run();
