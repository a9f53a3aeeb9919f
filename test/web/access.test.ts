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
import { pageOperations } from '../support/page-operations.ts';
import { isPage, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { rowsOf } from '../support/tables.ts';
import { noUserToken } from '../support/words.ts';

// One table of who sees which page, as test/routes/access.test.ts has it for the API. Alice of red owns a PRIVATE and a
// SHARED list and collection; bob is of red too, carol of blue. Alice alone is entitled to the products.
const access = suite('Who may see which page');

// Alice is the last: what she deletes is not there for those after her, whatever they may see.
const columns = ['nobody', 'ended', 'bob', 'carol', 'bearer', 'program', 'alice'] as const;
type Column = (typeof columns)[number];

/** S: on to signing in, and then back to the page, or of a form to where it was sent from. T, O, R: 403, a program; not entitled. C: 403, not the creator. N: 404. */
const cells = Object.fromEntries(
  rowsOf(`
public | ok ok ok ok ok ok ok
user | S  S  ok ok ok T  ok
session | S  S  ok ok S  S  ok
sessionPage | S  S  ok ok S  S  ok
occ | S  S  O  O  O  T  ok
regdoc | S  S  R  R  R  T  ok
read PRIVATE | S  S  N  N  N  T  ok
read SHARED | S  S  ok N  ok T  ok
change PRIVATE | S  S  N  N  N  T  ok
change SHARED | S  S  C  N  C  T  ok
`) as [string, string][],
);

const refusals: Record<string, [status: number, words: string]> = {
  T: [403, noUserToken],
  O: [403, 'You need the role-data permission (occ)'],
  R: [403, 'You need the document permission (regdoc)'],
  C: [403, 'Only the creator may do this'],
  N: [404, 'Not found'],
};

const [privateList, sharedList, privateCollection, sharedCollection, deletedList] = [1, 2, 3, 4, 5].map(
  testId,
) as [string, string, string, string, string];

const table = pageOperations({ privateList, sharedList, privateCollection, sharedCollection, deletedList });

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
    const letters = cells[row.rule]!.split(/ +/);
    for (const [index, column] of columns.entries()) {
      const answer = await loadPage(t, row.path, callers[column], row.form);
      const letter = letters[index]!;
      const where = `${column}: ${answer.status} ${answer.location} ${textOf(answer.html).slice(0, 200)}`;
      if (letter === 'ok') {
        assert.is(answer.status, row.status, where);
        if (row.to !== undefined) assert.is(answer.location, row.to, where);
      } else if (letter === 'S') {
        const next = row.form === undefined ? row.path : '/';
        assert.equal(
          [answer.status, answer.location],
          [303, `/signin?next=${encodeURIComponent(next)}`],
          where,
        );
      } else {
        const [status, words] = refusals[letter]!;
        assert.is(answer.status, status, where);
        assert.match(textOf(answer.html), words, where);
      }
    }
  });
}

access('former addresses lead to those of today, but for pages that are gone', async () => {
  for (const [former, today] of [
    ['/lists', '/systems'],
    [`/lists/${privateList}/coverage?rollup=true`, `/systems/${privateList}/coverage?rollup=true`],
    ['/catalog?olderThan=730', '/content?olderThan=730'],
    ['/catalog/imports/1', '/content/imports/1'],
    ['/tokens', '/account'],
    ['/%74okens//evil.example/?a=b%26c', '/account//evil.example/?a=b%26c'],
  ] as const) {
    const { status, location } = await loadPage(t, former, alice);
    assert.equal([status, location], [301, today]);
  }
  for (const path of [`/lists/${privateList}/brief`, '/stigs/harbor_linux_3/beside', '/catalog/files'])
    assert.is((await loadPage(t, path, alice)).status, 404, path);
});

access('every page is in the table, but for signing in and out and what pages load', () => {
  const known = new Set(table.map((row) => row.route));
  const apart = new Set([
    'POST /signin',
    'POST /signout',
    'GET /assets/:name',
    'GET /lists/*',
    'GET /catalog/*',
    'GET /tokens/*',
  ]);
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
  const odd = await loadPage(t, '/systems/%2f%2fevil.example%0d%0aX: y/stigs', callers.alice);
  assert.is(odd.location, '/systems/%2F%2Fevil.example%0D%0AX%3A%20y');
  assert.is((await loadPage(t, '/systems', callers.alice)).status, 200);
});

access('what may not be seen answers as what is not there, but for the request id', async () => {
  const strip = (html: string) =>
    html.replace(/Request ID [\w-]+/, '').replace(/next(?:=|" value=")[^"]*/g, '');
  for (const [path, id] of [
    ['/systems/', privateList],
    ['/collections/', sharedCollection],
  ]) {
    const hidden = await loadPage(t, `${path}${id}`, callers.carol);
    const absent = await loadPage(t, `${path}${testId(999)}`, callers.carol);
    assert.is(hidden.status, 404);
    assert.is(strip(hidden.html), strip(absent.html));
  }
});

access.run();
