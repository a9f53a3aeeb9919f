import { Hono } from 'hono';
import * as assert from 'uvu/assert';
import { createApp } from '../../src/app/app.ts';
import { silentLog } from '../../src/base/log.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { createUploads } from '../../src/pages/checklists/uploads.ts';
import { say, scaled } from '../faults/support/profile.ts';
import { verifier } from '../support/app.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { testContext } from '../support/context.ts';
import { suite } from '../support/harness.ts';
import { askedOf } from '../support/hostile/operations.ts';
import {
  boundary,
  fileShapes,
  formShapes,
  jsonShapes,
  partShapes,
  type Shape,
} from '../support/hostile/shapes.ts';
import { cronSecret, type OperationSite, operationSite } from '../support/operations.ts';
import { pageOperations } from '../support/page-operations.ts';
import type { Published } from '../support/published.ts';
import { recorded } from '../support/recorded.ts';
import { writeResults } from '../support/results-writer.ts';

// No request costs more than its size, whatever its shape (rule D2.6, threats H5 and P5): the body of each operation and
// of each form wide, deep, long and of many; each place of a path and each parameter long, also with what makes regular
// expressions go back and forth. A new route is asked when it is in the tables of operations and pages.
const shapes = suite('The worst shapes of every request');

const bodySize = 192 * 1024;
/** For files one body is about as large as it may be, with --long. */
const largeBody = scaled(28, 3) * 1024 * 1024;
const targetSize = 100_000;
/**
 * Milliseconds of processor time, which a busy machine does not make longer. What is right takes some tens; what grows
 * with the square of so many bytes takes a second and more.
 */
const most = 600;
const mostOf = (size: number) => (most * Math.max(size, bodySize)) / bodySize / (size > bodySize ? 4 : 1);

const parts = ['AC-2(', ' ', 'a', 'high,', '0', ',', '-', '1.', '(', '()', 'a_', '%', '#', '\t', '＝', ':'];
/** Of an operation of this number: over all of them each occurs. */
const fillersOf = (number: number, count = scaled(parts.length, 1)) =>
  Array.from({ length: count }, (_, index) => parts[(number + index) % parts.length]!);

let t: OperationSite;
/** Not the one of the site, whose answers are held against /openapi.json. */
let app: ReturnType<typeof createApp>;
let files: Record<string, unknown[]>;
const uploads = createUploads(silentLog);
const worst = { ms: 0, what: '' };
let asked = 0;

/** Processor time of this process in milliseconds, of all its threads. */
const used = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

shapes.before(async () => {
  t = await operationSite();
  const verify = verifier(() => t.clock.now);
  const now = () => t.clock.now;
  const context = testContext(t.db, { verify, uploads, cronSecret, now, metrics: async () => '' });
  app = recorded(createApp(context), context.observer);
  const path = '/api/v1/stigs/harbor_linux_3/download';
  const checklist = short((await t.get(path)).json as Cklb);
  // The thread that reads files starts with the first of them.
  const first = { method: 'POST', headers: t.callers.owner!, body: JSON.stringify({ checklist }) };
  assert.is((await app.request('/api/v1/checklists/inspect', first)).status, 200);
  const [stig] = checklist.stigs;
  const result = { id: stig!.rules[0]!.rule_id_src, result: 'fail', message: 'm' };
  const results = writeResults([result], { benchmarkId: stig!.stig_id, target: 'web01' });
  const ckl = writeCkl(checklist);
  files = { checklist: [checklist, ckl], checklists: [[checklist], [ckl]], results: [results] };
});

shapes.after(async () => {
  say(`${asked} requests, the most ${worst.ms.toFixed(0)} ms of processor time: ${worst.what}`);
  await uploads.stop();
  t.db.close();
});

/** A checklist of one open rule with short texts, so that many have room. */
function short(checklist: Cklb): Cklb {
  const [stig] = checklist.stigs;
  const [rule] = stig!.rules;
  const text = { rule_title: 't', group_title: 'g', fix_text: 'f', discussion: 'd', check_content: 'c' };
  const open = { ...rule!, ...text, status: 'open' as const, comments: 'c', finding_details: 'd' };
  return { ...checklist, stigs: [{ ...stig!, rules: [open] }] };
}

/** Files are read by one thread for all who take them: but in long runs each operation is sent one shape in so many. */
const turns = scaled(1, 24);
/** Some shapes of an operation of this number: over all operations each occurs, as each begins with another. */
function* someOf(all: Iterable<Shape>, isFile: boolean, number: number): Generator<Shape> {
  let turn = number * 5 + Math.floor(number / 3);
  const step = isFile ? turns : scaled(1, 4);
  for (const shape of all) if (turn++ % step === 0) yield shape;
}

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  make?: Shape['make'];
  size?: number;
  /** What may be answered though the request was not looked at. */
  unread?: number[];
}

/** Sends a request and says what is wrong: its cost, a 5xx, or that it was refused before it was read. */
async function problemOf(
  what: string,
  { method, path, headers, make, size = bodySize, unread = [] }: Sent,
  at: { request(path: string, init: RequestInit): Response | Promise<Response> } = app,
): Promise<string | null> {
  for (;;) {
    const body = make && Buffer.from(make(size));
    const before = used();
    t.db.sqlite.exec('BEGIN');
    const response = await at.request(path, { method, headers, ...(body && { body }) });
    const text = await response.text();
    t.db.sqlite.exec('ROLLBACK');
    const ms = used() - before;
    asked++;
    if (ms > worst.ms) Object.assign(worst, { ms, what });
    if (ms > mostOf(size)) return `${what}: ${ms.toFixed(0)} ms`;
    const { status } = response;
    const less = status === 413 && Number(/larger than (\d+) bytes/.exec(text)?.[1] ?? size);
    if (!less || less >= size) {
      const isRead = status < 500 && (![401, 403, 413, 429].includes(status) || unread.includes(status));
      return isRead ? null : `${what}: ${status} ${text.slice(0, 200)}`;
    }
    size = less;
  }
}

shapes('every operation: its path, its query, its bodies', async () => {
  const document = (await t.get('/openapi.json', { token: null })).json as Published;
  const headersOf: Record<string, Record<string, string>> = {
    cron: t.callers.cron,
    session: t.callers.session,
  };
  const problems: (string | null)[] = [];
  for (const [number, each] of askedOf(t, document, files).entries()) {
    const { name, method, template, path, query, bodies, access } = each;
    const headers = headersOf[access] ?? t.callers.owner;
    const needed = query.filter(([, , required]) => required).map(([each, value]) => `${each}=${value}&`);
    const ask = async (what: string, target: string) =>
      problems.push(await problemOf(`${name}, ${what}`, { method, path: target, headers }));
    await ask('plain', `${path}?${needed.join('')}`);
    for (const filler of fillersOf(number)) {
      const long = encodeURIComponent(`${filler.repeat(targetSize / filler.length)}!`);
      if (template.includes('{'))
        await ask(`long ${filler} in the path`, template.replace(/\{[^}]*\}/g, long));
      for (const [each, value] of [...query, ['unknown', '']])
        await ask(`long ${filler} ${each}`, `${path}?${needed.join('')}${each}=${value}${long}`);
    }
    for (const [index, [each, value]] of query.entries()) {
      if ((index + number) % scaled(1, 3) !== 0) continue;
      const one = `${each}=${value}&`;
      await ask(`many ${each}`, `${path}?${needed.join('')}${one.repeat(targetSize / one.length)}`);
      await ask(`many in ${each}`, `${path}?${needed.join('')}${each}=${`${value || 'a'},`.repeat(10_000)}`);
    }
    for (const [type, samples] of bodies)
      for (const [index, sample] of samples.entries()) {
        const isFile = Object.keys(files).some(
          (each) => typeof sample === 'string' || each in (sample as object),
        );
        const all = [
          ...(type === 'application/json'
            ? jsonShapes(sample, fillersOf(number, scaled(3, 1)))
            : fileShapes(String(sample))),
        ];
        const sent = { method, path, headers: { ...headers, 'Content-Type': type } };
        for (const { name: what, make } of someOf(all, isFile, number + index))
          problems.push(await problemOf(`${name}, ${what}`, { ...sent, make }));
        if (!isFile || index !== number % samples.length) continue;
        const { name: what, make } = all[(number + index) % all.length]!;
        problems.push(await problemOf(`${name}, ${what}, large`, { ...sent, make, size: largeBody }));
      }
  }
  assert.equal(problems.filter(Boolean), []);
  assert.ok(asked > 700, `${asked} requests`);
});

const pages = () =>
  pageOperations({
    ...Object.fromEntries(
      ['PRIVATE', 'SHARED'].flatMap((visibility) => [
        [`${visibility.toLowerCase()}List`, String(t.names[`lists ${visibility}`])],
        [`${visibility.toLowerCase()}Collection`, String(t.names[`control-collections ${visibility}`])],
      ]),
    ),
    deletedList: String(t.names.deleted),
  });

shapes('every page: its path, and its query long, of many and wide', async () => {
  const problems: (string | null)[] = [];
  const read = pages().filter(({ route, status }) => route.startsWith('GET ') && status === 200);
  const names = ['q', 'search', 'page', 'sort', 'from', 'to', 'id', 'severity', 'status', 'stig'];
  const wide = Array.from({ length: 1500 }, (_, index) => `a${index}=1`).join('&');
  const before = asked;
  for (const [number, { route, path }] of read.entries()) {
    const [own, query = ''] = path.split('?');
    const given = [...new URLSearchParams(query).keys(), names[number % names.length]!];
    const [filler] = fillersOf(number);
    const long = encodeURIComponent(`${filler!.repeat(targetSize / filler!.length)}!`);
    const template = route.slice(4);
    const targets: [string, string][] = [
      ['wide', `${own}?${query}&${wide}`],
      ...given.flatMap((name): [string, string][] => [
        [`long ${filler} ${name}`, `${own}?${name}=${long}`],
        [`many ${name}`, `${own}?${`${name}=a&`.repeat(targetSize / (name.length + 3))}`],
      ]),
      ...(template.includes(':')
        ? ([[`long ${filler} in the path`, template.replace(/:\w+/g, long)]] as [string, string][])
        : []),
    ];
    for (const [what, target] of targets)
      problems.push(
        await problemOf(`${route}, ${what}`, { method: 'GET', path: target, headers: t.callers.session! }),
      );
  }
  assert.equal(problems.filter(Boolean), []);
  assert.ok(asked - before > 150, `${asked - before} requests`);
});

shapes('every form, URL-encoded and in parts', async () => {
  const forms = pages().filter(({ form }) => form);
  const problems: (string | null)[] = [];
  for (const [number, { route, path, form = {} }] of forms.entries()) {
    const isUpload = path.startsWith('/checklists/');
    const kinds: [type: string, Iterable<Shape>][] = [
      [
        'application/x-www-form-urlencoded',
        someOf(formShapes(form, fillersOf(number, scaled(3, 1))), false, number),
      ],
      [
        `multipart/form-data; boundary=${boundary}`,
        someOf(partShapes(form, isUpload ? fileTexts() : []), isUpload, number),
      ],
    ];
    for (const [type, all] of kinds)
      for (const { name, make } of all) {
        const headers = { ...t.callers.session, 'Content-Type': type };
        problems.push(await problemOf(`${route}, ${name}`, { method: 'POST', path, headers, make }));
      }
  }
  assert.equal(problems.filter(Boolean), []);
});

const fileTexts = () =>
  Object.values(files)
    .flat(2)
    .map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));

shapes('headers', async () => {
  for (const filler of parts.filter((each) => /^[!-~]+$/.test(each)).slice(0, scaled(16, 2)))
    for (const name of ['If-None-Match', 'If-Match', 'Cookie', 'Authorization', 'Origin', 'X-Request-Id']) {
      const text = `${filler.repeat(targetSize / filler.length)}!`;
      const headers = { ...t.callers.owner, [name]: name === 'Cookie' ? `gapstone_session=${text}` : text };
      const sent = { method: 'GET', path: '/api/v1/stigs', headers, unread: [401, 403] };
      assert.is(await problemOf(`${name} ${filler}`, sent), null);
    }
});

shapes('the judge finds work that grows with the square, of items and of a text', async () => {
  const planted = new Hono();
  planted.post('/items', async (c) => {
    const { items } = (await c.req.json()) as { items: string[] };
    return c.json(items.filter((each, index) => items.indexOf(each) === index).length);
  });
  planted.post('/text', async (c) => {
    const { text } = (await c.req.json()) as { text: string };
    let words = 0;
    for (let at = 0; at < text.length; at += 256) words += text.slice(at).split(' ').length;
    return c.json(words);
  });
  const headers = { 'Content-Type': 'application/json' };
  const judged = async (path: string, sample: object) => {
    for (const { make, name } of jsonShapes(sample, [' '])) {
      const problem = await problemOf(name, { method: 'POST', path, headers, make }, planted);
      if (problem !== null && / ms$/.test(problem)) return problem;
    }
    return null;
  };
  planted.onError((_, c) => c.json({}, 400));
  assert.ok(await judged('/items', { items: ['a1'] }), 'many items');
  assert.ok(await judged('/text', { text: 'a' }), 'a long text');
});

shapes.run();
