import * as assert from 'uvu/assert';
import { mostFields } from '../../src/http/form.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { isPage, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { rowsOf } from '../support/tables.ts';

// Every form of the pages is refused by where it comes from, by its size and by its fields, in this order (rule D2.6;
// threat H5).
const bounds = suite('Bounds of forms');

let t: TestApp;
let session: Caller;
let list: string;
let collection: string;

bounds.before(async () => {
  t = await testApp([shipped('stigs')]);
  const alice = await userCaller(t);
  session = await sessionCaller(t, alice);
  list = (await ask(t, 'POST', '/api/v1/lists', alice, { name: 'L' })).json.id;
  collection = (await ask(t, 'POST', '/api/v1/control-collections', alice, { name: 'C' })).json.id;
});
bounds.after(() => t.db.close());

const kibibyte = 1024;

/** The forms that hold more than a few short fields, with the most kibibytes that they may have. */
const larger: Record<string, number> = Object.fromEntries(
  rowsOf(`
    /checklists/upgrade | 66560
    /checklists/results | 66560
    /checklists/inspect | 66560
    /checklists/emass | 66560
    /references | 66560
    /systems | 64
    /systems/add | 64
    /systems/:id/settings | 64
    /systems/:id/stigs | 1024
    /systems/:id/stigs/remove | 64
    /systems/:id/stigs/:slug | 64
    /systems/:id/hosts/ticks | 64
    /systems/:id/hosts/remove | 64
    /systems/:id/checklists | 1024
    /collections | 64
    /collections/:id/edit | 64
    /collections/:id/controls | 1024
  `).map(([route, most]) => [route!, Number(most) * kibibyte]),
);

function forms(): { route: string; path: string }[] {
  const routes = t.app.routes.filter(({ method, path }) => method === 'POST' && isPage(path));
  const fill = (path: string) => path.replace(':id', path.startsWith('/systems') ? list : collection);
  return [...new Set(routes.map(({ path }) => path))].map((route) => ({
    route,
    path: fill(route).replace(':slug', 'harbor_linux_3'),
  }));
}

/** Sends a body in pieces, and says how many bytes of it were read. */
async function send(path: string, headers: Caller, bytes: number) {
  let read = 0;
  const piece = new TextEncoder().encode('a&'.repeat(4096));
  const body = new ReadableStream(
    {
      pull(controller) {
        if (read >= bytes) return controller.close();
        const next = piece.subarray(0, Math.min(piece.length, bytes - read));
        read += next.length;
        controller.enqueue(next);
      },
    },
    { highWaterMark: 0 },
  );
  const init = { method: 'POST', body, duplex: 'half' };
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const answer = await t.app.request(path, { ...init, headers: { ...headers, ...type } } as RequestInit);
  return { status: answer.status, text: textOf(await answer.text()), read };
}

bounds('a form of another site is refused before a byte of it is read', async () => {
  const { 'Sec-Fetch-Site': _, ...cookie } = session;
  const found = forms();
  assert.ok(found.length >= 24, `${found.length} forms`);
  const named = ['cross-site', 'same-site'].map((site): Caller => ({ 'Sec-Fetch-Site': site }));
  for (const from of [...named, { Origin: 'http://evil.example' }, { Origin: 'null' }, {}] as Caller[])
    for (const { route, path } of found) {
      const { status, text, read } = await send(path, { ...cookie, ...from }, kibibyte * kibibyte);
      assert.equal([status, read], [403, 0], route);
      const isOfSession = text.includes('A session may write only from its own origin');
      assert.ok(isOfSession || text.includes('Send this form from a page of this server'), text);
      const isUnnamed = Object.keys(from).length === 0;
      if (isOfSession) assert.is(text.includes('send the header Origin'), isUnnamed, route);
    }
  // Nor without a session, where a form needs none.
  const { read } = await send('/signin', { 'Sec-Fetch-Site': 'cross-site' }, kibibyte * kibibyte);
  assert.is(read, 0);
});

bounds('a form without a session is not read: its reader signs in first', async () => {
  for (const { route, path } of forms().filter((each) => each.route !== '/signin')) {
    const { status, read } = await send(path, { 'Sec-Fetch-Site': 'same-origin' }, kibibyte * kibibyte);
    assert.equal([status, read], [303, 0], route);
  }
});

bounds('a form has at most the bytes that its fields need: most of them 16 KiB', async () => {
  for (const { route, path } of forms()) {
    const most = larger[route] ?? 16 * kibibyte;
    if (most > 64 * kibibyte * kibibyte) continue;
    const { status, text, read } = await send(path, session, most + 1);
    assert.is(status, 413, route);
    assert.match(text, `larger than ${most} bytes`, route);
    assert.ok(read <= most + 8192, route);
  }
  const routes = new Set(forms().map(({ route }) => route));
  for (const route of Object.keys(larger)) assert.ok(routes.has(route), route);
});

bounds('a form of as many bytes as it may have and of nothing but fields is one 400', async () => {
  for (const { route, path } of forms()) {
    const most = Math.min(larger[route] ?? 16 * kibibyte, 2 ** 20);
    const { status, text } = await send(path, session, most);
    assert.is(status, 400, route);
    assert.match(text, `The form has more than ${mostFields} fields`, route);
  }
});

bounds('notes of every character fit, and a column of five thousand names, but not one more', async () => {
  await loadPage(t, '/systems/add', session, { list, slug: 'harbor_linux_3' });
  const notes = '\u{1f512}'.repeat(4000);
  const noted = await loadPage(t, `/systems/${list}/stigs/harbor_linux_3`, session, { notes, position: '1' });
  assert.is(noted.status, 303, textOf(noted.html));
  const column = (length: number) => Array.from({ length }, (_, index) => `No such STIG ${index}`).join('\n');
  const most = await loadPage(t, `/systems/${list}/stigs`, session, { slugs: column(5000) });
  assert.is(most.status, 400);
  assert.match(textOf(most.html), 'and 4,995 more'.replace(',', ''));
  for (const slugs of [column(5001), column(5001).replaceAll('\n', ',')]) {
    const more = await loadPage(t, `/systems/${list}/stigs`, session, { slugs });
    assert.is(more.status, 400);
    assert.match(textOf(more.html), 'Paste at most 5,000 names at once');
  }
  // One line is one name, however many words it has.
  const words = await loadPage(t, `/systems/${list}/stigs`, session, { slugs: 'a '.repeat(60_000) });
  assert.is(words.status, 400);
  const framework = 'nist-800-53';
  const controlIds = 'AC-2,'.repeat(5001);
  const form = { framework, controlIds };
  const controls = await loadPage(t, `/collections/${collection}/controls`, session, form);
  assert.is(controls.status, 400);
  assert.match(textOf(controls.html), 'controls must contain 1 to 5,000 controls');
});

bounds.run();
