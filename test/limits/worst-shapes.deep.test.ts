import * as assert from 'uvu/assert';
import { createApp } from '../../src/app/app.ts';
import { silentLog } from '../../src/base/log.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { createUploads } from '../../src/site/checklists/uploads.ts';
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
import { writeResults } from '../support/results-writer.ts';

// No request costs more than its size, whatever its shape (rule D2.6, threats H5 and P5): the body of each operation and
// of each form wide, deep, long and of many; each place of a path and each parameter long, also with what makes regular
// expressions go back and forth. A new route is asked when it is in the tables of operations and pages.
const shapes = suite('The worst shapes of every request');

const bodySize = 128 * 1024;
const targetSize = 100_000;
/**
 * Milliseconds of processor time, which a busy machine does not make longer. What is right takes some tens; what grows
 * with the square of so many bytes takes several seconds and more.
 */
const most = 1000;

const parts = ['AC-2(', ' ', 'a', 'high,', '0', ',', '-', '1.', '(', '()', 'a_', '%', '#', '\t', '＝', ':'];
const fillers = parts.slice(0, scaled(16, 2));

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
  app = createApp(testContext(t.db, { verify, uploads, cronSecret, now, metrics: async () => '' }));
  const path = '/api/v1/stigs/harbor_linux_3/download';
  const checklist = short((await t.get(path)).json as Cklb);
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
let turn = 0;
function* someOf(all: Iterable<Shape>, isFile: boolean): Generator<Shape> {
  for (const shape of all) if (!isFile || turn++ % turns === 0) yield shape;
}

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  make?: Shape['make'];
  /** What may be answered though the request was not looked at. */
  unread?: number[];
}

/** Sends a request and says what is wrong: its cost, a 5xx, or that it was refused before it was read. */
async function problemOf(
  what: string,
  { method, path, headers, make, unread = [] }: Sent,
): Promise<string | null> {
  let size = bodySize;
  for (;;) {
    const body = make && Buffer.from(make(size));
    const before = used();
    t.db.sqlite.exec('BEGIN');
    const response = await app.request(path, { method, headers, ...(body && { body }) });
    const text = await response.text();
    t.db.sqlite.exec('ROLLBACK');
    const ms = used() - before;
    asked++;
    if (ms > worst.ms) Object.assign(worst, { ms, what });
    if (ms > most) return `${what}: ${ms.toFixed(0)} ms`;
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
  for (const { name, method, template, path, query, bodies, access } of askedOf(t, document, files)) {
    const headers = headersOf[access] ?? t.callers.owner;
    const needed = query.filter(([, , required]) => required).map(([each, value]) => `${each}=${value}&`);
    const ask = async (what: string, target: string) =>
      problems.push(await problemOf(`${name}, ${what}`, { method, path: target, headers }));
    await ask('plain', `${path}?${needed.join('')}`);
    for (const filler of fillers) {
      const long = encodeURIComponent(`${filler.repeat(targetSize / filler.length)}!`);
      if (template.includes('{'))
        await ask(`long ${filler} in the path`, template.replace(/\{[^}]*\}/g, long));
      for (const [each, value] of [...query, ['unknown', '']])
        await ask(`long ${filler} ${each}`, `${path}?${needed.join('')}${each}=${value}${long}`);
    }
    for (const [each, value] of query) {
      const one = `${each}=${value}&`;
      await ask(`many ${each}`, `${path}?${needed.join('')}${one.repeat(targetSize / one.length)}`);
      await ask(`many in ${each}`, `${path}?${needed.join('')}${each}=${`${value || 'a'},`.repeat(10_000)}`);
    }
    for (const [type, samples] of bodies)
      for (const sample of samples) {
        const all =
          type === 'application/json' ? jsonShapes(sample, fillers.slice(0, 3)) : fileShapes(String(sample));
        for (const { name: what, make } of someOf(
          all,
          Object.keys(files).some((each) => typeof sample === 'string' || each in (sample as object)),
        )) {
          const sent = { method, path, headers: { ...headers, 'Content-Type': type }, make };
          problems.push(await problemOf(`${name}, ${what}`, sent));
        }
      }
  }
  assert.equal(problems.filter(Boolean), []);
  assert.ok(asked > 2000, `${asked} requests`);
});

shapes('every form, URL-encoded and in parts', async () => {
  const names = Object.fromEntries(
    ['PRIVATE', 'SHARED'].flatMap((visibility) => [
      [`${visibility.toLowerCase()}List`, String(t.names[`lists ${visibility}`])],
      [`${visibility.toLowerCase()}Collection`, String(t.names[`control-collections ${visibility}`])],
    ]),
  );
  const forms = pageOperations({ ...names, deletedList: String(t.names.deleted) }).filter(({ form }) => form);
  const problems: (string | null)[] = [];
  for (const { route, path, form = {} } of forms) {
    const isUpload = path.startsWith('/checklists/');
    const kinds: [type: string, Iterable<Shape>][] = [
      ['application/x-www-form-urlencoded', formShapes(form, fillers.slice(0, 3))],
      [
        `multipart/form-data; boundary=${boundary}`,
        someOf(partShapes(form, isUpload ? fileTexts() : []), isUpload),
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
  for (const filler of fillers.filter((each) => /^[!-~]+$/.test(each)))
    for (const name of ['If-None-Match', 'If-Match', 'Cookie', 'Authorization', 'Origin', 'X-Request-Id']) {
      const text = `${filler.repeat(targetSize / filler.length)}!`;
      const headers = { ...t.callers.owner, [name]: name === 'Cookie' ? `gapstone_session=${text}` : text };
      const sent = { method: 'GET', path: '/api/v1/stigs', headers, unread: [401, 403] };
      assert.is(await problemOf(`${name} ${filler}`, sent), null);
    }
});

shapes.run();
