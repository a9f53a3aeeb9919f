import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { assertError, assertSecurityHeaders } from '../support/service.ts';
import { noStig, noToken } from '../support/words.ts';

// What holds for every endpoint: errors, hostile input, methods, request ids, headers, caching.
const http = suite('HTTP');
let t: TestApp;

http.before(async () => {
  t = await testApp([shipped('stigs')]);
});
http.after(() => t.db.close());

const stig = '/api/v1/stigs/harbor_linux_3';
const paged = ['/api/v1/stigs', `${stig}/controls`, '/api/v1/stigs/changelog'];
const cached = [
  ...[...paged, stig, `${stig}/versions`, '/api/v1/stigs/stats', `${stig}/download`],
  ...['json', 'csv', 'xml'].map((format) => `${stig}/download?format=${format}`),
];
const others = [
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/api/v1/stigs/nobody',
  '/nowhere',
  '/api/v1/stigs?page=0',
];

http(
  'a NUL, a lone surrogate and a percent-encoding that does not decode are 400, in path and query',
  async () => {
    const nul = 'The URL contains a NUL character';
    const malformed = 'The URL contains a malformed percent-encoding';
    const surrogates = ['%ED%A0%80', '%ED%BF%BF', '%ED%A0%BD%ED%B8%80'];
    for (const path of cached)
      for (const text of ['a%00b', ...surrogates]) {
        const answer = await t.get(`${path}${path.includes('?') ? '&' : '?'}search=${text}`);
        assertError(answer, 400, 'BAD_REQUEST', text.includes('%00') ? nul : malformed);
      }
    for (const bad of ['%zz', '%', '%2', '%ff', '%c0%af', '%80', '%e2%82', '%f4%90%80%80']) {
      for (const path of [`/${bad}`, `/${bad}/download`, `?search=${bad}`])
        assertError(await t.get(`/api/v1/stigs${path}`), 400, 'BAD_REQUEST', malformed);
    }
    assertError(await t.get('/api/v1/stigs/a%00b'), 400, 'BAD_REQUEST', nul);
  },
);

http('a hostile slug is an unknown one', async () => {
  const slugs =
    `..%2f ..%2f..%2fetc%2fpasswd %2e%2e%2f ..%5c %2500 %252e%252e harbor_linux_3%20 %20harbor_linux_3
    harbor_linux_3%0a harbor_linux_3. harbor_linux_3%2F harbor%5Flinux%5F3%27 %25 '%20OR%201=1-- harbor_linux_3;x
    __proto__ constructor %EF%BC%88%EF%BC%89 %E2%80%AE %F0%9F%98%80`.split(/\s+/);
  for (const slug of slugs) {
    const name = [...decodeURIComponent(slug)].slice(0, 64).join('');
    for (const path of ['', '/controls', '/versions', '/download']) {
      assertError(await t.get(`/api/v1/stigs/${slug}${path}`), 404, 'NOT_FOUND', noStig(name));
    }
  }
  const encoded = await t.get('/api/v1/stigs/harbor%5Flinux%5f3');
  assert.is(encoded.status, 200, 'a slug may be percent-encoded');
});

http('an unknown path is 404 in the same form', async () => {
  const paths =
    `/start /api /api/v1 /api/v2/stigs /api/v1/stigs/ /API/v1/stigs //api/v1/stigs /api/v1/stigs/a/b
    ${stig}/download/ /api/v1/stigs/../../etc/passwd /.env /index.html`.split(/\s+/);
  for (const path of paths) {
    for (const token of [undefined, null]) {
      const answer = await t.get(`http://localhost${path}`, token === null ? { token } : {});
      assertError(answer, 404, 'NOT_FOUND', 'This path does not exist');
      assertSecurityHeaders(answer.headers);
    }
  }
});

http('a method that a path does not take is 405 with Allow', async () => {
  const cases: [string, string, string][] = [];
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE']) {
    for (const path of [...cached, '/healthz', '/readyz', '/openapi.json', '/api/v1/stigs/nobody'])
      cases.push([method, path, 'GET, HEAD']);
  }
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    cases.push([method, '/api/v1/stigs/batch', 'GET, HEAD, POST']);
  for (const [method, path, allow] of cases) {
    const answer = await t.get(path, { method });
    assertError(answer, 405, 'METHOD_NOT_ALLOWED', `${method} is not allowed here`);
    assert.is(answer.headers.get('Allow'), allow, `${method} ${path}`);
    assertSecurityHeaders(answer.headers);
  }
  const fromPage = await t.get('/stigs', { method: 'DELETE', headers: { Accept: 'text/html' } });
  assertError(fromPage, 405, 'METHOD_NOT_ALLOWED', 'DELETE is not allowed here');
  assertSecurityHeaders(fromPage.headers);
  const override = await t.get(stig, { method: 'POST', headers: { 'X-HTTP-Method-Override': 'GET' } });
  assert.is(override.status, 405);
});

http('HEAD answers as GET does, without a body', async () => {
  for (const path of [...cached, ...others]) {
    const headers = { 'X-Request-Id': 'same' };
    const get = await t.get(path, { headers });
    const head = await t.get(path, { method: 'HEAD', headers });
    assert.is(head.status, get.status, path);
    assert.is(head.text, '');
    assert.equal([...head.headers], [...get.headers], path);
  }
});

http('the token comes first: without one every mistake is 401', async () => {
  const send = (body: string | Uint8Array) =>
    t.get('/api/v1/stigs/batch', { method: 'POST', token: null, body });
  const get = (path: string) => t.get(path, { token: null });
  for (const path of `nobody ?page=0 harbor_linux_3/download?format=pdf ?search=%zz %zz %00`.split(' '))
    assertError(
      await get(`/api/v1/stigs${path[0] === '?' ? path : `/${path}`}`),
      401,
      'UNAUTHORIZED',
      noToken,
    );
  for (const body of ['{', new Uint8Array([0x7b, 0xff])])
    assertError(await send(body), 401, 'UNAUTHORIZED', noToken);
});

http('every answer has the security headers and a request id', async () => {
  const paths = [...cached, ...others];
  const seen = new Set<string>();
  for (const path of paths) {
    const answer = await t.get(path, { headers: { Origin: 'https://evil.example' } });
    assertSecurityHeaders(answer.headers);
    const id = answer.headers.get('X-Request-Id')!;
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    seen.add(id);
  }
  assert.is(seen.size, paths.length, 'every request has an id of its own');
});

http('a request id is taken over when it is sane, and replaced otherwise', async () => {
  for (const id of ['a', 'A-b_c.9', '7'.repeat(64), 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6']) {
    for (const path of ['/healthz', '/nowhere', '/api/v1/stigs?page=0']) {
      const answer = await t.get(path, { headers: { 'X-Request-Id': id } });
      assert.is(answer.headers.get('X-Request-Id'), id);
      if (answer.status !== 200) assert.is(answer.json.error.requestId, id);
    }
  }
  for (const id of ['', 'a b', 'x'.repeat(65), 'a,b', '<b>', 'a/b', 'a:b', '"', 'ü', '#{x}']) {
    const answer = await t.get('/nowhere', { headers: { 'X-Request-Id': id } });
    const given = answer.headers.get('X-Request-Id')!;
    assert.match(given, /^[0-9a-f-]{36}$/, `"${id}" must be replaced`);
    assert.is(answer.json.error.requestId, given);
  }
});

/** What every answer with a token has. */
const assertKept = (headers: Headers) => {
  assert.match(headers.get('ETag')!, /^"[A-Za-z0-9_-]{20,}"$/);
  assert.is(headers.get('Cache-Control'), 'private, no-cache');
  assert.is(headers.get('Vary'), 'Authorization, Cookie, Accept-Encoding');
};

http(
  'an answer has an ETag of its own, and If-None-Match with it is 304 without body or content headers',
  async () => {
    const tags = new Set<string>();
    for (const path of cached) {
      const { headers } = await t.get(path);
      assertKept(headers);
      const tag = headers.get('ETag')!;
      tags.add(tag);
      for (const given of [tag, `W/${tag}`, `"a",W/"b",${tag}`, '*'])
        for (const method of ['GET', 'HEAD']) {
          const answer = await t.get(path, { method, headers: { 'If-None-Match': given } });
          assert.equal(
            [answer.status, answer.text, answer.headers.get('ETag')],
            [304, '', tag],
            `${path} ${given}`,
          );
          assertKept(answer.headers);
          for (const name of ['Content-Type', 'Content-Disposition'])
            assert.is(answer.headers.get(name), null);
          assertSecurityHeaders(answer.headers);
        }
      for (const given of ['"other"', tag.slice(1, -1), `${tag.slice(0, -2)}"`, '']) {
        const answer = await t.get(path, { headers: { 'If-None-Match': given } });
        assert.is(answer.status, 200, `${path} ${given}`);
        assert.ok(answer.text.length > 0);
      }
    }
    assert.is(tags.size, cached.length, 'another content, another tag');
  },
);

http("another user's 304 still needs that user's own token", async () => {
  const tag = (await t.get(stig)).headers.get('ETag')!;
  const headers = { 'If-None-Match': tag };
  const refused = await t.get(stig, { token: null, headers });
  assertError(refused, 401, 'UNAUTHORIZED', noToken);
  const other = await t.get(stig, { token: await t.token({ sub: 'bob', org: 'blue' }), headers });
  assert.is(other.status, 304);
  for (const etag of ['*', tag]) {
    const unknown = await t.get('/api/v1/stigs/nobody', { headers: { 'If-None-Match': etag } });
    assertError(unknown, 404, 'NOT_FOUND', noStig('nobody'));
  }
});

http('an ETag lives as long as the content and no longer', async () => {
  const own = await testApp([shipped('stigs')]);
  const tags = async () => {
    const answers = await Promise.all([own.get('/api/v1/stigs'), own.get(stig), own.get(`${stig}/download`)]);
    return answers.map((each) => each.headers.get('ETag'));
  };
  const [list, record, file] = await tags();
  assert.equal(await tags(), [list, record, file]);
  await runImport(own.db, [writeBenchmarks([{ id: 'New', title: 'New STIG' }])]);
  const [listAfter, recordAfter, fileAfter] = await tags();
  assert.is.not(listAfter, list);
  assert.is(recordAfter, record);
  assert.is(fileAfter, file);
  own.db.close();
});

http.run();
