import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { createApp } from '../../src/app/app.ts';
import { silentLog } from '../../src/base/log.ts';
import { createDocumentCollectionService } from '../../src/collections/catalog-collections.ts';
import { type Database, type Files, openCatalog, openDatabase } from '../../src/db/database.ts';
import { createAnswers } from '../../src/http/cache/answers.ts';
import { createFastPath } from '../../src/http/cache/fast-path.ts';
import { rememberTokens } from '../../src/http/cache/verified-tokens.ts';
import { commonHeaders, securityHeaders } from '../../src/http/headers.ts';
import {
  type ConcurrencyLimit,
  concurrencyLimits,
  createConcurrencyLimit,
} from '../../src/http/limits/concurrency.ts';
import { createLimiter, unlimited } from '../../src/http/limits/limiter.ts';
import { createObserver, type Observer } from '../../src/http/observe/observer.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { type Clock, signToken, verifier } from '../support/app.ts';
import { testContext } from '../support/context.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { ask as askRaw, openRaw, type RawAnswer, readAnswer, until } from '../support/running.ts';
import { filesOf, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// The fast path to kept answers, against the way through the router.
const short = suite('The fast path to kept answers');

interface Server {
  ask(path: string, lines?: string[], method?: string): Promise<RawAnswer & { short: boolean }>;
  bearer(claims?: Record<string, unknown>): Promise<string>;
  send(method: string, path: string, authorization: string, body: unknown): Promise<Response>;
  port: number;
  clock: Clock;
  seen: { route: string | null; status: number; subject: string | null; tokenType: string | null }[];
  db: Database;
  files: Files;
  concurrency: ConcurrencyLimit;
  load: RunningServer['load'];
}

const running: { server: RunningServer; db: Database }[] = [];

/** The server of the command line on a fresh database, told by every answer which way it took. */
async function serve(perMinute: number | null = null, paths = [shipped('stigs')]): Promise<Server> {
  const files = filesOf(join(scratchFolder(), 'g.db'));
  const catalog = openCatalog(files.db, { create: true });
  await runImport(catalog, paths);
  catalog.close();
  const db = openDatabase(files);
  const clock: Clock = { now: new Date('2026-11-21T12:00:00Z') };
  const now = () => clock.now;
  const tokens = rememberTokens(verifier(now), () => 0, now);
  const answers = createAnswers(db);
  const limiter = perMinute === null ? unlimited : createLimiter(perMinute, () => 0);
  const seen: Server['seen'] = [];
  const silent = createObserver(silentLog);
  const observer: Observer = {
    end(record, status, bytes, aborted) {
      const { route, subject, tokenType } = record;
      seen.push({ route, status, subject, tokenType });
      silent.end(record, status, bytes, aborted);
    },
  };
  const concurrency = createConcurrencyLimit({
    ...concurrencyLimits,
    total: 1024 * 1024,
    perCaller: 1024 * 1024,
  });
  const app = createApp(
    testContext(db, { concurrency, verify: tokens.verify, now, answers, limiter, observer }),
  );
  const fastPath = createFastPath({
    answers,
    known: tokens.known,
    limiter,
    concurrency,
    commonHeaders: commonHeaders(false),
  });
  let tookShort = false;
  const server = await startServer((request, record) => app.fetch(request, { record }), {
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    observer,
    fastPath(request, response, record, headers) {
      tookShort = fastPath(request, response, record, headers);
      return tookShort;
    },
  });
  running.push({ server, db });
  return {
    async ask(path, lines = [], method = 'GET') {
      const text = [`${method} ${path} HTTP/1.1`, 'Host: local', ...lines, '', ''].join('\r\n');
      const answer = await askRaw(server.port, text);
      return { ...answer, short: tookShort };
    },
    bearer: async (claims = {}) => `Authorization: Bearer ${await signToken(clock, claims)}`,
    send: (method, path, authorization, body) =>
      fetch(`http://127.0.0.1:${server.port}${path}`, {
        method,
        headers: { Authorization: authorization.slice('Authorization: '.length) },
        body: JSON.stringify(body),
      }),
    port: server.port,
    clock,
    seen,
    db,
    files,
    concurrency,
    load: server.load,
  };
}

short.after(async () => {
  for (const { server, db } of running) {
    await server.stop();
    db.close();
  }
});

/** What must be the same whichever way was taken. */
function comparable({ status, headers, bytes }: RawAnswer) {
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)).sort();
  return { status, headers: kept, hash: createHash('sha256').update(bytes).digest('hex') };
}

const everybody =
  '/api/v1/controls/nist-800-53 /api/v1/controls/nist-800-53/AC-2%281%29 /api/v1/controls/dod-8500?mac=I /api/v1/crosswalk/resolve?from=nist-800-53:AC-2&to=nist-800-171&explain=true'.split(
    ' ',
  );
const users = [
  '/api/v1/stigs?limit=100',
  '/api/v1/stigs?search=linux',
  '/api/v1/stigs/harbor_linux_3',
  '/api/v1/stigs/harbor_linux_3/controls?limit=5&page=2',
  '/api/v1/stigs/harbor_linux_3/versions',
  '/api/v1/stigs/changelog',
  ...['cklb', 'json', 'csv', 'xml'].map((format) => `/api/v1/stigs/harbor_linux_3/download?format=${format}`),
];
const entitled = ['/api/v1/regdoc', '/api/v1/roles', '/api/v1/roles/15-1244.00'];
const own = ['/api/v1/lists', '/api/v1/my-stigs', '/api/v1/my-controls', '/api/v1/control-collections'];

short(
  'both ways give the same status, headers and bytes, in every coding and to who has them already',
  async () => {
    const { ask, bearer } = await serve(null, [shipped()]);
    const authorization = await bearer({ entitlements: ['regdoc', 'occ'] });
    for (const path of [...everybody, ...users, ...entitled, ...own]) {
      const lines = everybody.includes(path) ? [] : [authorization];
      const plain = await ask(path, lines);
      assert.is(plain.status, 200, `${path}: ${plain.body}`);
      assert.is(plain.short, false, `${path} the first time`);
      for (const coding of ['identity', 'gzip', 'br', 'gzip, br']) {
        const first = await ask(path, [...lines, `Accept-Encoding: ${coding}`]);
        const second = await ask(path, [...lines, `Accept-Encoding: ${coding}`]);
        assert.is(second.short, true, `${path} as ${coding} again`);
        assert.equal(comparable(second), comparable(first), `${path} as ${coding}`);
        const used = second.headers.get('content-encoding');
        const body =
          used === 'br'
            ? brotliDecompressSync(second.bytes)
            : used === 'gzip'
              ? gunzipSync(second.bytes)
              : second.bytes;
        assert.ok(body.equals(plain.bytes), `${path} as ${coding} reads back`);
        if (plain.bytes.length >= 1024 && coding !== 'identity') assert.ok(used, `${path} is compressed`);
        const again = await ask(path, [...lines, `If-None-Match: ${second.headers.get('etag')}`]);
        assert.equal([again.status, again.bytes.length, again.short], [304, 0, true], path);
        assert.is(again.headers.get('cache-control'), plain.headers.get('cache-control'));
      }
      for (const name of Object.keys(securityHeaders)) assert.ok(plain.headers.has(name.toLowerCase()), name);
    }
  },
);

short('log lines and metrics cannot tell the ways apart', async () => {
  const { ask, bearer, seen } = await serve(null, [shipped('stigs'), shipped('controls')]);
  const authorization = await bearer();
  const paths: [string, string[]][] = [
    ['/api/v1/stigs/harbor_linux_3', [authorization]],
    ['/api/v1/controls/nist-800-53/AC-2', []],
    ['/api/v1/controls/nist-800-53/AC-2', [authorization]],
    ['/api/v1/lists', [authorization]],
  ];
  for (const [path, lines] of paths) {
    seen.length = 0;
    const ways = [await ask(path, lines), await ask(path, lines)];
    assert.is(ways[1]!.short, true);
    await until('both are over', () => seen.length === 2);
    assert.equal(seen[0], seen[1]);
    assert.match(seen[0]!.route!, /^\/api\/v1\//);
  }
  assert.is(
    (await ask('/api/v1/lists', [authorization, 'X-Request-Id: mine-1'])).headers.get('x-request-id'),
    'mine-1',
  );
});

short('who may not have an answer does not get it, however often another had it', async () => {
  const { ask, bearer } = await serve(null, [shipped('stigs'), shipped('roles')]);
  const ann = await bearer({ sub: 'ann', entitlements: ['occ'] });
  const bob = await bearer({ sub: 'bob' });
  for (const path of [...users, '/api/v1/roles'])
    for (let count = 0; count < 2; count++) await ask(path, [ann]);
  for (const path of users) {
    assert.is((await ask(path)).status, 401, path);
    assert.is((await ask(path, ['Authorization: Bearer nonsense'])).status, 401, path);
    assert.is((await ask(path, [`${ann}x`])).status, 401, path);
    assert.is((await ask(path, [ann, ann])).status, 401, `${path} with two headers`);
    assert.is((await ask(path, [bob])).status, 200);
  }
  for (let count = 0; count < 2; count++) assert.is((await ask('/api/v1/roles', [bob])).status, 403);
  assert.is((await ask('/api/v1/roles', [ann])).short, true);
});

short('a token that ends is refused the moment it does', async () => {
  const { ask, bearer, clock } = await serve();
  const authorization = await bearer();
  for (let count = 0; count < 3; count++)
    assert.is((await ask('/api/v1/stigs', [authorization])).status, 200);
  clock.now = new Date(clock.now.getTime() + 3600_000 + 6_000);
  assert.is((await ask('/api/v1/stigs', [authorization])).status, 401);
});

short('what a user writes is in the next answer, and nobody else’s answer is his', async () => {
  const { ask, bearer, send } = await serve();
  const [ann, bob] = [await bearer({ sub: 'ann' }), await bearer({ sub: 'bob' })];
  for (let count = 1; count <= 20; count++) {
    const made = await send('POST', '/api/v1/lists', ann, { name: `List ${count}` });
    assert.ok(made.ok);
    const first = await ask('/api/v1/lists', [ann]);
    const second = await ask('/api/v1/lists', [ann]);
    assert.equal([first.short, second.short], [false, true]);
    for (const { body } of [first, second]) assert.is(JSON.parse(body).lists.length, count);
    assert.equal(JSON.parse((await ask('/api/v1/lists', [bob])).body).lists, []);
  }
});

short('an import is in the next answer', async () => {
  const { ask, bearer, files } = await serve();
  const writer = openCatalog(files.db);
  const authorization = await bearer();
  const total = async () =>
    JSON.parse((await ask('/api/v1/stigs?limit=1', [authorization])).body).pagination.total;
  const before = await total();
  assert.is(await total(), before);
  const folder = scratchFolder();
  for (let count = 1; count <= 5; count++) {
    const title = `Fresh ${count} Security Technical Implementation Guide`;
    const own = { rules: 1, stem: `FRESH-${count}`, first: 300_000 + count };
    await runImport(writer, [
      put(folder, `${count}.xml`, writeXccdf({ id: `Fresh_${count}`, title, ...own })),
    ]);
    await new Promise((resolve) => setTimeout(resolve, 6));
    assert.is(await total(), before + count);
  }
  writer.close();
});

short('what is not plain goes the long way and is judged there', async () => {
  const { ask, bearer } = await serve(null, [shipped('controls')]);
  const path = '/api/v1/controls/nist-800-53/AC-2';
  const authorization = await bearer();
  for (let count = 0; count < 2; count++) await ask(path);
  for (const lines of [
    ['Cookie: gapstone_session=x'],
    ['Origin: https://elsewhere.example'],
    ['Content-Length: 3', '', 'abc'],
    ['Connection: close'],
    ['Connection: keep-alive, close'],
    ['Upgrade: websocket'],
  ]) {
    const answer = await ask(path, lines);
    assert.equal([answer.status, answer.short], [200, false], lines.join());
  }
  for (const method of ['HEAD', 'POST', 'DELETE', 'OPTIONS'])
    assert.is((await ask(path, [], method)).short, false);
  assert.is((await ask(path, ['Connection: Keep-Alive'])).short, true);
  for (const plain of [
    ['Accept-Encoding: identity', 'Accept-Encoding: deflate'],
    ['If-None-Match: "a"', 'If-None-Match: "b"'],
    ['authorization: bearer x'],
  ]) {
    const answer = await ask(path, plain);
    assert.equal([answer.status, answer.short], [200, true], plain.join());
  }
  const { headers } = await ask(path);
  assert.is((await ask(path, ['If-None-Match: "a"', `If-None-Match: ${headers.get('etag')}`])).status, 304);
  assert.is((await ask(`http://elsewhere.example${path}`)).short, true, 'it asks for the same path');
  assert.is((await ask(`${path}?x=%zz`)).status, 400);
  assert.is((await ask(`${path}?x=%zz`)).status, 400);
  assert.equal([(await ask(path, [authorization])).short, (await ask(path)).short], [true, true]);
});

short(
  'requests sent in one go are answered in their order, and the head is what Node itself would write',
  async () => {
    const { ask, port } = await serve(null, [shipped('controls')]);
    const paths = ['AC-2', 'nowhere', 'AC-3', 'AC-2'].map((id) => `/api/v1/controls/nist-800-53/${id}`);
    const alone: RawAnswer[] = [];
    for (const path of paths) alone.push(await ask(path), await ask(path));
    const text = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: local\r\n\r\n`).join('');
    const connection = await openRaw(port, text);
    const answers = () =>
      connection
        .received()
        .toString('latin1')
        .split(/(?=HTTP\/1\.1 \d)/);
    await until('four answers', () => answers().length === 4 && answers()[3]!.endsWith('}'));
    connection.socket.destroy();
    const together = answers().map((each) => readAnswer(Buffer.from(each, 'latin1')));
    paths.forEach((_, index) => {
      const [long, second] = alone.slice(2 * index) as [RawAnswer, RawAnswer];
      assert.is(together[index]!.status, long.status);
      if (long.status === 200)
        for (const answer of [second, together[index]!]) assert.equal(comparable(answer), comparable(long));
      assert.match(
        together[index]!.headers.get('date')!,
        /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
      );
      assert.equal(
        ['connection', 'keep-alive'].map((name) => together[index]!.headers.get(name)),
        ['keep-alive', 'timeout=5'],
      );
    });
  },
);

short('what is told each time in the audit stream is never a kept answer', async () => {
  const { ask, bearer, send, db } = await serve(null, [
    shipped('stigs'),
    shipped('regulatory'),
    shipped('controls'),
  ]);
  const authorization = await bearer({ entitlements: ['regdoc'] });
  const owner = { kind: 'user', subject: 'alice', email: null, organization: 'red', expiresAt: 0 } as const;
  const fields = { name: 'N', description: '', tags: [], color: '', visibility: 'SHARED' as const };
  const id = '00000000-0000-4000-8000-000000000001';
  await createDocumentCollectionService(
    db,
    () => new Date(),
    () => id,
  ).create({ ...owner, entitlements: new Set() }, fields, ['harbor-basic-directive']);
  const made = [
    await send('POST', '/api/v1/lists', authorization, { name: 'A' }),
    await send('POST', '/api/v1/control-collections', authorization, { name: 'A' }),
  ];
  const [list, collection] = await Promise.all(
    made.map(async (each) => ((await each.json()) as { id: string }).id),
  );
  for (const path of [
    `/api/v1/lists/${list}/export`,
    `/api/v1/control-collections/${collection}/export`,
    `/api/v1/regdoc-collections/${id}/export`,
  ])
    for (let count = 0; count < 3; count++) {
      const { status, short: way, body } = await ask(path, [authorization]);
      assert.equal([status, way], [200, false], `${path}: ${body}`);
    }
});

short('large answers count as unread until they are taken, and wait where too much is unread', async () => {
  const { ask, concurrency, port } = await serve(null, [shipped('controls')]);
  const path = '/api/v1/controls/nist-800-53';
  const { bytes } = await ask(path);
  assert.ok(bytes.length > 64 * 1024);
  assert.is((await ask(path)).short, true);
  await until('everything is taken', () => concurrency.state().total === 0);

  const hold = concurrency.hold;
  const counted: number[] = [];
  concurrency.hold = (caller, size) => {
    counted.push(size);
    hold(caller, size);
  };
  await ask(path);
  await ask('/api/v1/controls/nist-800-53/AC-2');
  await ask('/api/v1/controls/nist-800-53/AC-2');
  assert.equal(counted, [bytes.length], 'small ones do not count');
  concurrency.hold = hold;

  concurrency.hold('address 127.0.0.1', 2 * 1024 * 1024);
  const connection = await openRaw(port, `GET ${path} HTTP/1.1\r\nHost: local\r\n\r\n`);
  await until('it waits', () => concurrency.state().waiting === 1);
  assert.is(connection.received().length, 0);
  concurrency.release('address 127.0.0.1', 2 * 1024 * 1024);
  await until('its answer', () => connection.received().length > bytes.length);
  connection.socket.destroy();
});

short('answers that wait behind others are over when their connection dies', async () => {
  const { concurrency, port, seen, load } = await serve(null, [shipped('controls')]);
  const pipelined = (count: number, line = '') =>
    `GET /api/v1/controls/nist-800-53 HTTP/1.1\r\nHost: local\r\n${line}\r\n`.repeat(count);
  await askRaw(port, pipelined(1));
  // A cookie makes it the long way.
  for (const line of ['', 'Cookie: a=b\r\n']) {
    await until('nothing is under way', () => load().requests === 0);
    seen.length = 0;
    const connection = await openRaw(port, '');
    connection.socket.pause();
    connection.socket.write(pipelined(60, line));
    await until('some are under way', () => load().requests > 1);
    const begun = seen.length + load().requests;
    connection.socket.resetAndDestroy();
    await until('all are over', () => load().requests === 0 && concurrency.state().total === 0);
    assert.ok(seen.length >= begun, `${seen.length} of ${begun}`);
  }
});

short('requests after the last that a connection may have are over with it', async () => {
  const { port, seen, load } = await serve();
  const connection = await openRaw(port, 'GET /healthz HTTP/1.1\r\nHost: local\r\n\r\n'.repeat(1100));
  await until('its end', () => connection.closed());
  await until('all are over', () => load().requests === 0);
  assert.ok(seen.length >= 1000, `${seen.length} log lines`);
});

short('a connection that sends twice as many is cut, and what it sent is over', async () => {
  const { port, seen, load } = await serve();
  // Not kept, so that none is answered while they arrive.
  const connection = await openRaw(port, 'GET /x HTTP/1.1\r\nHost: local\r\n\r\n'.repeat(6000));
  await until('its end', () => connection.closed());
  await until('all are over', () => load().requests === 0);
  assert.ok(seen.length >= 1000 && seen.length <= 2000, `${seen.length} log lines`);
});

short('a limit counts both ways', async () => {
  const { ask, bearer } = await serve(30);
  const authorization = await bearer();
  const statuses: string[] = [];
  for (let count = 0; count < 32; count++) {
    const { status, short: way } = await ask('/api/v1/stigs', [authorization]);
    statuses.push(`${status}${way ? ' short' : ''}`);
  }
  assert.equal(statuses, ['200', ...Array(29).fill('200 short'), '429', '429']);
});

short('an expensive answer counts as one though it is kept', async () => {
  const { ask, bearer } = await serve(100);
  const authorization = await bearer();
  const statuses: number[] = [];
  for (let count = 0; count < 12; count++)
    statuses.push((await ask('/api/v1/stigs/harbor_linux_3/download?format=cklb', [authorization])).status);
  assert.equal(statuses, [...Array(10).fill(200), 429, 429]);
});

short.run();
