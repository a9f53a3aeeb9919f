import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as assert from 'uvu/assert';
import type { Ask } from '../../src/base/ask.ts';
import { AppError } from '../../src/base/errors.ts';
import { type Log, silentLog } from '../../src/base/log.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import type { Upgraded } from '../../src/checklists/upload.ts';
import { createQueue, expensiveLimits, smallUpload } from '../../src/http/limits.ts';
import type { Upload } from '../../src/pages/checklists/upload-messages.ts';
import {
  createUploads,
  createUploadWork,
  type UploadOptions,
  type Uploads,
} from '../../src/pages/checklists/uploads.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

// The thread that reads uploads: what it answers, and what becomes of callers when it dies, hangs or has no memory left.
const uploading = suite('Uploads in a thread');

const path = '/api/v1/checklists/upgrade';
const slug = 'harbor_linux_3';
let t: TestApp;
let old: Cklb;

uploading.before(async () => {
  t = await testApp([shipped('stigs')]);
  old = (await t.get(`/api/v1/stigs/${slug}/download?version=V1R1&hostName=h`)).json;
});
uploading.after(() => {
  t.db.close();
});

/** A log that remembers. */
function remembering(): { log: Log; told: unknown[] } {
  const told: unknown[] = [];
  return { log: { ...silentLog, error: (message, fields) => told.push([message, fields]) }, told };
}

/** What a thread is asked is answered so, unless its first byte is `!`: then it does something else. */
const unless = (other: string) =>
  `parentPort.on('message', (request) => { if (request.bytes?.[0] === 33) { ${other} } else answer(request); });`;

/** Uploads whose thread runs a program of the test; `count` tells how often it started, `wrote` what it left in a file. */
function uploadsOf(program: string, options: UploadOptions = {}) {
  const folder = scratchFolder();
  const path = (name: string) => join(folder, name);
  writeFileSync(
    path('thread.mjs'),
    `import { parentPort } from 'node:worker_threads';
     import { appendFileSync, existsSync } from 'node:fs';
     const write = (name, text) => appendFileSync(new URL(name, import.meta.url), text);
     write('starts', 'x');
     const held = () => {
       const go = new URL('go', import.meta.url);
       while (!existsSync(go)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
     };
     const asks = { question: { name: 'releaseOfSlug', args: ['${slug}', undefined, []] } };
     const makes = () => ({ upgraded: { bytes: new Uint8Array([1, 2]), file: null } });
     const answer = (request) => parentPort.postMessage('value' in request ? makes() : asks);
     ${program}`,
  );
  const { log, told } = remembering();
  const uploads = createUploads(log, { entry: pathToFileURL(path('thread.mjs')), ...options });
  const wrote = (name: string) => (existsSync(path(name)) ? String(readFileSync(path(name))) : '');
  return {
    uploads,
    told,
    count: () => wrote('starts').length,
    wrote,
    go: () => writeFileSync(path('go'), ''),
  };
}

const upload = (text = 'x'): Upload => ({
  from: 'api',
  task: 'upgrade',
  query: { download: false, onChange: 'keep', format: 'cklb' },
  bytes: new Uint8Array(Buffer.from(text)),
});
const anyRelease: Ask = async () => ({ target: null, names: [] }) as never;
const good: Upgraded = { bytes: new Uint8Array([1, 2]), file: null };

/** What becomes of an upload: what it makes, or the code and the message of its refusal. */
const outcome = (uploads: Uploads, text = 'x') =>
  uploads.upgrade(upload(text), anyRelease).then(
    (made) => made as unknown,
    (error: AppError) => [error.code, error.message],
  );

const unread = ['UNAVAILABLE', 'The upload could not be read. Try again'];
/** What a thread does with an upload, what its caller is told, and the reason in the log; none of one that was ended. */
const deaths: [
  what: string,
  program: string,
  refusal: string[],
  reason: RegExp | null,
  options?: UploadOptions,
][] = [
  ['exits', unless('process.exit(7);'), unread, /^exit code 7$/],
  ['throws', unless("throw new Error('broken');"), unread, /^broken$/],
  ['rejects', unless("Promise.reject(new Error('lost'));"), unread, /^lost$/],
  [
    'has no memory left',
    unless('const all = []; for (;;) all.push({ text: [all.length] });'),
    ['PAYLOAD_TOO_LARGE', 'The upload needs more memory than one may use'],
    /memory/i,
    { memory: 32 },
  ],
  [
    'hangs',
    unless('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);'),
    ['UNAVAILABLE', 'The upload took too long to process. Try again'],
    null,
    { patience: 3000 },
  ],
];
for (const [what, program, refusal, reason, options] of deaths)
  uploading(`a thread that ${what} fails the one upload that it had; who waited has another`, async () => {
    const { uploads, told, count } = uploadsOf(program, options);
    const outcomes = ['a', '!', 'b', 'c'].map((text) => outcome(uploads, text));
    assert.equal(await Promise.all(outcomes), [good, refusal, good, good]);
    assert.is(count(), 2);
    assert.is(told.length, reason ? 1 : 0);
    for (const [message, fields] of told as [string, { reason: string }][]) {
      assert.is(message, 'the thread that reads uploads stopped');
      assert.match(fields.reason, reason!);
    }
    await uploads.stop();
  });

uploading('a thread that cannot start, or dies between question and answer, is a 503 too', async () => {
  const half =
    "parentPort.on('message', (request) => ('value' in request ? process.exit(1) : answer(request)));";
  for (const program of ["throw new Error('no module');", half]) {
    const { uploads, told } = uploadsOf(program);
    const error = await uploads.upgrade(upload(), anyRelease).catch((thrown) => thrown);
    assert.instance(error, AppError);
    assert.equal([error.code, error.headers], ['UNAVAILABLE', { 'Retry-After': '5' }]);
    assert.is(told.length, 1);
  }
  const missing = createUploads(silentLog, { entry: join(scratchFolder(), 'none.js') });
  assert.equal(await outcome(missing), unread);
});

uploading(
  'small uploads have turns and a thread of their own: large ones of others keep none waiting',
  async () => {
    const { uploads, count, go } = uploadsOf(
      `parentPort.on('message', (request) => {
       if (request.bytes?.length > ${smallUpload}) held();
       answer(request);
     });`,
    );
    const held = await testApp([shipped('stigs')], { uploads });
    const order: string[] = [];
    const send = async (subject: string, size: number) => {
      const headers = await userCaller(held, { sub: subject });
      const body = 'x'.repeat(size);
      const response = await held.app.fetch(
        new Request(`http://local${path}`, { method: 'POST', body, headers }),
      );
      order.push(`${subject} ${response.status}`);
    };
    const large = ['ann', 'bob', 'ann', 'bob', 'ann', 'bob'].map((subject) => send(subject, smallUpload + 1));
    await until('the large ones have their thread', () => count() === 1);
    for (let number = 0; number < 5; number++) await send('cyd', smallUpload);
    assert.equal(order, Array(5).fill('cyd 200'), 'none of the large ones was answered before');
    assert.is(count(), 2);
    go();
    await Promise.all(large);
    assert.equal(order.slice(5).sort(), [...Array(3).fill('ann 200'), ...Array(3).fill('bob 200')]);
    await uploads.stop();
    held.db.close();
  },
);

uploading('an upload that there is no room for is asked to come again, on the page too', async () => {
  const queue = createQueue({ ...expensiveLimits, waitingPerCaller: 0 });
  const full = await testApp([shipped('stigs')], { uploadQueue: () => queue });
  const caller = await userCaller(full);
  const byApi = await full.send('POST', path, {});
  assert.equal([byApi.status, byApi.headers.get('Retry-After')], [503, '5']);
  const page = await loadPage(full, '/checklists/upgrade', caller, new FormData());
  assert.is(page.status, 503);
  assert.match(page.html, '<p>Try again in 5 seconds.</p>');
  full.db.close();
});

uploading(
  'files of a form that are stored make room for no other user, and count where they are read',
  async () => {
    let id = 0;
    const thread: Uploads = {
      async upgrade({ bytes }, _ask, _caller, store) {
        const files = [{ name: 'ab', bytes: Buffer.from(bytes) }];
        if (bytes.length > 0) store?.({ id: String(++id), files });
        return { bytes: new Uint8Array(), file: null };
      },
      stop: () => Promise.resolve(),
    };
    const work = createUploadWork(thread, (() => undefined) as never, { total: 120, perOwner: 60 });
    const store = (owner: string, length: number) =>
      work.ofForm({ owner, id: undefined, bytes: new Uint8Array(length) } as never, {
        closed: false,
        onClose: null,
      });
    const sizes = (owner: string) =>
      Array.from({ length: id }, (_, number) => work.storedSize({ owner, id: String(number + 1) }));
    await store('ann', 36);
    for (let times = 0; times < 4; times++) await store('bob', 16);
    await store('bob', 36);
    assert.equal(sizes('ann'), [40, 0, 0, 0, 0, 0]);
    assert.equal(sizes('bob'), [0, 0, 0, 0, 20, 40]);
  },
);

uploading('a form about large files that are stored waits with large uploads', async () => {
  const sizes: number[] = [];
  const queue = createQueue();
  const uploadQueue = (bytes: number) => {
    sizes.push(bytes);
    return queue;
  };
  const own = await testApp([shipped('stigs')], { uploadQueue });
  const caller = await userCaller(own);
  const form = new FormData();
  const large = JSON.stringify(old) + ' '.repeat(smallUpload);
  form.set('file', new File([large], 'old.cklb'));
  const { html } = await loadPage(own, '/checklists/upgrade', caller, form);
  const [, again] = /action="(\/checklists\/upgrade\?upload=[^"]*)"/.exec(html)!;
  const fields = new FormData();
  fields.set('as', 'csv');
  assert.is((await loadPage(own, again!, caller, fields)).status, 200);
  assert.ok(sizes[1]! > smallUpload, String(sizes));
  own.db.close();
});

uploading('a marking without end, or that is no text, is cut where it stands in a header', async () => {
  const send = (classification: string) =>
    t.send('POST', `${path}?download=true`, {
      slug,
      checklist: { ...old, target_data: { ...old.target_data, classification } },
    });
  const long = await send('S'.repeat(1_000_000));
  assert.is(long.headers.get('X-Classification'), 'S'.repeat(200));
  assert.is(long.json.target_data.classification.length, 1_000_000);
  const odd = await send('SECRET \ud800');
  assert.is(odd.status, 200);
  assert.is(odd.headers.get('X-Classification'), 'SECRET %EF%BF%BD');
});

uploading.run();
