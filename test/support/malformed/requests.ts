import fc from 'fast-check';
import { hostileText, hostileValue } from './texts.ts';

/** A request as it is sent: the path with its query, the headers, the bytes of its body. */
export interface HostileRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array;
}

/** An operation of the OpenAPI document: where it is, and the names of its query parameters. */
export interface Operation {
  method: string;
  path: string;
  query: string[];
}

/** The operations of an OpenAPI document. */
export function operationsOf(document: {
  paths: Record<string, Record<string, { parameters?: { in: string; name: string }[] }>>;
}): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((each) => each.in === 'query').map((each) => each.name),
    })),
  );
}

/** Bodies that some operation takes; they are bent, broken and sent to every operation. */
const validBodies: unknown[] = [
  { name: 'N', description: 'd', tags: ['a'], color: '#123456', icon: 'i', visibility: 'SHARED' },
  { slugs: ['harbor_linux_3', 'lantern_web_server_2'] },
  { slug: 'harbor_linux_3', notes: 'n', position: 1 },
  { controls: [{ controlId: 'AC-2', framework: 'nist-800-53' }] },
  { controlId: 'AC-2', framework: 'nist-800-53' },
  {
    from: [{ framework: 'nist-800-53', identifier: 'AC-2', version: 'Rev 5' }],
    to: ['cci', 'nist-800-171'],
    maxHops: 4,
  },
  { ccis: ['CCI-000366', 'CCI-000015'], to: 'nist-800-53', status: ['auto'], maxHops: 2 },
  { id: 7, name: 'fern', tag: 'green' },
];

const bentBody: fc.Arbitrary<unknown> = fc
  .tuple(
    fc.constantFrom(...validBodies),
    fc.nat(),
    hostileValue,
    hostileText,
    fc.constantFrom('set', 'add', 'in', 'wrap'),
  )
  .map(([valid, which, value, name, how]) => {
    const body = structuredClone(valid) as Record<string, unknown>;
    const keys = Object.keys(body);
    const key = keys[which % keys.length]!;
    if (how === 'wrap') return [body];
    if (how === 'add') return { ...body, [name]: value };
    const inner = body[key];
    if (how === 'in' && Array.isArray(inner)) return { ...body, [key]: [...inner, value] };
    return { ...body, [key]: value };
  });

const brokenText = fc
  .tuple(
    bentBody,
    fc.nat(),
    fc.constantFrom('', '{', '}', ']', '"', ',', '\\u0000', '\\ud800', '\ufeff', '1e999', '//', 'NaN'),
  )
  .map(([body, at, insert]) => {
    const text = JSON.stringify(body);
    const split = at % (text.length + 1);
    return insert === '' ? text.slice(0, split) : text.slice(0, split) + insert + text.slice(split);
  });

const bodyBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 5, arbitrary: bentBody.map((body) => Buffer.from(JSON.stringify(body))) },
  { weight: 2, arbitrary: brokenText.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: hostileValue.map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  // Duplicate and numeric keys, deep nesting, numbers without end.
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        '{"name":"a","name":{"b":1},"slugs":[],"slugs":null}',
        '{"0":1,"__proto__":{"name":"x"},"name":1e400}',
        '['.repeat(100_000),
        '{"a":'.repeat(20_000),
        '[1e400,-1e400]',
        '"\\ud800"',
        '{"name":"\\u0000"}',
      )
      .map((text) => Buffer.from(text)),
  },
);

/** A user token that was bent: a character changed, a part cut, doubled or replaced. */
function bentToken(valid: string): fc.Arbitrary<string> {
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  return fc
    .tuple(fc.nat(), fc.constantFrom('flip', 'cut', 'none', 'swap', 'double', 'garbage'), hostileText)
    .map(([at, how, text]) => {
      const index = at % valid.length;
      const parts = valid.split('.');
      if (how === 'flip')
        return `${valid.slice(0, index)}${valid[index] === 'A' ? 'B' : 'A'}${valid.slice(index + 1)}`;
      if (how === 'cut') return valid.slice(0, index);
      if (how === 'none') return `${none}.${parts[1]}.`;
      if (how === 'swap') return [parts[at % 3], parts[(at + 1) % 3], parts[2]].join('.');
      if (how === 'double') return `${valid}.${valid}`;
      return Buffer.from(text).toString('base64url');
    });
}

// What no client library would send in a header, or in a URL, is for raw connections (`test/src-server.test.ts`).
const inHeader = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?').trim();

/** Requests to every operation with hostile paths, queries, tokens, headers and bodies; most with a valid token, to get inside. */
export function hostileRequests(operations: Operation[], token: string): fc.Arbitrary<HostileRequest> {
  const names = [...new Set(operations.flatMap((operation) => operation.query))];
  const headers = fc
    .tuple(
      fc.oneof(
        { weight: 6, arbitrary: fc.constant(`Bearer ${token}`) },
        { weight: 2, arbitrary: bentToken(token).map((bent) => `Bearer ${bent}`) },
        { weight: 1, arbitrary: hostileText.map(inHeader) },
        { weight: 1, arbitrary: fc.constant(null) },
      ),
      fc.dictionary(
        fc.constantFrom(
          'If-None-Match',
          'X-Request-Id',
          'Content-Type',
          'Accept',
          'Cookie',
          'Origin',
          'Range',
          'X-HTTP-Method-Override',
          'Content-Encoding',
          'X-Forwarded-For',
          'Forwarded',
          'traceparent',
        ),
        hostileText.map(inHeader),
        { maxKeys: 2 },
      ),
    )
    .map(([authorization, others]) =>
      authorization === null ? others : { ...others, Authorization: authorization },
    );
  const query = fc.array(
    fc.tuple(
      fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, hostileText),
      hostileText,
      fc.boolean(),
    ),
    { maxLength: 4 },
  );
  return fc
    .tuple(
      fc.constantFrom(...operations),
      fc.infiniteStream(fc.tuple(hostileText, fc.boolean())),
      query,
      headers,
      bodyBytes,
      fc.oneof(
        { weight: 12, arbitrary: fc.constant(null) },
        fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
      ),
    )
    .map(([operation, texts, parameters, sent, bytes, otherMethod]) => {
      const encode = (text: string, raw: boolean) =>
        raw ? text.replaceAll(/[\s\\]/g, '').toWellFormed() : encodeURIComponent(text.toWellFormed());
      const path = operation.path.replaceAll(/\{[^}]*\}/g, () => {
        const [text, raw] = texts.next().value;
        return encode(text, raw);
      });
      const search = parameters
        .map(([name, value, raw]) => `${encode(name, raw)}=${encode(value, raw)}`)
        .join('&');
      const method = otherMethod ?? operation.method;
      const request = { method, path: search === '' ? path : `${path}?${search}`, headers: sent };
      return method === 'GET' || method === 'HEAD' ? request : { ...request, body: bytes };
    });
}
