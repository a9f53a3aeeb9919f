import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as assert from 'uvu/assert';
import { AppError, badRequest } from '../../src/base/errors.ts';
import { type Log, silentLog } from '../../src/base/log.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import type { Release, Upgraded } from '../../src/checklists/upload.ts';
import { createConcurrencyLimit, smallUpload } from '../../src/http/limits/concurrency.ts';
import type { Upload } from '../../src/site/checklists/upload-thread.ts';
import {
  createUploads,
  RefusedUpload,
  type UploadOptions,
  type Uploads,
} from '../../src/site/checklists/uploads.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { gapstone } from '../support/child.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { heapInUse } from '../support/hostile/heap.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { ask, killAll, openRaw, readAnswer, startServer, until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

// The thread that reads uploads: what it answers, and what becomes of callers when it dies, hangs or has no memory left.
const uploading = suite('Uploads in a thread');

const path = '/api/v1/checklists/upgrade';
const slug = 'harbor_linux_3';
let t: TestApp;
let old: Cklb;
let ann: Caller;

uploading.before(async () => {
  t = await testApp([shipped('stigs')]);
  old = (await t.get(`/api/v1/stigs/${slug}/download?version=V1R1&hostName=h`)).json;
  ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
});
uploading.after(() => {
  t.db.close();
  killAll();
});

/** A log that remembers. */
function remembering(): { log: Log; told: unknown[] } {
  const told: unknown[] = [];
  return { log: { ...silentLog, error: (message, fields) => told.push([message, fields]) }, told };
}

/** Uploads whose thread runs a program of the test, after what all of them need; `count` tells how often it started. */
function uploadsOf(
  program: string,
  options: UploadOptions = {},
): { uploads: Uploads; told: unknown[]; count: () => number; folder: string } {
  const folder = scratchFolder();
  const file = join(folder, 'thread.mjs');
  const starts = join(folder, 'starts');
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads';
     import { appendFileSync, existsSync } from 'node:fs';
     appendFileSync(${JSON.stringify(starts)}, 'x');
     const asks = { wanted: { slug: '${slug}', names: [] } };
     const makes = () => ({ upgraded: { bytes: new Uint8Array([1, 2]), file: null } });
     const answer = (request) => parentPort.postMessage('release' in request ? makes() : asks);
     ${program}`,
  );
  const { log, told } = remembering();
  const uploads = createUploads(log, { entry: pathToFileURL(file), ...options });
  const count = () => (existsSync(starts) ? readFileSync(starts).length : 0);
  return { uploads, told, count, folder };
}

const upload = (text = 'x'): Upload => ({
  from: 'api',
  task: 'upgrade',
  query: { download: false, onChange: 'keep', format: 'cklb' },
  bytes: new Uint8Array(Buffer.from(text)),
});
const anyRelease = () => ({ target: null, names: [] }) as unknown as Release;
const good: Upgraded = { bytes: new Uint8Array([1, 2]), file: null };

/** The refusal of an upload. */
async function refusalOf(uploads: Uploads, find = anyRelease): Promise<RefusedUpload> {
  try {
    await uploads.upgrade(upload(), find);
  } catch (error) {
    assert.instance(error, RefusedUpload);
    return error as RefusedUpload;
  }
  return assert.unreachable() as never;
}

uploading(
  'the thread starts with the first upload, serves the next ones, and ends with the service',
  async () => {
    const { uploads, told, count } = uploadsOf("parentPort.on('message', answer);");
    assert.is(count(), 0);
    for (let number = 0; number < 3; number++)
      assert.equal(await uploads.upgrade(upload(), anyRelease), good);
    assert.is(count(), 1);
    await uploads.stop();
    assert.equal(told, [], 'an end that was asked for is no failure');
    assert.equal(await uploads.upgrade(upload(), anyRelease), good);
    assert.is(count(), 2);
    await uploads.stop();
  },
);

uploading('a thread that nobody needs for a while ends, and another one starts', async () => {
  const { uploads, told, count } = uploadsOf("parentPort.on('message', answer);", { idle: 0 });
  await uploads.upgrade(upload(), anyRelease);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(await uploads.upgrade(upload(), anyRelease), good);
  assert.is(count(), 2);
  assert.equal(told, []);
  await uploads.stop();
});

uploading(
  'a thread that dies fails the one upload that it had; who waited is served by another',
  async () => {
    const deaths: [program: string, reason: RegExp][] = [
      ['process.exit(7);', /^exit code 7$/],
      ["throw new Error('broken');", /^broken$/],
      ["Promise.reject(new Error('lost'));", /^lost$/],
    ];
    for (const [death, reason] of deaths) {
      const { uploads, told, count } = uploadsOf(
        `parentPort.on('message', (request) => {
         if ('bytes' in request && request.bytes[0] === 33) { ${death} }
         else answer(request);
       });`,
      );
      const outcomes = await Promise.allSettled(
        ['a', '!', 'b', 'c'].map((text) => uploads.upgrade(upload(text), anyRelease)),
      );
      assert.equal(
        outcomes.map((each) => each.status),
        ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
        death,
      );
      const { reason: error } = outcomes[1] as PromiseRejectedResult;
      assert.equal([error.code, error.message], ['UNAVAILABLE', 'The upload could not be read. Try again']);
      assert.equal(error.headers, { 'Retry-After': '5' });
      assert.is(count(), 2);
      assert.is(told.length, 1);
      const [[message, fields]] = told as [[string, { reason: string }]];
      assert.is(message, 'the thread that reads uploads stopped');
      assert.match(fields.reason, reason);
      await uploads.stop();
    }
  },
);

uploading('a thread that cannot start, or dies between question and answer, is a 503 too', async () => {
  const unborn = uploadsOf("throw new Error('no module');");
  assert.is((await refusalOf(unborn.uploads)).code, 'UNAVAILABLE');
  const missing = createUploads(silentLog, { entry: join(scratchFolder(), 'none.js') });
  assert.is((await refusalOf(missing)).code, 'UNAVAILABLE');
  const half = uploadsOf(
    "parentPort.on('message', (request) => ('release' in request ? process.exit(1) : answer(request)));",
  );
  assert.is((await refusalOf(half.uploads)).code, 'UNAVAILABLE');
  assert.is(half.told.length, 1);
});

uploading('a thread without memory ends with a 413 for its caller, and never the process', async () => {
  const { uploads, told } = uploadsOf(
    `parentPort.on('message', (request) => {
       const all = [];
       if ('bytes' in request && request.bytes[0] === 33) for (;;) all.push({ text: [all.length] });
       else answer(request);
     });`,
    { memory: 32 },
  );
  const [greedy, next] = await Promise.allSettled(
    ['!', 'a'].map((text) => uploads.upgrade(upload(text), anyRelease)),
  );
  const { reason } = greedy as PromiseRejectedResult;
  assert.instance(reason, RefusedUpload);
  assert.equal(
    [reason.code, reason.message],
    ['PAYLOAD_TOO_LARGE', 'The upload needs more memory than one may use'],
  );
  assert.is(told.length, 1);
  assert.is(next!.status, 'fulfilled');
  await uploads.stop();
});

uploading('a thread that hangs is ended, and its caller asked to come again', async () => {
  const { uploads, count } = uploadsOf(
    "parentPort.on('message', (request) => { if (request.bytes?.[0] === 33) for (;;); answer(request); });",
    { patience: 3000 },
  );
  const hung = uploads.upgrade(upload('!'), anyRelease).then(
    () => null,
    (error: RefusedUpload) => [error.code, error.message],
  );
  const next = uploads.upgrade(upload('a'), anyRelease);
  assert.equal(await hung, ['UNAVAILABLE', 'The upload took too long to process. Try again']);
  assert.equal(await next, good);
  assert.is(count(), 2);
  await uploads.stop();
});

uploading(
  'an upload whose caller hangs up is ended, or left out where it waits; others are served',
  async () => {
    const { uploads, told, count, folder } = uploadsOf(
      `parentPort.on('message', (request) => {
       if ('bytes' in request) appendFileSync(new URL('read', import.meta.url), String.fromCharCode(request.bytes[0]));
       if (request.bytes?.[0] === 33) for (;;); answer(request);
     });`,
    );
    const read = () => (existsSync(join(folder, 'read')) ? String(readFileSync(join(folder, 'read'))) : '');
    const callers = ['!', 'a', 'b'].map((text) => ({
      text,
      closed: false,
      onClose: null as (() => void) | null,
    }));
    const outcomes = callers.map((caller) =>
      uploads.upgrade(upload(caller.text), anyRelease, caller).then(
        (made) => made,
        (error: AppError) => [error.code, error.message],
      ),
    );
    await until('the first is being read', () => read() === '!');
    const hangUp = (caller: (typeof callers)[number]) => {
      caller.closed = true;
      caller.onClose?.();
    };
    hangUp(callers[1]!);
    hangUp(callers[0]!);
    assert.equal(await Promise.all(outcomes), [
      ['BAD_REQUEST', 'The client closed the connection'],
      ['BAD_REQUEST', 'The client closed the connection'],
      good,
    ]);
    assert.is(read(), '!b', 'who was gone before its turn is not read');
    assert.is(count(), 2);
    assert.equal(told, [], 'a hang-up is no failure of the thread');
    assert.ok(callers.every(({ onClose }) => onClose === null));
    await uploads.stop();
  },
);

uploading('an upload whose caller was gone does not keep the thread from ending', async () => {
  const { uploads, count } = uploadsOf("parentPort.on('message', answer);", { idle: 0 });
  assert.equal(await uploads.upgrade(upload(), anyRelease), good);
  const gone = uploads.upgrade(upload(), anyRelease, { closed: true, onClose: null });
  assert.is(await gone.catch((error: AppError) => error.message), 'The client closed the connection');
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(await uploads.upgrade(upload(), anyRelease), good);
  assert.is(count(), 2, 'the first thread ended meanwhile');
  await uploads.stop();
});

uploading('threads that were ended leave nothing behind', async () => {
  const { uploads } = uploadsOf('');
  const before = await heapInUse();
  for (let count = 0; count < 30_000; count++) await uploads.stop();
  const kept = (await heapInUse()) - before;
  await uploads.stop();
  assert.ok(kept < 2, `${kept.toFixed(1)} MB`);
});

uploading('stopping refuses the upload under way', async () => {
  const { uploads, told } = uploadsOf("parentPort.on('message', () => {});");
  const refusal = refusalOf(uploads);
  await new Promise((resolve) => setImmediate(resolve));
  await uploads.stop();
  assert.equal([(await refusal).code, (await refusal).message], ['UNAVAILABLE', 'The service is stopping']);
  assert.equal(told, []);
});

uploading(
  'an upload that ends while its question is looked up is refused, and the next one is served',
  async () => {
    const ends: [
      how: (uploads: Uploads, caller: { onClose: (() => void) | null }) => unknown,
      message: string,
    ][] = [
      [(uploads) => uploads.stop(), 'The service is stopping'],
      [(_, caller) => caller.onClose!(), 'The client closed the connection'],
    ];
    for (const [end, message] of ends) {
      const { uploads, told, count } = uploadsOf("parentPort.on('message', answer);");
      const caller = { closed: false, onClose: null as (() => void) | null };
      const asked = Promise.withResolvers<void>();
      const found = Promise.withResolvers<Release>();
      const find = () => {
        asked.resolve();
        return found.promise;
      };
      const refused = uploads.upgrade(upload(), find, caller).catch((error: AppError) => error.message);
      await asked.promise;
      await end(uploads, caller);
      found.resolve(anyRelease());
      assert.is(await refused, message);
      assert.equal(await uploads.upgrade(upload(), async () => anyRelease()), good);
      assert.is(count(), 2);
      assert.equal(told, []);
      await uploads.stop();
    }
  },
);

uploading('what is refused, or fails, keeps the thread, which need not keep the upload', async () => {
  const { uploads, told, count, folder } = uploadsOf(
    `parentPort.on('message', (request) => {
       if (request.bytes?.[0] === 33) parentPort.postMessage({ fault: 'TypeError: at line 1' });
       else if ('ended' in request) appendFileSync(new URL('forgotten', import.meta.url), 'x');
       else answer(request);
     });`,
  );
  const failing = (error: Error) => () => {
    throw error;
  };
  const refused = await refusalOf(uploads, failing(badRequest('not that one')));
  assert.equal([refused.code, refused.message, refused.page], ['BAD_REQUEST', 'not that one', null]);
  const disk = new Error('the disk');
  await uploads.upgrade(upload(), failing(disk)).then(
    () => assert.unreachable(),
    (error) => assert.is(error, disk, 'what is no refusal stays what it is'),
  );
  await uploads.upgrade(upload('!'), anyRelease).then(
    () => assert.unreachable(),
    (error) => {
      assert.not.instance(error, AppError);
      assert.match(error.message, /^the thread that reads uploads failed: TypeError: at line 1$/);
    },
  );
  assert.equal(await uploads.upgrade(upload(), anyRelease), good);
  assert.is(String(readFileSync(join(folder, 'forgotten'))), 'xx');
  assert.is(count(), 1);
  assert.equal(told, []);
  await uploads.stop();
});

uploading(
  'while uploads are read others are answered, the expensive too, and further uploads wait for their turn',
  async () => {
    const { uploads, count, folder } = uploadsOf(
      `parentPort.on('message', (request) => {
       const go = new URL('go', import.meta.url);
       while (!existsSync(go)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
       answer(request);
     });`,
    );
    const held = await testApp([shipped('stigs')], { uploads });
    const caller = await userCaller(held);
    // Past what watches answers: that of this thread is none of the API.
    const byApi = async () =>
      held.app.fetch(new Request(`http://local${path}`, { method: 'POST', body: '{}', headers: caller }));
    const form = new FormData();
    form.set('slug', slug);
    const byPage = () => loadPage(held, '/checklists/upgrade', caller, form);
    const waiting = [...Array.from({ length: 4 }, byApi), ...Array.from({ length: 4 }, byPage)];
    await until('the thread has started', () => count() === 1);
    assert.is((await held.get('/healthz', { token: null })).status, 200);
    for (const format of ['xml', 'csv', 'cklb'])
      assert.is((await held.get(`/api/v1/stigs/${slug}/download?format=${format}`)).status, 200, format);
    writeFileSync(join(folder, 'go'), '');
    assert.equal(
      (await Promise.all(waiting)).map((each) => each.status),
      Array(8).fill(200),
    );
    assert.is(count(), 1);
    await uploads.stop();
    held.db.close();
  },
);

uploading(
  'small uploads have turns and a thread of their own: large ones of others keep none waiting',
  async () => {
    const { uploads, count, folder } = uploadsOf(
      `parentPort.on('message', (request) => {
       const go = new URL('go', import.meta.url);
       while (request.bytes?.length > ${smallUpload} && !existsSync(go))
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
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
    writeFileSync(join(folder, 'go'), '');
    await Promise.all(large);
    assert.equal(order.slice(5).sort(), [...Array(3).fill('ann 200'), ...Array(3).fill('bob 200')]);
    await uploads.stop();
    held.db.close();
  },
);

uploading('an upload that there is no room for is asked to come again, on the page too', async () => {
  const uploadConcurrency = createConcurrencyLimit({
    total: 0,
    perCaller: 0,
    computing: 0,
    waiting: 0,
    patience: 0,
  });
  const full = await testApp([shipped('stigs')], { uploadConcurrency: () => uploadConcurrency });
  const caller = await userCaller(full);
  const byApi = await full.send('POST', path, {});
  assert.equal([byApi.status, byApi.headers.get('Retry-After')], [503, '5']);
  const page = await loadPage(full, '/checklists/upgrade', caller, new FormData());
  assert.is(page.status, 503);
  assert.match(page.html, '<p>Try again in 5 seconds.</p>');
  full.db.close();
});

uploading('the form refuses in the words of the API, and keeps what was typed', async () => {
  const rule = { ...old.stigs[0]!.rules[0]!, severity: 'critical' };
  const cases: string[] = [
    'PK\u0003\u0004',
    '{',
    '{"stigs":[]}',
    JSON.stringify({ ...old, stigs: [{ ...old.stigs[0]!, rules: [rule] }] }),
    JSON.stringify({ ...old, title: 7 }),
    writeCkl(old).replace('</VULN>', '</VULM>'),
    `<!DOCTYPE CHECKLIST>${writeCkl(old).replace(/^.*\n/, '')}`,
    `{"stigs":${'['.repeat(100)}`,
    '<CHECKLIST><ASSET><HOST_NAME>a</HOST_NAME><HOST_NAME>b</HOST_NAME></ASSET></CHECKLIST>',
  ];
  for (const checklist of cases) {
    const { status, json } = await t.send('POST', path, { slug, checklist });
    assert.is(status, 400);
    const form = new FormData();
    form.set('file', new File([checklist], 'old.ckl'));
    for (const [name, value] of Object.entries({
      slug,
      version: ' V1R1 ',
      hostName: '<b>',
      onChange: 'reset',
    }))
      form.set(name, value);
    const page = await loadPage(t, '/checklists/upgrade', ann, form);
    assert.is(page.status, 400, checklist.slice(0, 60));
    const problem = /<p class="problem" role="alert">(.*?)<\/p>/s.exec(page.html)?.[1] ?? '';
    // The form takes zips, the API none.
    if (checklist.startsWith('PK')) assert.match(problem, 'old.ckl: the zip cannot be opened');
    else assert.is(textOf(problem), json.error.message);
    assert.match(page.html, /name="version" value="V1R1"/);
    assert.match(page.html, /name="hostName" value="&lt;b&gt;"/);
    assert.match(page.html, /<option value="reset" selected/);
  }
  const unknown = new FormData();
  unknown.set('file', new File([JSON.stringify(old)], 'old.cklb'));
  unknown.set('slug', slug);
  unknown.set('version', 'V9R9');
  const page = await loadPage(t, '/checklists/upgrade', ann, unknown);
  const { status, json } = await t.send('POST', path, { slug, version: 'V9R9', checklist: old });
  assert.equal([page.status, status], [400, 404]);
  assert.ok(textOf(page.html).includes(json.error.message));
});

uploading('a body that is no form, and a field without end', async () => {
  const init = { method: 'POST', headers: { ...ann, 'Content-Type': 'text/plain' }, body: 'x' };
  const plain = await t.app.request('http://here.example/checklists/upgrade', init);
  assert.is(plain.status, 400);
  assert.match(textOf(await plain.text()), 'The request body is not a form');
  const form = new FormData();
  form.set('file', new File([JSON.stringify(old)], 'old.cklb'));
  form.set('slug', slug);
  form.set('version', 'V'.repeat(1_000_000));
  const { status, html } = await loadPage(t, '/checklists/upgrade', ann, form);
  assert.is(status, 400);
  assert.match(textOf(html), 'version must have at most 100 characters');
  // The checklist comes back, as it could be read; the field does not.
  const [broughtBack] = /name="checklist" value="[^"]*"/.exec(html)!;
  const rest = html.length - broughtBack.length;
  assert.ok(rest < 20_000, `${rest} characters`);
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

uploading('SIGTERM: an upload under way ends whole, exit 0', async () => {
  const cwd = scratchFolder();
  assert.is((await gapstone(['import', shipped('stigs')], { cwd })).code, 0);
  const token = (await gapstone(['token', 'issue', '--subject', 'ann'], { cwd })).stdout.trim();
  const running = await startServer(cwd, ['serve', '--port', '0']);
  const body = JSON.stringify({ slug, checklist: old });
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const sending = await openRaw(running.port, head + body.slice(0, -1));
  // The other one is the question itself.
  while (!/_in_flight 2\n/.test((await ask(running.port, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')).body));
  running.child.kill('SIGTERM');
  await until('the stop is logged', () => running.stdout().includes('"stopping"'));
  // The thread is not even started then.
  sending.socket.write(body.slice(-1));
  const answer = readAnswer(await sending.end);
  assert.is(answer.status, 200);
  assert.is(answer.bytes.length, Number(answer.headers.get('content-length')));
  assert.equal(JSON.parse(answer.body), (await t.send('POST', path, { slug, checklist: old })).json);
  assert.equal(await running.ended, { code: 0, signal: null });
});

uploading.run();
