import * as assert from 'uvu/assert';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';

const batch = suite('STIG batch');
const path = '/api/v1/stigs/batch';
let t: TestApp;

batch.before(async () => {
  const samples = Array.from({ length: 60 }, (_, index) => ({
    id: `Small_${index}`,
    title: `Small ${index} STIG`,
  }));
  t = await testApp([shipped('stigs'), writeBenchmarks(samples)]);
});
batch.after(() => t.db.close());

const slugsOf = (answer: Answer) => answer.json.stigs.map((stig: { slug: string }) => stig.slug);
const send = (body: unknown) => t.send('POST', path, body);

batch('one slug answers the record of the single endpoint', async () => {
  const answer = await send({ slugs: ['harbor_linux_3'] });
  assert.is(answer.status, 200);
  const single = await t.get('/api/v1/stigs/harbor_linux_3');
  assert.equal(answer.json, { stigs: [single.json], meta: { requested: 1, found: 1, notFound: [] } });
});

batch('STIGs come in the order of the request, each once; requested counts the array as sent', async () => {
  const slugs = 'small_3 nobody harbor_linux_3 small_3 small_1 nobody Small_2 harbor_linux_3'.split(' ');
  const answer = await send({ slugs });
  assert.equal(slugsOf(answer), ['small_3', 'harbor_linux_3', 'small_1', 'small_2']);
  assert.equal(answer.json.meta, { requested: 8, found: 4, notFound: ['nobody'] });
});

batch('only unknown slugs is no error', async () => {
  const answer = await send({ slugs: ['x', '', '../etc', '__proto__', 'ü'] });
  assert.is(answer.status, 200);
  assert.equal(answer.json, {
    stigs: [],
    meta: { requested: 5, found: 0, notFound: ['x', '', '../etc', '__proto__', 'ü'] },
  });
});

batch('a body is read as JSON whatever its Content-Type, or without one', async () => {
  const body = '{"slugs":["small_1"]}';
  for (const type of [
    null,
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/xml',
    'nonsense',
    'application/json; charset=latin1',
  ]) {
    const headers: Record<string, string> = type === null ? {} : { 'Content-Type': type };
    const answer = await t.get(path, { method: 'POST', body: new TextEncoder().encode(body), headers });
    assert.is(answer.status, 200, `Content-Type ${type}`);
    assert.equal(slugsOf(answer), ['small_1']);
  }
});

batch('a body that is no UTF-8 is 400, never repaired', async () => {
  const around = (...bytes: number[]) =>
    Buffer.concat([Buffer.from('{"slugs":["'), Buffer.from(bytes), Buffer.from('"]}')]);
  // latin1, a bare continuation, a surrogate, an overlong form, a cut sequence, beyond Unicode
  const bodies = [[0xfc], [0x80], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xe2, 0x82], [0xf4, 0x90, 0x80, 0x80]];
  for (const bytes of bodies) {
    const answer = await t.get(path, { method: 'POST', body: around(...bytes) });
    assertError(answer, 400, 'BAD_REQUEST', 'The request body is not valid UTF-8');
  }
  const utf16 = await t.get(path, { method: 'POST', body: Buffer.from('{"slugs":["small_1"]}', 'utf16le') });
  assertError(utf16, 400, 'BAD_REQUEST', 'The request body is not valid JSON');
});

batch('a body of 1 MiB is read, a byte more is 413, whole or chunked', async () => {
  const exact = `{"slugs":["small_1"]}${' '.repeat(1024 * 1024)}`.slice(0, 1024 * 1024);
  assert.is((await send(exact)).status, 200);
  const message = 'The request body is larger than 1048576 bytes';
  assertError(await send(`${exact} `), 413, 'PAYLOAD_TOO_LARGE', message);
  const chunks = new ReadableStream({
    start(controller) {
      for (let i = 0; i < 20; i++) controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
      controller.close();
    },
  });
  const chunked = await t.get(path, { method: 'POST', body: chunks, duplex: 'half' } as RequestInit);
  assertError(chunked, 413, 'PAYLOAD_TOO_LARGE', message);
});

batch('a byte-order mark and the nesting of an ignored key are no matter', async () => {
  const deep = `{"slugs":["small_1"],"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  for (const body of [deep, '\ufeff{"slugs":["small_1"]}'])
    assert.equal(slugsOf(await send(body)), ['small_1']);
});

batch('an answer to POST is never 304', async () => {
  const body = { slugs: ['small_1'] };
  const first = await send(body);
  for (const tag of [first.headers.get('ETag') ?? '*', '*']) {
    const again = await t.send('POST', path, body, { headers: { 'If-None-Match': tag } });
    assert.is(again.status, 200, `If-None-Match: ${tag}`);
    assert.is(again.text, first.text);
  }
});

batch.run();
