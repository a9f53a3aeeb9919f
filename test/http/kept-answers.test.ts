import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { createApp } from '../../src/app/app.ts';
import { silentLog } from '../../src/base/log.ts';
import { createDocumentCollectionService } from '../../src/collections/catalog-collections.ts';
import { createAnswerCache, createShortcut } from '../../src/http/cache.ts';
import { securityHeaders } from '../../src/http/headers.ts';
import { createLimiter, unlimited } from '../../src/http/limits.ts';
import type { Observer } from '../../src/http/record.ts';
import { rememberTokens } from '../../src/http/verified-tokens.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { type Clock, signToken, verifier } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { testId } from '../support/callers.ts';
import { testContext } from '../support/context.ts';
import { suite } from '../support/harness.ts';
import { preparedCatalog } from '../support/prepared.ts';
import { shipped } from '../support/reference.ts';
import { ask as askRaw, type RawAnswer, until } from '../support/running.ts';
import { linesOf } from '../support/tables.ts';

// An answer that is kept is the one that a caller would get anew, and who may not have it does not get it.
const kept = suite('Kept answers over connections');

const running: RunningServer[] = [];
kept.after(async () => {
  for (const server of running) await server.stop();
});

/** The server of the command line over a catalog of all that is shipped; it says of each answer whether it was kept. */
async function serve(perMinute: number | null = null) {
  const clock: Clock = { now: new Date('2026-11-21T12:00:00Z') };
  const now = () => clock.now;
  const db = await preparedCatalog([shipped()], now);
  const tokens = rememberTokens(verifier(now), () => 0, now);
  const cache = createAnswerCache(db);
  const limiter = perMinute === null ? unlimited : createLimiter(perMinute, () => 0);
  const seen: unknown[] = [];
  const observer = {
    end: ({ route, caller }, status) =>
      seen.push([route, status, caller && { by: caller.by, ...caller.viewer }]),
  } as Observer;
  const context = testContext(db, { verify: tokens.verify, now, cache, limiter, observer });
  const app = createApp(context);
  const shortcut = createShortcut({
    ...{ cache, known: tokens.known, limiter, queue: context.queue },
    corsOrigins: [],
  });
  let wasKept = false;
  const server = await startServer((request, record) => app.fetch(request, { record }), {
    ...{ host: '127.0.0.1', port: 0, log: silentLog, observer },
    shortcut(request, response, record) {
      wasKept = shortcut(request, response, record);
      return wasKept;
    },
  });
  running.push(server);
  return {
    ...{ clock, seen, db, port: server.port },
    async ask(path: string, lines: string[] = [], method = 'GET') {
      const text = [`${method} ${path} HTTP/1.1`, 'Host: local', ...lines, '', ''].join('\r\n');
      const answer = await askRaw(server.port, text);
      return { ...answer, wasKept };
    },
    bearer: async (claims = {}) => `Authorization: Bearer ${await signToken(clock, claims)}`,
    async send(path: string, authorization: string, body: unknown) {
      const headers = { Authorization: authorization.slice('Authorization: '.length) };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const { id } = (await (await fetch(`http://127.0.0.1:${server.port}${path}`, init)).json()) as {
        id: string;
      };
      return id;
    },
  };
}
const site = await serve();
const { ask, bearer, send } = site;

/** What must be the same, kept or not. */
function comparable({ status, headers, body }: RawAnswer) {
  return [status, [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)).sort(), body];
}
const readers: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

const everybody = linesOf(`
  /api/v1/controls/nist-800-53
  /api/v1/controls/nist-800-53/AC-2%281%29
  /api/v1/crosswalk/resolve?from=nist-800-53:AC-2&to=nist-800-171&explain=true
`);
const users = linesOf(`
  /api/v1/stigs?search=linux
  /api/v1/stigs/harbor_linux_3/controls?limit=5&page=2
  /api/v1/stigs/harbor_linux_3/download?format=xml
  /api/v1/my-stigs
  /api/v1/control-collections
`);
const entitled = ['/api/v1/regdoc', '/api/v1/roles'];

kept(
  'an answer is the same in status, headers and bytes, in every coding and to who has it already',
  async () => {
    const authorization = await bearer({ sub: 'olga', entitlements: ['regdoc', 'occ'] });
    for (const path of [...everybody, ...users, ...entitled]) {
      const lines = everybody.includes(path) ? [] : [authorization];
      const plain = await ask(path, lines);
      assert.equal([plain.status, plain.wasKept], [200, false], `${path}: ${plain.body}`);
      for (const name of Object.keys(securityHeaders)) assert.ok(plain.headers.has(name.toLowerCase()), name);
      for (const coding of ['identity', 'gzip', 'br']) {
        const first = await ask(path, [...lines, `Accept-Encoding: ${coding}`]);
        const second = await ask(path, [...lines, `Accept-Encoding: ${coding}`]);
        assert.is(second.wasKept, true, `${path} as ${coding} again`);
        assert.equal(comparable(second), comparable(first), `${path} as ${coding}`);
        const read = readers[second.headers.get('content-encoding') ?? ''];
        assert.ok(
          (read?.(second.bytes) ?? second.bytes).equals(plain.bytes),
          `${path} as ${coding} reads back`,
        );
        assert.is(read !== undefined, plain.bytes.length >= 1024 && coding !== 'identity', path);
        const again = await ask(path, [...lines, `If-None-Match: ${second.headers.get('etag')}`]);
        assert.equal([again.status, again.bytes.length, again.wasKept], [304, 0, true], path);
        assert.is(again.headers.get('cache-control'), plain.headers.get('cache-control'));
      }
    }
  },
);

kept('log lines and metrics cannot tell a kept answer', async () => {
  for (const [path, ...lines] of [
    ['/api/v1/stigs/harbor_linux_3', await bearer()],
    ['/api/v1/controls/nist-800-53/AC-3'],
  ] as const) {
    site.seen.length = 0;
    const asked = [await ask(path, [...lines]), await ask(path, [...lines])];
    assert.equal([asked[0]!.wasKept, asked[1]!.wasKept], [false, true]);
    await until('both are over', () => site.seen.length === 2);
    assert.equal(site.seen[0], site.seen[1]);
  }
  const named = await ask('/api/v1/controls/nist-800-53/AC-3', ['X-Request-Id: mine-1']);
  assert.is(named.headers.get('x-request-id'), 'mine-1');
});

kept('who may not have an answer does not get it, however often another had it', async () => {
  const ann = await bearer({ sub: 'ann', entitlements: ['occ'] });
  const bob = await bearer({ sub: 'bob' });
  const paths = ['/api/v1/stigs/harbor_linux_3', '/api/v1/stigs?search=harbor'];
  for (const path of [...paths, '/api/v1/roles'])
    for (let count = 0; count < 2; count++) await ask(path, [ann]);
  for (const path of paths) {
    for (const lines of [[], ['Authorization: Bearer nonsense'], [`${ann}x`], [ann, ann]])
      assert.is((await ask(path, lines)).status, 401, `${path} ${lines}`);
    assert.is((await ask(path, [bob])).status, 200);
  }
  for (let count = 0; count < 2; count++) assert.is((await ask('/api/v1/roles', [bob])).status, 403);
  assert.is((await ask('/api/v1/roles', [ann])).wasKept, true);
});

kept('what a user writes, and an import, is in the next answer; nobody else’s answer is theirs', async () => {
  const [ann, bob] = [await bearer({ sub: 'amy' }), await bearer({ sub: 'bo' })];
  for (let count = 1; count <= 3; count++) {
    await send('/api/v1/lists', ann, { name: `List ${count}` });
    const answers = [await ask('/api/v1/lists', [ann]), await ask('/api/v1/lists', [ann])];
    assert.equal(
      answers.map(({ wasKept, body }) => [wasKept, JSON.parse(body).lists.length]),
      [
        [false, count],
        [true, count],
      ],
    );
    assert.equal(JSON.parse((await ask('/api/v1/lists', [bob])).body).lists, []);
  }
  const total = async () => JSON.parse((await ask('/api/v1/stigs?limit=1', [ann])).body).pagination.total;
  assert.equal([await total(), await total()], [2, 2]);
  await runImport(site.db, [writeBenchmarks([{ id: 'Fresh', title: 'Fresh' }])]);
  assert.is(await total(), 3);
});

kept('what is not plain is judged anew, and a token that ends is refused the moment it does', async () => {
  const path = '/api/v1/controls/nist-800-53/AC-2';
  for (let count = 0; count < 2; count++) await ask(path);
  for (const [line, wasKept] of [
    ['Cookie: gapstone_session=x', false],
    ['Origin: https://elsewhere.example', false],
    ['Connection: keep-alive, close', false],
    ['Upgrade: websocket', false],
    ['Connection: Keep-Alive', true],
    ['authorization: bearer x', true],
  ] as const) {
    const answer = await ask(path, [line]);
    assert.equal([answer.status, answer.wasKept], [200, wasKept], line);
  }
  for (const method of ['HEAD', 'POST', 'DELETE', 'OPTIONS'])
    assert.is((await ask(path, [], method)).wasKept, false);
  for (let count = 0; count < 2; count++) assert.is((await ask(`${path}?x=%zz`)).status, 400);
  const etag = (await ask(path)).headers.get('etag');
  assert.is((await ask(path, ['If-None-Match: "a"', `If-None-Match: ${etag}`])).status, 304);

  const authorization = await bearer();
  for (let count = 0; count < 3; count++)
    assert.is((await ask('/api/v1/stigs', [authorization])).status, 200);
  site.clock.now = new Date(site.clock.now.getTime() + 3600_000 + 6_000);
  assert.is((await ask('/api/v1/stigs', [authorization])).status, 401);
});

kept('what is told each time in the audit stream is never a kept answer', async () => {
  const authorization = await bearer({ entitlements: ['regdoc'] });
  const owner = { kind: 'user', subject: 'alice', email: null, organization: 'red', expiresAt: 0 } as const;
  const fields = { name: 'N', description: '', tags: [], color: '', visibility: 'SHARED' as const };
  const id = testId(1);
  await createDocumentCollectionService(
    site.db,
    () => site.clock.now,
    () => id,
  ).create({ ...owner, entitlements: new Set() }, fields, ['harbor-basic-directive']);
  for (const path of [
    `/api/v1/lists/${await send('/api/v1/lists', authorization, { name: 'A' })}/export`,
    `/api/v1/control-collections/${await send('/api/v1/control-collections', authorization, { name: 'A' })}/export`,
    `/api/v1/regdoc-collections/${id}/export`,
  ])
    for (let count = 0; count < 3; count++) {
      const { status, wasKept, body } = await ask(path, [authorization]);
      assert.equal([status, wasKept], [200, false], `${path}: ${body}`);
    }
});

kept('a limit counts kept answers too, an expensive one as one', async () => {
  for (const [perMinute, path, most] of [
    [30, '/api/v1/stigs', 30],
    [100, '/api/v1/stigs/harbor_linux_3/download?format=cklb', 10],
  ] as const) {
    const limited = await serve(perMinute);
    const authorization = await limited.bearer();
    for (let count = 1; count <= most + 2; count++) {
      const { status, wasKept } = await limited.ask(path, [authorization]);
      assert.equal([status, wasKept], count > most ? [429, false] : [200, count > 1], `${path} ${count}`);
    }
  }
});

kept.run();
