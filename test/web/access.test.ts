import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import {
  type Caller,
  countingIds,
  integrationCaller,
  sessionCaller,
  testId,
  userCaller,
} from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { isPage, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { noUserToken } from '../support/words.ts';

// One table of who sees which page, as test/routes/access.test.ts has it for the API. Alice of red owns a PRIVATE and a
// SHARED list and collection; bob is of red too, carol of blue. Alice alone is entitled to the products.
const access = suite('Who may see which page');

const columns = ['nobody', 'ended', 'alice', 'bob', 'carol', 'bearer', 'program'] as const;
type Column = (typeof columns)[number];

/** S: on to signing in, with the form where there is one. L: the same of a form without an origin, which is not kept. T, O, R: 403, a program; not entitled. C: 403, not the creator. N: 404. */
const cells = {
  public: 'ok ok ok ok ok ok ok',
  user: 'S S ok ok ok ok T',
  session: 'S S ok ok ok L L',
  sessionPage: 'S S ok ok ok S S',
  occ: 'S S ok O O O T',
  regdoc: 'S S ok R R R T',
  readPrivate: 'S S ok N N N T',
  readShared: 'S S ok ok N ok T',
  changePrivate: 'S S ok N N N T',
  changeShared: 'S S ok C N C T',
} as const;

const refusals: Record<string, [status: number, words: string]> = {
  T: [403, noUserToken],
  O: [403, 'You need the role-data permission (occ)'],
  R: [403, 'You need the document permission (regdoc)'],
  C: [403, 'Only the creator may do this'],
  N: [404, 'Not found'],
};

interface Row {
  cells: keyof typeof cells;
  /** As the application has it. */
  route: string;
  path: string;
  form?: Record<string, string>;
  /** What is asked for is not there, or the form is refused: nobody but the entitled learns that. */
  status?: number;
  /** Where it leads on to. */
  to?: string;
}

const [privateList, sharedList, privateCollection, sharedCollection, deletedList] = [1, 2, 3, 4, 5].map(
  testId,
) as [string, string, string, string, string];
const filled = { name: 'Renamed', description: '', tags: '', color: '', visibility: 'PRIVATE' };
const ac2 = { framework: 'nist-800-53', controlId: 'AC-2' };

const get = (kind: Row['cells'], route: string, path = route, status?: number): Row => ({
  cells: kind,
  route: `GET ${route}`,
  path,
  ...(status === undefined ? {} : { status }),
});
const post = (
  kind: Row['cells'],
  route: string,
  path: string,
  form: Record<string, string>,
  status = 303,
): Row => ({
  cells: kind,
  route: `POST ${route}`,
  path,
  form,
  status,
});

const table: Row[] = [
  get('public', '/'),
  get('public', '/search', '/search?q=harbor'),
  get('public', '/signin'),
  get('public', '/docs'),
  get('public', '/docs/:area', '/docs/lists'),
  get('public', '/controls'),
  get('public', '/controls/:framework', '/controls/nist-800-53'),
  get('public', '/controls/:framework/:controlId', '/controls/nist-800-53/AC-2'),
  get('public', '/ccis'),
  get('public', '/ccis/:cci', '/ccis/CCI-000015'),
  get('user', '/stigs'),
  get('user', '/stigs/:slug/coverage', '/stigs/harbor_linux_3/coverage'),
  get('user', '/stigs/:slug/automation', '/stigs/harbor_linux_3/automation'),
  get('user', '/stigs/:slug/worksheet', '/stigs/harbor_linux_3/worksheet'),
  get('user', '/stigs/:slug', '/stigs/harbor_linux_3'),
  get('user', '/stigs/:slug', '/stigs/no_such_stig', 404),
  get('user', '/stigs/:slug/rules/:groupId', '/stigs/harbor_linux_3/rules/V-900001'),
  get('user', '/stigs/:slug/rules/:groupId', '/stigs/harbor_linux_3/rules/V-1', 404),
  get('public', '/cite', '/cite?ref=nist-800-53@Rev%205.2.0%23AC-2'),
  get('user', '/cite', '/cite?ref=harbor_linux_3@V1R1'),
  get('user', '/rules/:id', '/rules/V-900001'),
  get('user', '/rules/:id', '/rules/V-1', 404),
  get('user', '/stigs/:slug/diff', '/stigs/harbor_linux_3/diff'),
  get('user', '/stigs/:slug/diff/file', '/stigs/harbor_linux_3/diff/file'),
  get('user', '/changes'),
  ...['releases', 'roles', 'about'].map((part) =>
    get('user', `/stigs/:slug/${part}`, `/stigs/harbor_linux_3/${part}`),
  ),
  get('user', '/checklists', '/checklists', 302),
  get('user', '/checklists/upgrade'),
  get('user', '/checklists/results'),
  get('user', '/checklists/inspect'),
  get('user', '/checklists/hosts'),
  get('user', '/checklists/emass'),
  get('user', '/references'),
  get('user', '/catalog'),
  get('user', '/catalog/files', '/catalog/files?search=harbor'),
  get('user', '/catalog/imports/:run', '/catalog/imports/1'),
  get('user', '/catalog/imports/:run', '/catalog/imports/99', 404),
  get('user', '/favorites'),
  get('user', '/lists'),
  get('user', '/collections'),
  get('readPrivate', '/lists/:id', `/lists/${privateList}`),
  get('readShared', '/lists/:id', `/lists/${sharedList}`),
  get('readPrivate', '/lists/:id/checklists', `/lists/${privateList}/checklists`),
  get('readShared', '/lists/:id/checklists', `/lists/${sharedList}/checklists`),
  get('user', '/stigs/:slug/beside', '/stigs/harbor_linux_3/beside?with=lantern'),
  get('user', '/stigs/:slug/beside/file', '/stigs/harbor_linux_3/beside/file?with=lantern'),
  get('readPrivate', '/lists/:id/brief', `/lists/${privateList}/brief`),
  get('readShared', '/lists/:id/brief', `/lists/${sharedList}/brief`),
  get('readPrivate', '/lists/:id/brief/file', `/lists/${privateList}/brief/file`),
  get('readShared', '/lists/:id/brief/file', `/lists/${sharedList}/brief/file`),
  get('readPrivate', '/lists/:id/settings', `/lists/${privateList}/settings`),
  get('readPrivate', '/lists/:id/coverage', `/lists/${privateList}/coverage`),
  get('readShared', '/lists/:id/coverage', `/lists/${sharedList}/coverage?rollup=true`),
  get('readPrivate', '/lists/:id/automation', `/lists/${privateList}/automation`),
  get('readShared', '/lists/:id/automation', `/lists/${sharedList}/automation`),
  get('readPrivate', '/lists/:id/worksheet', `/lists/${privateList}/worksheet`),
  get('readShared', '/lists/:id/worksheet', `/lists/${sharedList}/worksheet?print=true`),
  get('readShared', '/lists/:id/settings', `/lists/${sharedList}/settings`),
  get('readPrivate', '/lists/:id/changes', `/lists/${privateList}/changes`),
  get('readShared', '/lists/:id/changes', `/lists/${sharedList}/changes`),
  get('changeShared', '/lists/:id/stigs/:slug', `/lists/${sharedList}/stigs/harbor_linux_3`),
  get('readPrivate', '/collections/:id', `/collections/${privateCollection}`),
  get('readShared', '/collections/:id', `/collections/${sharedCollection}`),
  get('changeShared', '/collections/:id/edit', `/collections/${sharedCollection}/edit`),
  ...(
    [
      ['/lists/add', '/lists'],
      ['/lists/:id/edit', '/lists/:id/settings'],
      ['/lists/:id/stigs', '/lists/:id'],
      ['/lists/:id/stigs/remove', '/lists/:id'],
      ['/lists/:id/duplicate', '/lists/:id'],
      ['/lists/:id/delete', '/lists/:id'],
      ['/lists/:id/restore', '/lists'],
      ['/lists/:id/seen', '/lists/:id'],
      ['/lists/:id/hosts/ticks', '/lists/:id'],
      ['/lists/:id/hosts/remove', '/lists/:id'],
      ['/collections/add', '/collections'],
      ['/collections/:id/controls', '/collections/:id'],
      ['/collections/:id/controls/remove', '/collections/:id'],
      ['/collections/:id/delete', '/collections/:id'],
      ['/favorites/stigs', '/favorites'],
      ['/favorites/stigs/remove', '/favorites'],
      ['/favorites/controls', '/favorites'],
      ['/favorites/controls/remove', '/favorites'],
    ] as const
  ).map(([route, page]) => ({
    ...get('user', route, route.replace(':id', privateList), 303),
    to: page.replace(':id', privateList),
  })),
  { ...get('public', '/signout', '/signout', 303), to: '/' },
  { ...get('public', '/undo', '/undo', 303), to: '/' },
  { ...get('public', '/theme', '/theme', 303), to: '/' },
  { ...get('public', '/session', '/session', 303), to: '/' },
  { ...get('user', '/tokens/revoke', '/tokens/revoke', 303), to: '/tokens' },
  get('sessionPage', '/tokens'),
  get('regdoc', '/documents'),
  get('regdoc', '/documents/:documentId', '/documents/harbor-basic-directive'),
  get('regdoc', '/documents/:documentId', '/documents/none', 404),
  get('occ', '/roles'),
  get('occ', '/roles/:code', '/roles/15-1244.00'),
  get('occ', '/roles/:code', '/roles/00-0000.00', 404),

  post('user', '/checklists/upgrade', '/checklists/upgrade', { slug: 'harbor_linux_3' }, 400),
  post('user', '/checklists/results', '/checklists/results', { slug: 'harbor_linux_3' }, 400),
  post('user', '/checklists/inspect', '/checklists/inspect', { slug: 'harbor_linux_3' }, 400),
  post('user', '/checklists/emass', '/checklists/emass', { sheet: 'poam' }, 400),
  post('user', '/references', '/references', { text: '' }, 400),
  post('user', '/lists', '/lists', { name: '' }, 400),
  post('user', '/collections', '/collections', { name: '' }, 400),
  post('user', '/favorites/stigs', '/favorites/stigs', { slug: 'harbor_linux_3' }),
  post('user', '/favorites/stigs/remove', '/favorites/stigs/remove', { slug: 'harbor_linux_3' }),
  post('user', '/favorites/controls', '/favorites/controls', ac2),
  post('user', '/favorites/controls/remove', '/favorites/controls/remove', ac2),
  post('changePrivate', '/lists/add', '/lists/add', { list: privateList, slug: 'harbor_linux_3' }),
  post('changePrivate', '/lists/:id/settings', `/lists/${privateList}/settings`, filled),
  post('changeShared', '/lists/:id/settings', `/lists/${sharedList}/settings`, {
    ...filled,
    visibility: 'SHARED',
  }),
  post('readPrivate', '/lists/:id/checklists', `/lists/${privateList}/checklists`, { hosts: '' }, 400),
  post('readShared', '/lists/:id/checklists', `/lists/${sharedList}/checklists`, { hosts: '' }, 400),
  post('changeShared', '/lists/:id/stigs', `/lists/${sharedList}/stigs`, { slugs: 'lantern_web_server_2' }),
  post('changeShared', '/lists/:id/stigs/remove', `/lists/${sharedList}/stigs/remove`, {
    slug: 'lantern_web_server_2',
  }),
  post('changeShared', '/lists/:id/stigs/:slug', `/lists/${sharedList}/stigs/harbor_linux_3`, {
    notes: 'n',
    position: '1',
  }),
  post('readPrivate', '/lists/:id/seen', `/lists/${privateList}/seen`, {}),
  post('readShared', '/lists/:id/seen', `/lists/${sharedList}/seen`, {}),
  post('changeShared', '/lists/:id/hosts/remove', `/lists/${sharedList}/hosts/remove`, { host: 'none' }),
  post('changeShared', '/lists/:id/hosts/ticks', `/lists/${sharedList}/hosts/ticks`, { revision: '1' }, 412),
  post('session', '/session', '/session', {}, 200),
  post('session', '/tokens', '/tokens', { name: '', ttl: '8h' }, 400),
  post('session', '/tokens/revoke', '/tokens/revoke', { id: 'none' }, 404),
  post('user', '/undo', '/undo', { id: 'none' }, 404),
  post('changePrivate', '/lists/:id/restore', `/lists/${deletedList}/restore`, {}),
  post('changePrivate', '/lists/:id/delete', `/lists/${deletedList}/delete`, {}),
  post('readShared', '/lists/:id/duplicate', `/lists/${sharedList}/duplicate`, {}),
  post('changePrivate', '/collections/add', '/collections/add', { collection: privateCollection, ...ac2 }),
  post('changeShared', '/collections/:id/edit', `/collections/${sharedCollection}/edit`, {
    ...filled,
    visibility: 'SHARED',
  }),
  post('readShared', '/collections/:id/controls', `/collections/${sharedCollection}/controls`, {
    framework: 'nist-800-53',
    controlIds: 'AC-2',
    notes: '',
  }),
  post(
    'changeShared',
    '/collections/:id/controls/remove',
    `/collections/${sharedCollection}/controls/remove`,
    ac2,
  ),
  post('changePrivate', '/collections/:id/delete', `/collections/${privateCollection}/delete`, {}),
];

const t = await testApp([shipped()], { newId: countingIds() });
const alice = await userCaller(t, { entitlements: ['occ', 'regdoc'] });
const session = async (claims: Record<string, unknown>) => sessionCaller(t, await userCaller(t, claims));
const callers: Record<Column, Caller> = {
  nobody: { 'Sec-Fetch-Site': 'same-origin' },
  ended: { Cookie: `gapstone_session=${'x'.repeat(43)}`, 'Sec-Fetch-Site': 'same-origin' },
  alice: await sessionCaller(t, alice),
  bob: await session({ sub: 'bob', email: 'bob@example.org' }),
  carol: await session({ sub: 'carol', org: 'blue' }),
  // A user token works on pages too: a program may read them.
  bearer: await userCaller(t, { sub: 'dora' }),
  program: {},
};

access.before(async () => {
  const make = (path: string, body: object) =>
    t.get(path, { method: 'POST', token: null, headers: alice, body: JSON.stringify(body) });
  for (const visibility of ['PRIVATE', 'SHARED']) await make('/api/v1/lists', { name: 'N', visibility });
  for (const visibility of ['PRIVATE', 'SHARED'])
    await make('/api/v1/control-collections', { name: 'N', visibility });
  await make('/api/v1/lists', { name: 'gone' });
  await make(`/api/v1/lists/${sharedList}/stigs`, { slugs: ['harbor_linux_3'] });
  await t.get(`/api/v1/lists/${deletedList}`, { method: 'DELETE', token: null, headers: alice });
  callers.program = await integrationCaller(t, 'p', [privateList, sharedList]);
});

access.after(() => t.db.close());

for (const row of table) {
  access(`${row.route} ${row.path}`, async () => {
    const letters = cells[row.cells].split(' ');
    for (const [index, column] of columns.entries()) {
      const answer = await loadPage(t, row.path, callers[column], row.form);
      const letter = letters[index]!;
      const where = `${column}: ${answer.status} ${answer.location} ${textOf(answer.html).slice(0, 200)}`;
      if (letter === 'ok') {
        assert.is(answer.status, row.status ?? 200, where);
        if (row.to !== undefined) assert.is(answer.location, row.to, where);
      } else if (letter === 'L') {
        assert.equal([answer.status, answer.location], [303, '/signin?next=%2F'], where);
      } else if (letter === 'S' && row.form !== undefined) {
        assert.is(answer.status, 401, where);
        assert.ok(answer.html.includes(`<input type="hidden" name="to" value="${row.path}"/>`), where);
      } else if (letter === 'S') {
        assert.is(answer.status, 303, where);
        assert.is(answer.location, `/signin?next=${encodeURIComponent(row.path)}`, where);
      } else {
        const [status, words] = refusals[letter]!;
        assert.is(answer.status, status, where);
        assert.match(textOf(answer.html), words, where);
      }
    }
  });
}

access('every page is in the table, but for signing in and out, the theme and what pages load', () => {
  const known = new Set(table.map((row) => row.route));
  const apart = new Set(['POST /signin', 'POST /signout', 'POST /theme', 'GET /assets/:name']);
  const mounted = t.app.routes
    .filter((route) => route.method !== 'ALL' && isPage(route.path))
    .map((route) => `${route.method} ${route.path}`);
  assert.equal(
    [...new Set(mounted)].filter((route) => !known.has(route) && !apart.has(route)),
    [],
  );
  assert.equal(
    [...known].filter((route) => !mounted.includes(route)),
    [],
  );
});

access('the address of every form can be loaded, and changes nothing', async () => {
  const pages = t.app.routes.filter((route) => isPage(route.path));
  const loaded = new Set(pages.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const forms = pages.filter(({ method }) => method === 'POST');
  assert.equal(
    forms.map(({ path }) => path).filter((path) => !loaded.has(path)),
    [],
  );
  const stored = () =>
    JSON.stringify(
      ['bundles', 'list_stigs', 'collection_controls', 'favorite_stigs', 'favorite_controls'].map((name) =>
        t.db.sqlite.prepare(`SELECT * FROM ${name} ORDER BY 1, 2`).all(),
      ),
    );
  const before = stored();
  for (const { path } of forms) {
    const address = path.replace(':id', sharedList).replace(':slug', 'harbor_linux_3');
    for (const query of ['', '?slug=lantern_web_server_2&list=x'])
      assert.ok([200, 303, 404].includes((await loadPage(t, address + query, callers.alice)).status), path);
  }
  assert.is(stored(), before);
  // An id of the address stays one segment of a path of this server.
  const odd = await loadPage(t, '/lists/%2f%2fevil.example%0d%0aX: y/stigs', callers.alice);
  assert.is(odd.location, '/lists/%2F%2Fevil.example%0D%0AX%3A%20y');
  assert.is((await loadPage(t, '/lists', callers.alice)).status, 200);
});

access('what may not be seen answers as what is not there, but for the request id', async () => {
  const strip = (html: string) =>
    html.replace(/Request ID [\w-]+/, '').replace(/next(?:=|" value=")[^"]*/g, '');
  for (const path of ['/lists/', '/collections/']) {
    const hidden = await loadPage(
      t,
      `${path}${path === '/lists/' ? privateList : sharedCollection}`,
      callers.carol,
    );
    const absent = await loadPage(t, `${path}${testId(999)}`, callers.carol);
    assert.is(hidden.status, 404);
    assert.is(strip(hidden.html), strip(absent.html));
  }
});

access('a form that another site sends changes nothing', async () => {
  const { 'Sec-Fetch-Site': _, ...cookie } = callers.alice as Record<string, string>;
  const forms = table.filter((row) => row.form !== undefined);
  const before = t.db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get();
  for (const from of [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'http://evil.example' },
    { Origin: 'null' },
    {},
  ]) {
    for (const row of forms) {
      const { status, html } = await loadPage(t, row.path, { ...cookie, ...from }, row.form);
      assert.is(status, 403, `${row.path} ${JSON.stringify(from)}`);
      assert.match(textOf(html), 'A session may write only from its own origin');
      const isUnnamed = Object.keys(from).length === 0;
      assert.is(textOf(html).includes('send the header Origin'), isUnnamed, JSON.stringify(from));
    }
    const signedOut = await loadPage(t, '/signout', { ...cookie, ...from }, {});
    assert.is(signedOut.status, 403);
  }
  assert.is(t.db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get(), before);
  assert.is((await loadPage(t, '/lists', callers.alice)).status, 200);
});

access.run();
