import { OpenAPIHono } from '@hono/zod-openapi';
import * as assert from 'uvu/assert';
import { createAudit } from '../../src/audit/audited-action.ts';
import { silentAudit } from '../../src/audit/stream.ts';
import { AppError, statusOf } from '../../src/base/errors.ts';
import { silentLog } from '../../src/base/log.ts';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from '../../src/collections/catalog-collections.ts';
import { createAccess } from '../../src/http/access.ts';
import { createRequestAudit } from '../../src/http/audited.ts';
import type { Env } from '../../src/http/env.ts';
import { unlimited } from '../../src/http/limits/limiter.ts';
import { identify } from '../../src/http/middleware.ts';
import { createObserver } from '../../src/http/observe/observer.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import {
  ask,
  type Caller,
  countingIds,
  integrationCaller,
  sessionCaller,
  testId,
  userCaller,
} from '../support/callers.ts';
import { addControls } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { controlsOf } from '../support/oscal.ts';
import { isPage } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { writeResults } from '../support/results-writer.ts';
import { noSession, noToken, noUserToken } from '../support/words.ts';

// One table of who may do what. Alice of red owns a PRIVATE and a SHARED bundle of each kind; bob is of red too, carol
// of blue. Alice alone is entitled to the products. `assigned` is an integration token that sees both lists, `unassigned` sees none; `session` is alice's.
const columns = [
  'anonymous',
  'expired',
  'owner',
  'member',
  'outsider',
  'assigned',
  'unassigned',
  'session',
] as const;
type Column = (typeof columns)[number];

const refusals: Record<string, [status: number, code: string, message: string]> = {
  U: [401, 'UNAUTHORIZED', noToken],
  S: [401, 'UNAUTHORIZED', noSession],
  T: [403, 'FORBIDDEN', noUserToken],
  C: [403, 'FORBIDDEN', 'Only the creator may do this'],
  R: [403, 'FORBIDDEN', 'You need the document permission (regdoc)'],
  O: [403, 'FORBIDDEN', 'You need the role-data permission (occ)'],
  N: [404, 'NOT_FOUND', 'Not found'],
};

/** The cells of a row in the order of the columns (`ok` is what the row says), and the `x-access` of its route. */
const cells = {
  public: ['ok ok ok ok ok ok ok ok', 'public'],
  user: ['U U ok ok ok T T ok', 'user'],
  citedControl: ['ok ok ok ok ok ok ok ok', 'user unless public'],
  citedRule: ['U U ok ok ok T T ok', 'user unless public'],
  token: ['U U ok ok ok T T U', 'user token'],
  session: ['S S S S S S S ok', 'session'],
  noSession: ['S S S S S S S N', 'session'],
  cron: ['U U U U U U U U', 'cron'],
  regdoc: ['U U ok R R T T ok', 'user+regdoc'],
  noRegdoc: ['U U N R R T T N', 'user+regdoc'],
  occ: ['U U ok O O T T ok', 'user+occ'],
  noOcc: ['U U N O O T T N', 'user+occ'],
  allLists: ['U U ok ok ok ok ok ok', 'user or lists:read'],
  readPrivateList: ['U U ok N N ok N ok', 'user or lists:read'],
  readSharedList: ['U U ok ok N ok N ok', 'user or lists:read'],
  usePrivate: ['U U ok N N T T ok', 'user'],
  useShared: ['U U ok ok N T T ok', 'user'],
  changePrivate: ['U U ok N N T T ok', 'user'],
  changeShared: ['U U ok C N T T ok', 'user'],
} as const;
type Cells = keyof typeof cells;
type Check = (answer: Answer, column: Column) => void;

interface Row {
  cells: Cells;
  method: string;
  /** As OpenAPI has it, and as it is asked for. */
  route: string;
  path: string;
  body?: unknown;
  status: number;
  ok: Check;
}

const [privateList, sharedList, privateCollection, sharedCollection, deletedList] = [1, 2, 3, 4, 5].map(
  testId,
) as [string, string, string, string, string];
const nextId = testId(1000);
const [documentCollection, roleCollection] = [801, 802].map(testId) as [string, string];
const time = '2026-11-21T12:00:00.000Z';
const ac2 = { controlId: 'AC-2', framework: 'nist-800-53' };
const au2 = { controlId: 'AU-2', framework: 'nist-800-53' };
const isAlice = (column: Column) => column === 'owner' || column === 'session';

const is = (expected: unknown) => (answer: Answer) => assert.equal(answer.json, expected);
const has = (expected: Record<string, unknown>) => (answer: Answer) => {
  for (const [name, value] of Object.entries(expected)) assert.equal(answer.json[name], value, name);
};

function list(id: string, column: Column, more: Record<string, unknown> = {}) {
  const [name, organization] = { member: ['bob', 'red'], outsider: ['carol', 'blue'] }[column as string] ?? [
    'alice',
    'red',
  ];
  return {
    id,
    name: 'N',
    description: '',
    tags: [],
    color: '',
    icon: '',
    visibility: 'PRIVATE',
    stigCount: 0,
    createdById: name,
    createdByEmail: `${name}@example.org`,
    organizationId: organization,
    createdAt: time,
    updatedAt: time,
    seenAt: null,
    ...more,
  };
}

const ownList = (visibility: string, more: Record<string, unknown> = {}) =>
  is(
    list(visibility === 'PRIVATE' ? privateList : sharedList, 'owner', { visibility, stigCount: 1, ...more }),
  );

const entries = (answer: Answer) => {
  assert.is(answer.json.list.name, 'N');
  assert.equal(
    answer.json.stigs.map((each: { slug: string }) => each.slug),
    ['harbor_linux_3'],
  );
};

/** The ids of the bundles that each caller sees. */
const seen = (name: string, privateId: string, sharedId: string) => (answer: Answer, column: Column) => {
  const all = [privateId, sharedId];
  const expected = { owner: all, session: all, assigned: all, member: [sharedId] }[column as string] ?? [];
  assert.equal(
    answer.json[name].map((each: { id: string }) => each.id),
    expected,
  );
};

function row(rule: Cells, request: string, ok: Check, more: Partial<Row> = {}): Row {
  const [method, route] = request.split(' ') as [string, string];
  return { cells: rule, method, route, path: route, status: 200, ok, ...more };
}

/** Two rows of one path below a bundle: for the PRIVATE one and for the SHARED one. */
function both(kind: 'lists' | 'control-collections', rules: [Cells, Cells], request: string) {
  const [method, path] = request.split(' ') as [string, string];
  const ids = kind === 'lists' ? [privateList, sharedList] : [privateCollection, sharedCollection];
  return (ok: (visibility: string) => Check, more: Partial<Row> = {}): Row[] =>
    rules.map((rule, index) =>
      row(
        rule,
        `${method} /api/v1/${kind}/{id}${path.split('?')[0]}`,
        ok(index === 0 ? 'PRIVATE' : 'SHARED'),
        {
          path: `/api/v1/${kind}/${ids[index]}${path.replace('{stigSlug}', 'harbor_linux_3')}`,
          ...more,
        },
      ),
    );
}

/** Two rows of one path of a product: for something that is there, and for something that is not. */
function product(name: 'regdoc' | 'occ', request: string, id: string, ok: Check): Row[] {
  const [method, route] = request.split(' ') as [string, string];
  const unknown = name === 'regdoc' ? 'noRegdoc' : 'noOcc';
  const at = (value: string) => ({ path: route.replace(/\{\w+\}/, value) });
  return [
    row(name, `${method} ${route}`, ok, at(id)),
    row(unknown, `${method} ${route}`, () => assert.unreachable(), at('no-such-thing')),
  ];
}

const read: [Cells, Cells] = ['readPrivateList', 'readSharedList'];
const use: [Cells, Cells] = ['usePrivate', 'useShared'];
const change: [Cells, Cells] = ['changePrivate', 'changeShared'];
const onList = (rules: [Cells, Cells], request: string) => both('lists', rules, request);
const onCollection = (rules: [Cells, Cells], request: string) => both('control-collections', rules, request);
const harbor = '/api/v1/stigs/harbor_linux_3';
const catalogs = [
  ['nist-800-53', 'AC-2', 4],
  ['nist-800-171', '3.1.1', 1],
  ['dod-8500', 'ECCT-1', 1],
] as const;

const table: Row[] = [
  row('public', 'get /healthz', is({ status: 'ok' })),
  row('public', 'get /readyz', is({ status: 'ready' })),
  row('public', 'get /metrics', (answer) => assert.match(answer.text, /^# HELP gapstone_/)),
  row('public', 'get /openapi.json', has({ openapi: '3.1.0' })),
  row('user', 'get /api/v1/catalog', has({ stigs: 2, bundle: null })),
  row('citedControl', 'get /api/v1/cite', has({ kind: 'control', holds: false, state: 'not_imported' }), {
    path: '/api/v1/cite?ref=nist-800-53@Rev%201%23AC-2',
  }),
  row('citedRule', 'get /api/v1/cite', has({ kind: 'stig', holds: true, state: 'former' }), {
    path: '/api/v1/cite?ref=harbor_linux_3@V1R1',
  }),
  row('user', 'get /api/v1/stigs', (a) => assert.is(a.json.pagination.total, 2)),
  row('user', 'post /api/v1/stigs/batch', has({ meta: { requested: 1, found: 1, notFound: [] } }), {
    body: { slugs: ['harbor_linux_3'] },
  }),
  row('user', 'get /api/v1/stigs/stats', (a) => assert.is(a.json.catalog.totalBenchmarks, 2)),
  row('user', 'get /api/v1/stigs/changelog', (a) => assert.is(a.json.changes.length, 3)),
  row('user', 'get /api/v1/stigs/changes', (a) => assert.is(a.json.totals.stigs, 2), {
    path: '/api/v1/stigs/changes?since=2026-01-01',
  }),
  row('user', 'get /api/v1/stigs/{slug}', has({ slug: 'harbor_linux_3' }), { path: harbor }),
  row('user', 'get /api/v1/stigs/{slug}/controls', (a) => assert.is(a.json.findings.length, 1), {
    path: `${harbor}/controls?limit=1`,
  }),
  row('user', 'get /api/v1/stigs/{slug}/versions', (a) => assert.is(a.json.versions.length, 2), {
    path: `${harbor}/versions`,
  }),
  row('user', 'get /api/v1/stigs/{slug}/diff', has({ slug: 'harbor_linux_3' }), { path: `${harbor}/diff` }),
  row('user', 'get /api/v1/stigs/{slug}/coverage', (a) => assert.is(a.json.totals.rules, 14), {
    path: `${harbor}/coverage`,
  }),
  row('user', 'get /api/v1/stigs/{slug}/automation', (a) => assert.is(a.json.totals.none, 14), {
    path: `${harbor}/automation`,
  }),
  row('user', 'get /api/v1/stigs/{slug}/worksheet', (a) => assert.is(a.json.framework, 'nist-800-53'), {
    path: `${harbor}/worksheet`,
  }),
  row('user', 'get /api/v1/rules/{id}', has({ id: 'V-900001' }), { path: '/api/v1/rules/V-900001' }),
  row('user', 'post /api/v1/checklists/from-results', (a) => assert.is(a.json.report.counts.open, 1), {
    body: { results: writeResults([{ id: 'SV-900001r100010_rule', result: 'fail' }]) },
  }),
  row('user', 'post /api/v1/checklists/inspect', (a) => assert.is(a.json.stigs[0].rules, 1), {
    body: { checklist: { stigs: [{ rules: [{ rule_id: 'SV-900001r100010', severity: 'low' }] }] } },
  }),
  row('user', 'post /api/v1/references', (a) => assert.is(a.json.counts.current, 1), {
    body: { text: 'see V-900001' },
  }),
  row('user', 'post /api/v1/checklists/upgrade', (a) => assert.is(a.json.report.summary.rules, 14), {
    body: {
      slug: 'harbor_linux_3',
      checklist: {
        stigs: [{ stig_id: 'Harbor_Linux_3_STIG', rules: [{ rule_id: 'SV-1r1', severity: 'low' }] }],
      },
    },
  }),
  row('user', 'post /api/v1/checklists/emass', (a) => assert.is(a.json.withoutCci.length, 1), {
    body: {
      checklists: [
        { stigs: [{ stig_id: 'X', rules: [{ rule_id: 'SV-1r1', severity: 'low', status: 'open' }] }] },
      ],
      sheet: 'poam',
      format: 'json',
    },
  }),
  row('user', 'get /api/v1/stigs/{slug}/download', has({ cklb_version: '1.0' }), {
    path: `${harbor}/download`,
  }),
  row('user', 'get /api/v1/search', (a) => assert.is(a.json.results[0].groupId, 'V-900001'), {
    path: '/api/v1/search?q=V-900001',
  }),
  row('user', 'get /api/v1/control-rules/{framework}/{controlId}', (a) => assert.equal(a.json.stigs, []), {
    path: '/api/v1/control-rules/nist-800-53/AC-2',
  }),
  ...catalogs.flatMap(([framework, identifier, total]) => [
    row('public', `get /api/v1/controls/${framework}`, has({ framework, total })),
    row('public', `get /api/v1/controls/${framework}/{controlId}`, has({ framework, identifier }), {
      path: `/api/v1/controls/${framework}/${identifier}`,
    }),
  ]),
  row('public', 'get /api/v1/controls', (a) => assert.is(a.json.frameworks.length, 4)),
  row('public', 'get /api/v1/controls/cci', has({ framework: 'cci', total: 0 })),
  row('public', 'get /api/v1/controls/cci/{cci}', (a) => assert.is(a.json.error.code, 'NOT_FOUND'), {
    path: '/api/v1/controls/cci/CCI-000001',
    status: 404,
  }),
  row('public', 'get /api/v1/controls/{framework}', (a) => assert.is(a.json.error.code, 'NOT_FOUND'), {
    path: '/api/v1/controls/acme',
    status: 404,
  }),
  row(
    'public',
    'get /api/v1/controls/{framework}/{controlId}',
    (a) => assert.is(a.json.error.code, 'NOT_FOUND'),
    {
      path: '/api/v1/controls/acme/A-1',
      status: 404,
    },
  ),
  row('public', 'get /api/v1/controls/{framework}/baselines', is({ baselines: [] }), {
    path: '/api/v1/controls/nist-800-53/baselines',
  }),
  row('public', 'get /api/v1/controls/{framework}/export', (a) => assert.is(controlsOf(a.json).length, 4), {
    path: '/api/v1/controls/nist-800-53/export',
  }),
  row('public', 'get /api/v1/crosswalk/export', (a) => assert.is(a.json.error.code, 'NOT_FOUND'), {
    path: '/api/v1/crosswalk/export?from=cci&to=nist-800-53',
    status: 404,
  }),
  row('public', 'get /api/v1/crosswalk/resolve', has({ to: 'nist-800-53', paths: [] }), {
    path: '/api/v1/crosswalk/resolve?from=cci:CCI-000015&to=nist-800-53',
  }),
  row('public', 'post /api/v1/crosswalk/resolve/batch', is({ 'CCI-000015': [] }), {
    body: { ccis: ['CCI-000015'] },
  }),

  row('allLists', 'get /api/v1/lists', seen('lists', privateList, sharedList)),
  row('user', 'post /api/v1/lists', (a, column) => assert.equal(a.json, list(nextId, column)), {
    body: { name: 'N' },
    status: 201,
  }),
  ...onList(read, 'get ')((visibility) => ownList(visibility)),
  ...onList(change, 'patch ')((visibility) => ownList(visibility, { description: 'new' }), {
    body: { description: 'new' },
  }),
  ...onList(
    change,
    'delete ',
  )(() => is({ success: true, message: 'List deleted. It can be restored within 30 days.' })),
  ...onList(change, 'post /restore')((visibility) => ownList(visibility)),
  row(
    'changePrivate',
    'post /api/v1/lists/{id}/restore',
    is(list(deletedList, 'owner', { name: 'Deleted', visibility: 'SHARED' })),
    { path: `/api/v1/lists/${deletedList}/restore` },
  ),
  ...onList(use, 'post /duplicate')(
    () => (a, column) => assert.equal(a.json, list(nextId, column, { name: 'N (copy)', stigCount: 1 })),
    { status: 201 },
  ),
  ...onList(use, 'post /checklists')(
    () => (a) => assert.is(a.headers.get('Content-Type'), 'application/zip'),
    { body: { hosts: [{ hostName: 'web01' }] } },
  ),
  ...onList(change, 'put /hosts')(() => is({ hosts: [{ hostName: 'web01' }], warnings: [] }), {
    body: { hosts: [{ hostName: 'web01' }] },
  }),
  ...onList(use, 'get /hosts')(() => is({ hosts: [], warnings: [] })),
  ...onList(use, 'put /seen')(() => is({ seenAt: time }), { body: { at: time } }),
  ...onList(read, 'get /export')(() => entries),
  ...onList(read, 'get /stigs')(() => entries),
  ...onList(use, 'get /coverage')(() => (a) => assert.is(a.json.totals.rules, 14)),
  ...onList(use, 'get /automation')(() => (a) => assert.is(a.json.totals.none, 14)),
  ...onList(use, 'get /worksheet')(() => (a) => assert.is(a.json.framework, 'nist-800-53')),
  ...onList(use, 'get /changes?since=2026-01-01')(() => (a) => assert.is(a.json.totals.stigs, 1)),
  ...onList(change, 'post /stigs')(() => is({ success: true, added: 1, total: 2 }), {
    body: { slugs: ['harbor_linux_3', 'lantern_web_server_2'] },
  }),
  ...onList(change, 'delete /stigs')(() => is({ success: true, removed: 1 }), {
    body: { slugs: ['harbor_linux_3'] },
  }),
  ...onList(change, 'put /stigs/{stigSlug}')(
    () => is({ stigSlug: 'harbor_linux_3', notes: 'x', position: 7, addedAt: time, release: null }),
    { body: { notes: 'x', position: 7 } },
  ),

  row('user', 'get /api/v1/control-collections', seen('collections', privateCollection, sharedCollection)),
  row(
    'user',
    'post /api/v1/control-collections',
    (a, column) => {
      const {
        createdByEmail: _,
        organizationId: __,
        icon: ___,
        stigCount: ____,
        seenAt: _____,
        ...kept
      } = list(nextId, column);
      assert.equal(a.json, { ...kept, controlCount: 0, deletedAt: null });
    },
    { body: { name: 'N' }, status: 201 },
  ),
  ...onCollection(
    use,
    'get ',
  )((visibility) => (a) => {
    assert.is(a.json.visibility, visibility.toLowerCase());
    assert.equal(a.json.controls, [{ ...ac2, notes: '', position: 1, addedAt: time }]);
  }),
  ...onCollection(change, 'patch ')(
    (visibility) =>
      is({ success: true, id: visibility === 'PRIVATE' ? privateCollection : sharedCollection, name: 'New' }),
    { body: { name: 'New' } },
  ),
  ...onCollection(change, 'delete ')(() => is({ success: true })),
  ...onCollection(use, 'get /controls')(() => has({ total: 1 })),
  ...onCollection(use, 'post /controls')(() => is({ success: true, added: 1, total: 2 }), {
    body: { controls: [ac2, au2] },
  }),
  ...onCollection(change, 'delete /controls')(() => is({ success: true, removed: 1 }), {
    body: { controls: [ac2] },
  }),
  ...onCollection(use, 'get /export')(() => has({ total: 1 })),

  row('user', 'get /api/v1/my-stigs', (a, column) =>
    assert.equal(a.json.slugs, isAlice(column) ? ['harbor_linux_3'] : []),
  ),
  row(
    'user',
    'post /api/v1/my-stigs',
    (a, column) => assert.equal(a.json, { success: true, added: 1, total: isAlice(column) ? 2 : 1 }),
    { body: { slugs: ['lantern_web_server_2'] } },
  ),
  row(
    'user',
    'delete /api/v1/my-stigs',
    (a, column) => assert.equal(a.json, { success: true, removed: isAlice(column) ? 1 : 0 }),
    { body: { slugs: ['harbor_linux_3'] } },
  ),
  row('user', 'get /api/v1/my-controls', (a, column) => assert.is(a.json.total, isAlice(column) ? 1 : 0)),
  row('user', 'post /api/v1/my-controls', is({ success: true, id: nextId, ...au2 }), { body: au2 }),
  row('user', 'delete /api/v1/my-controls', is({ success: true, ...ac2 }), { body: ac2 }),

  row('regdoc', 'get /api/v1/regdoc', (a) => assert.is(a.json.pagination.total, 2)),
  ...product('regdoc', 'get /api/v1/regdoc/{documentId}', 'harbor-basic-directive', (a) =>
    assert.is(a.json.actionableItemCount, 7),
  ),
  ...product('regdoc', 'get /api/v1/regdoc/{documentId}/download', 'harbor-basic-directive', (a) =>
    assert.is(a.json.signposts.length, 5),
  ),
  row('regdoc', 'get /api/v1/regdoc-collections', (a) => assert.is(a.json.collections[0].documentCount, 1)),
  ...product('regdoc', 'get /api/v1/regdoc-collections/{id}/export', documentCollection, (a) =>
    assert.is(a.json.documents[0].documentId, 'harbor-basic-directive'),
  ),
  row('occ', 'get /api/v1/roles', (a) => assert.is(a.json.pagination.total, 29)),
  ...product('occ', 'get /api/v1/roles/{code}', '15-1244.00', (a) => assert.is(a.json.jobZone, 4)),
  ...product('occ', 'get /api/v1/roles/{code}/download', '15-1244.00', (a) =>
    assert.is(a.json.tasks.length, 2),
  ),
  row('occ', 'get /api/v1/role-collections', (a) => assert.is(a.json.collections[0].roleCount, 1)),
  ...product('occ', 'get /api/v1/role-collections/{id}/export', roleCollection, (a) =>
    assert.is(a.json.roles[0].occupationCode, '15-1244.00'),
  ),
  row(
    'session',
    'get /api/v1/role-mapping/benchmark/{benchmarkId}/roles',
    (a) => assert.is(a.json.mappings[0].occupationCode, '15-1244.00'),
    { path: '/api/v1/role-mapping/benchmark/harbor_linux_3/roles' },
  ),
  row('token', 'post /plants', is({ name: 'fern' }), { body: { id: 1, name: 'fern' } }),

  row('token', 'post /api/v1/session', (a) => assert.is(a.text, ''), { status: 204 }),
  row('session', 'get /api/v1/session/tokens', is({ tokens: [] })),
  row('session', 'post /api/v1/session/tokens', has({ id: nextId, name: 'n' }), {
    body: { name: 'n', ttl: '1h' },
    status: 201,
  }),
  row('noSession', 'delete /api/v1/session/tokens/{id}', () => assert.unreachable(), {
    path: `/api/v1/session/tokens/${testId(999)}`,
  }),
  row('session', 'delete /api/v1/session', (a) => assert.is(a.text, ''), { status: 204 }),
  row('cron', 'get /api/cron/purge-deleted-lists', () => assert.unreachable()),
  row('cron', 'post /api/cron/purge-deleted-lists', () => assert.unreachable()),
];

const ids = { next: countingIds() };
let t: TestApp;
let callers: Record<Column, Caller>;

/** Runs one request in a transaction that is taken back, so that no cell sees what another did. */
async function cell({ method, path, body }: Row, column: Column): Promise<Answer> {
  let count = 999;
  ids.next = () => testId(++count);
  t.db.sqlite.exec('BEGIN');
  try {
    return await ask(t, method.toUpperCase(), path, callers[column], body);
  } finally {
    t.db.sqlite.exec('ROLLBACK');
  }
}

const access = suite('Access');

access.before(async () => {
  t = await testApp([shipped('stigs'), shipped('roles'), shipped('regulatory')], {
    cronSecret: 'the-cron-secret',
    newId: () => ids.next(),
  });
  addControls(t.db);
  const owner = await userCaller(t, { entitlements: ['regdoc', 'occ'] });
  await makeCatalogCollections();
  for (const kind of ['lists', 'control-collections']) {
    for (const visibility of ['PRIVATE', 'SHARED']) {
      const made = await ask(t, 'POST', `/api/v1/${kind}`, owner, { name: 'N', visibility });
      const path = `/api/v1/${kind}/${made.json.id}`;
      if (kind === 'lists') await ask(t, 'POST', `${path}/stigs`, owner, { slugs: ['harbor_linux_3'] });
      else await ask(t, 'POST', `${path}/controls`, owner, { controls: [ac2] });
    }
  }
  await ask(t, 'POST', '/api/v1/lists', owner, { name: 'Deleted', visibility: 'SHARED' });
  await ask(t, 'DELETE', `/api/v1/lists/${deletedList}`, owner);
  await ask(t, 'POST', '/api/v1/my-stigs', owner, { slugs: ['harbor_linux_3'] });
  await ask(t, 'POST', '/api/v1/my-controls', owner, ac2);
  const past = Math.floor(t.clock.now.getTime() / 1000) - 3600;
  callers = {
    anonymous: {},
    expired: await userCaller(t, { iat: past, exp: past + 60 }),
    owner,
    member: await userCaller(t, { sub: 'bob', email: 'bob@example.org' }),
    outsider: await userCaller(t, { sub: 'carol', email: 'carol@example.org', org: 'blue' }),
    assigned: await integrationCaller(t, testId(901), [privateList, sharedList]),
    unassigned: await integrationCaller(t, testId(902), []),
    session: await sessionCaller(t, owner),
  };
});

access.after(() => t.db.close());

async function makeCatalogCollections(): Promise<void> {
  const alice = {
    kind: 'user' as const,
    subject: 'alice',
    email: null,
    organization: 'red',
    entitlements: new Set<never>(),
    expiresAt: 0,
  };
  const fields = { name: 'N', description: '', tags: [], color: '', visibility: 'SHARED' as const };
  const now = () => t.clock.now;
  await createDocumentCollectionService(t.db, now, () => documentCollection).create(alice, fields, [
    'harbor-basic-directive',
  ]);
  await createRoleCollectionService(t.db, now, () => roleCollection).create(alice, fields, ['15-1244.00']);
}

for (const each of table) {
  access(`${each.method.toUpperCase()} ${each.path}`, async () => {
    const expected = cells[each.cells][0].split(' ');
    assert.is(expected.length, columns.length);
    for (const [index, column] of columns.entries()) {
      const answer = await cell(each, column);
      const where = `${column}: ${answer.text.slice(0, 200)}`;
      const refusal = refusals[expected[index]!];
      assert.is(answer.status, refusal?.[0] ?? each.status, where);
      if (refusal === undefined) each.ok(answer, column);
      else {
        const [status, code, message] = refusal;
        const requestId = answer.headers.get('X-Request-Id');
        // The sample endpoint has errors of its own form (rule D10).
        const error = each.route === '/plants' ? status : { code, message, requestId };
        assert.equal(answer.json, each.route === '/plants' ? { error, message } : { error }, where);
        assert.is(answer.headers.get('WWW-Authenticate'), status === 401 ? 'Bearer' : null);
      }
    }
  });
}

const securities: Record<string, object[]> = {
  public: [],
  user: [{ userToken: [] }, { session: [] }],
  'user unless public': [{}, { userToken: [] }, { session: [] }],
  'user token': [{ userToken: [] }],
  session: [{ session: [] }],
  cron: [{ cronSecret: [] }],
  'user+regdoc': [{ userToken: [] }, { session: [] }],
  'user+occ': [{ userToken: [] }, { session: [] }],
  'user or lists:read': [{ userToken: [] }, { session: [] }, { integrationToken: [] }],
};

access('every route of /openapi.json is in the table, and says itself what the table says', async () => {
  const document = (await t.get('/openapi.json', { token: null })).json;
  const declared: string[] = [];
  type Operations = Record<string, { security: object[]; 'x-access': string }>;
  for (const [path, operations] of Object.entries<Operations>(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method} ${path}`;
      declared.push(name);
      const rows = table.filter((each) => each.method === method && each.route === path);
      assert.ok(rows.length > 0, `${name} is not in the table`);
      for (const each of rows) assert.is(operation['x-access'], cells[each.cells][1], name);
      assert.equal(operation.security, securities[operation['x-access']], name);
      for (const each of operation.security.filter((each) => Object.keys(each).length > 0))
        assert.ok(Object.keys(each)[0]! in document.components.securitySchemes, name);
    }
  }
  for (const each of table) {
    if (each.route !== '/openapi.json')
      assert.ok(declared.includes(`${each.method} ${each.route}`), each.route);
  }
});

access('what any route answers to a malformed address or too large a body is declared', async () => {
  const document = (await t.get('/openapi.json', { token: null })).json;
  for (const { method, route } of table) {
    const { responses } = document.paths[route][method];
    assert.ok('400' in responses, `${method} ${route}`);
    if (method !== 'get') assert.ok('413' in responses, `${method} ${route}`);
  }
});

access('the application has no route that the table does not name', async () => {
  const named = new Set(table.map((each) => each.route.replace(/\{(\w+)\}/g, ':$1')));
  // The pages have a table of their own, in test/web/access.test.ts; `/mcp` has its own in test/mcp/tools.test.ts.
  for (const { method, path } of t.app.routes)
    if (method !== 'ALL' && !isPage(path) && path !== '/mcp') assert.ok(named.has(path), path);
});

access('the cron endpoint takes its secret alone, and does not exist without one', async () => {
  const path = '/api/cron/purge-deleted-lists';
  const without = await testApp([]);
  for (const method of ['GET', 'POST']) {
    const good = await ask(t, method, path, { Authorization: 'bearer the-cron-secret' });
    assert.is(good.status, 200);
    assert.equal(good.json, { success: true, purged: 0 });
    for (const header of [
      'Bearer the-cron-secreT',
      'Bearer the-cron-secret2',
      'Basic the-cron-secret',
      'Bearer',
      '',
    ]) {
      const refused = await ask(t, method, path, { Authorization: header });
      assert.is(refused.status, 401, header);
    }
    const off = await ask(without, method, path, { Authorization: 'Bearer the-cron-secret' });
    const nowhere = await ask(without, method, '/api/cron/nothing', {});
    assert.is(off.status, 404);
    assert.is(off.json.error.message, nowhere.json.error.message);
  }
});

access('a product is for those entitled to it, and the refusal is one for all others', async () => {
  const app = new OpenAPIHono<Env>();
  app.use(identify(createObserver(silentLog)));
  app.onError((error, c) => {
    if (!(error instanceof AppError)) throw error;
    return c.json({ code: error.code, message: error.message }, statusOf[error.code] as 401);
  });
  const products = { both: ['regdoc', 'occ'], occ: ['occ'], none: [] } as const;
  const rules = createAccess({
    verify: async (token) => ({
      kind: 'user',
      subject: 'alice',
      email: null,
      organization: null,
      entitlements: new Set(products[token as keyof typeof products]),
      expiresAt: 0,
    }),
    sessions: { find: async () => null },
    integrationTokens: { find: () => ({ kind: 'integration', id: 'x', organization: 'red' }) },
    cronSecret: null,
    publicUrl: null,
    limiter: unlimited,
    log: silentLog,
    audit: createRequestAudit(createAudit(silentAudit, null), () => new Date()),
    input: () => [],
  });
  const rule = rules.entitled('regdoc');
  assert.equal(rule.security, [{ userToken: ['regdoc'] }, { session: ['regdoc'] }]);
  assert.is(rule['x-access'], 'user+regdoc');
  app.use('/documents/:id', ...rule.middleware);
  app.get('/documents/known', (c) => c.json({ subject: c.get('user').subject }));
  const get = async (id: string, token?: string) => {
    const headers = new Headers(token === undefined ? {} : { Authorization: `Bearer ${token}` });
    const response = await app.request(`/documents/${id}`, { headers });
    return [response.status, await response.text()];
  };
  const unentitled = [403, '{"code":"FORBIDDEN","message":"You need the document permission (regdoc)"}'];
  assert.equal(await get('known', 'both'), [200, '{"subject":"alice"}']);
  assert.equal(await get('known', 'occ'), unentitled);
  assert.equal(await get('unknown', 'occ'), unentitled);
  assert.equal(await get('known', 'none'), unentitled);
  assert.equal(await get('known', 'gsi_x'), [403, '{"code":"FORBIDDEN","message":"You need a user token"}']);
  assert.is((await get('known'))[0], 401);
});

access.run();
