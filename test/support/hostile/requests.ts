import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { ErrorBody } from '../../../src/http/schema.ts';
import { type OperationSite, operationSite } from '../operations.ts';
import type { Published } from '../published.ts';
import { heapInUse } from './heap.ts';
import { type Asked, askedOf } from './operations.ts';
import { seed } from './seed.ts';
import { hostileText, hostileValue } from './texts.ts';

/** A request as it is sent: the path with its query, the headers, the bytes of its body. */
interface HostileRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array;
}

/** Whole texts that are no body, and some that are one twice: deep, without end, not to be written. */
const oddBodies = [
  '{"name":"a","name":{"b":1},"slugs":[],"slugs":null}',
  '{"0":1,"__proto__":{"name":"x"},"name":1e400}',
  ...['['.repeat(100_000), '{"a":'.repeat(20_000), '[1e400,-1e400]', '"\\ud800"', '{"name":"\\u0000"}'],
];
const inserts = ['', '{', '}', ']', '"', ',', '\\u0000', '\\ud800', '\ufeff', '1e999', '//', 'NaN'];

/** Bodies that some operation takes, bent, broken or replaced. */
function bodiesOf(samples: object[]): fc.Arbitrary<Uint8Array> {
  const bent = fc
    .tuple(
      fc.constantFrom(...samples),
      fc.nat(),
      hostileValue,
      hostileText,
      fc.constantFrom('set', 'add', 'in', 'wrap'),
    )
    .map(([body, which, value, name, how]): unknown => {
      if (how === 'wrap') return [body];
      if (how === 'add') return { ...body, [name]: value };
      const entries = Object.entries(body);
      const [key, inner] = entries[which % entries.length]!;
      return { ...body, [key]: how === 'in' && Array.isArray(inner) ? [...inner, value] : value };
    });
  const broken = fc.tuple(bent, fc.nat(), fc.constantFrom(...inserts)).map(([body, at, insert]) => {
    const text = JSON.stringify(body);
    const split = at % (text.length + 1);
    return text.slice(0, split) + insert + (insert && text.slice(split));
  });
  const texts = fc.oneof(
    { weight: 5, arbitrary: bent.map((body) => JSON.stringify(body)) },
    { weight: 2, arbitrary: broken },
    { weight: 1, arbitrary: hostileValue.map((value) => JSON.stringify(value) ?? '') },
    { weight: 1, arbitrary: fc.constantFrom(...oddBodies) },
  );
  const bytes = fc.uint8Array({ maxLength: 300 });
  return fc.oneof(
    { weight: 9, arbitrary: texts.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: bytes },
  );
}

/** A user token that was bent: a character changed, a part cut, doubled or replaced. */
function bentToken(valid: string): fc.Arbitrary<string> {
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  const parts = valid.split('.');
  const ways: Record<string, (at: number, text: string) => string> = {
    flip: (at) => valid.slice(0, at) + (valid[at] === 'A' ? 'B' : 'A') + valid.slice(at + 1),
    cut: (at) => valid.slice(0, at),
    none: () => `${none}.${parts[1]}.`,
    swap: (at) => [parts[at % 3], parts[(at + 1) % 3], parts[2]].join('.'),
    double: () => `${valid}.${valid}`,
    garbage: (_, text) => Buffer.from(text).toString('base64url'),
  };
  return fc
    .tuple(fc.nat(), fc.constantFrom(...Object.values(ways)), hostileText)
    .map(([at, bend, text]) => bend(at % valid.length, text));
}

// What no client library would send in a header, or in a URL, is for raw connections (`test/src-server.test.ts`).
const inHeader = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?').trim();
const headerNames =
  `If-None-Match If-Match X-Request-Id Content-Type Accept Cookie Origin Range X-HTTP-Method-Override
  Content-Encoding X-Forwarded-For Forwarded traceparent`.split(/\s+/);

/** Requests to every operation with hostile paths, queries, tokens, headers and bodies; most with a valid token, to get inside. */
function hostileRequests(asked: Asked[], token: string): fc.Arbitrary<HostileRequest> {
  const names = [...new Set(asked.flatMap(({ query }) => query.map(([name]) => name)))];
  const samples = asked.flatMap(({ bodies }) => bodies.flatMap(([, each]) => each)) as object[];
  const authorization = fc.oneof(
    { weight: 6, arbitrary: fc.constant(`Bearer ${token}`) },
    { weight: 2, arbitrary: bentToken(token).map((bent) => `Bearer ${bent}`) },
    { weight: 1, arbitrary: hostileText.map(inHeader) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
  const others = fc.dictionary(fc.constantFrom(...headerNames), hostileText.map(inHeader), { maxKeys: 2 });
  const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, hostileText);
  const query = fc.array(fc.tuple(name, hostileText, fc.boolean()), { maxLength: 4 });
  const otherMethod = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');
  const encode = (text: string, raw: boolean) =>
    raw ? text.replaceAll(/[\s\\]/g, '').toWellFormed() : encodeURIComponent(text.toWellFormed());
  return fc
    .record({
      operation: fc.constantFrom(...asked),
      texts: fc.infiniteStream(fc.tuple(hostileText, fc.boolean())),
      query,
      authorization,
      others,
      body: bodiesOf(samples),
      other: fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, otherMethod),
    })
    .map(({ operation, texts, query, authorization, others, body, other }) => {
      const at = operation.template.replaceAll(/\{[^}]*\}/g, () =>
        encode(...(texts.next().value as [string, boolean])),
      );
      const search = query
        .map(([each, value, raw]) => `${encode(each, raw)}=${encode(value, raw)}`)
        .join('&');
      const method = other ?? operation.method;
      return {
        method,
        path: search === '' ? at : `${at}?${search}`,
        headers: authorization === null ? others : { ...others, Authorization: authorization },
        ...(method !== 'GET' && method !== 'HEAD' && { body }),
      };
    });
}

/** Sends a request, and judges its answer: never a 5xx, every refusal in the documented form. Gives its status; null of one that cannot be sent as a URL. */
async function judged(
  t: OperationSite,
  { method, path, headers, body }: HostileRequest,
): Promise<number | null> {
  let request: Request;
  try {
    request = new Request(`http://local${path}`, {
      method,
      headers,
      ...(body ? { body: Buffer.from(body) } : {}),
    });
  } catch {
    return null;
  }
  const response = await t.app.request(request);
  const text = await response.text();
  const sent = body === undefined ? '' : ` ${Buffer.from(body).toString('utf8').slice(0, 200)}`;
  const where = `${method} ${path.slice(0, 200)}${sent} ${response.status}: ${text.slice(0, 200)}`;
  assert.ok(response.status < 500, where);
  assert.ok(response.headers.get('X-Request-Id'), where);
  if (response.status < 400 || method === 'HEAD') return response.status;
  assert.match(response.headers.get('Content-Type')!, /^application\/json/, where);
  if (path.startsWith('/plants')) return response.status;
  const { error } = ErrorBody.parse(JSON.parse(text));
  assert.ok(error.message.length > 0 && error.message.length <= 300, where);
  assert.not.match(error.message, /SQLITE|node_modules|\bat .*\.js:|Invalid input/, where);
  return response.status;
}

/**
 * Sends so many hostile requests to an application: each is judged, and what is served afterwards is what was served
 * before. Gives the number of answers of each status, and the growth of the heap in MB.
 */
export async function runRequests(
  count: number,
): Promise<{ statuses: Record<string, number>; growth: number }> {
  const t = await operationSite();
  const document = (await t.get('/openapi.json', { token: null })).json as Published;
  const token = await t.token({ entitlements: ['regdoc', 'occ'] });
  const served = () =>
    Promise.all(
      ['/api/v1/stigs/harbor_linux_3', '/api/v1/controls/nist-800-53'].map(
        async (path) => (await t.get(path)).text,
      ),
    );
  const before = await served();
  const statuses: Record<string, number> = {};
  const property = fc.asyncProperty(hostileRequests(askedOf(t, document), token), async (request) => {
    const status = await judged(t, request);
    if (status !== null) statuses[status] = (statuses[status] ?? 0) + 1;
  });
  await fc.assert(property, {
    numRuns: Math.min(Math.ceil(count / 10), 200),
    seed: seed + 1,
    includeErrorInReport: true,
  });
  const start = await heapInUse();
  await fc.assert(property, { numRuns: count, seed, includeErrorInReport: true });
  const growth = (await heapInUse()) - start;
  assert.equal(await served(), before);
  assert.is(({} as { name?: unknown }).name, undefined, 'no prototype was polluted');
  assert.is(t.db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
  t.db.close();
  return { statuses, growth };
}
