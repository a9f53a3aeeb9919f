import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { Answer } from '../support/app.ts';
import { ask, type Caller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { type OperationSite, operationSite, operations } from '../support/operations.ts';

// What bodies may and may not do (rule D8.2; threats B7, B8, H1).
const bodies = suite('Bodies of lists, collections and favorites');

let t: OperationSite;
let alice: Caller;
let list: string;
let collection: string;

bodies.before(async () => {
  t = await operationSite();
  alice = t.callers.owner;
  list = `/api/v1/lists/${t.names['lists PRIVATE']}`;
  collection = `/api/v1/control-collections/${t.names['control-collections PRIVATE']}`;
});

bodies.after(() => t.db.close());

const ac2 = { controlId: 'AC-2', framework: 'nist-800-53' };

function refused(answer: Answer, words: RegExp, where: string): void {
  assert.is(answer.status, 400, `${where}: ${answer.text.slice(0, 200)}`);
  assert.is(answer.json.error.code, 'BAD_REQUEST');
  assert.match(answer.json.error.message, words, where);
  assert.ok(answer.json.error.message.length < 200, where);
}

bodies('what the server owns is never taken from a body', async () => {
  const owned = `"id":"00000000-0000-4000-8000-00000000ffff","createdById":"mallory","createdByEmail":"m@evil.example",
    "organizationId":"blue","createdAt":"1999-01-01T00:00:00.000Z","updatedAt":"1999-01-01T00:00:00.000Z",
    "deletedAt":"1999-01-01T00:00:00.000Z","stigCount":99,"kind":"role-collection","position":5,
    "__proto__":{"visibility":"SHARED","polluted":true,"createdById":"mallory"},
    "constructor":{"prototype":{"polluted":true}}`;
  for (const [path, method, status] of [
    ['/api/v1/lists', 'POST', 201],
    ['/api/v1/control-collections', 'POST', 201],
    [list, 'PATCH', 200],
    [collection, 'PATCH', 200],
  ] as const) {
    const answer = await ask(t, method, path, alice, `{"name":"Mine",${owned}}`);
    assert.is(answer.status, status, answer.text);
    const id = answer.json.id as string;
    assert.not.match(id, /ffff$/);
    const own = `${path.replace(/\/[0-9a-f-]{36}$/, '')}/${id}`;
    const read = (await ask(t, 'GET', own, alice)).json;
    assert.is(read.createdById, 'alice');
    assert.is(read.createdAt, '2026-11-21T12:00:00.000Z');
    assert.is(read.updatedAt, '2026-11-21T12:00:00.000Z');
    assert.is(read.visibility.toUpperCase(), 'PRIVATE');
    if (path.includes('lists')) {
      assert.is(read.createdByEmail, 'alice@example.org');
      assert.is(read.organizationId, 'red');
      assert.ok(read.stigCount < 2);
    }
  }
  assert.is(({} as { polluted?: boolean }).polluted, undefined);
  const entry = await ask(t, 'PUT', `${list}/stigs/harbor_linux_3`, alice, {
    notes: 'n',
    addedAt: '1999-01-01T00:00:00.000Z',
    slug: 'lantern_web_server_2',
  });
  assert.equal(entry.json, {
    stigSlug: 'harbor_linux_3',
    notes: 'n',
    position: 1,
    addedAt: '2026-11-21T12:00:00.000Z',
    release: null,
  });
});

/** Zero width, byte order mark, soft hyphen, control, bidirectional marks, fillers, blanks: texts that show nothing. */
const invisible = '\u200b\u200d|\ufeff\u200e|\u00ad|\u0007|\u202e\u2066|\u3164|\u2800 \u00a0|\u034f'.split(
  '|',
);

/** Of each field the values that are refused beside those of openapi.test.ts, by how the refusal begins. */
const wrong: [field: string, words: RegExp, values: unknown[]][] = [
  ['name', /^name must have 1 to 200 characters/, ['   \t ', 'x'.repeat(50_000)]],
  ['name', /^name must be one text/, [null, ['a']]],
  ['name', /^name must (be one line|have 1 to 200)/, invisible],
  ['name', /^name must be one/, ['a\nb', 'a\u2028b', 'a\u0085b']],
  ['tags', /^tags must each/, ['', ' ', '\n', ...invisible].map((tag) => ['a', tag])],
  [
    'tags',
    /^tags must differ/,
    [
      ['a', 'b', 'a'],
      [' Pci', 'Pci '],
    ],
  ],
  ['tags', /^tags must be an array/, ['a', null, [1]]],
  ['description', /^description/, [{}]],
  ['color', /^color must be #RRGGBB, or "" for none$/, ['#12345', '#12345g', '#123456\n', ' ', null]],
  ['visibility', /^visibility/, [null, '', ['SHARED']]],
];

bodies('limits and types of each field are a 400 that names the field', async () => {
  for (const path of [list, collection]) {
    for (const [field, words, value] of wrong.flatMap(([field, words, values]) =>
      values.map((value) => [field, words, value] as const),
    )) {
      const where = `${path.split('/')[3]} ${field} ${JSON.stringify(value).slice(0, 40)}`;
      const created = path.replace(/\/[0-9a-f-]{36}$/, '');
      refused(await ask(t, 'PATCH', path, alice, { [field]: value }), words, `PATCH ${where}`);
      refused(await ask(t, 'POST', created, alice, { name: 'N', [field]: value }), words, `POST ${where}`);
    }
  }
  refused(await ask(t, 'PATCH', list, alice, { icon: 'x'.repeat(51) }), /^icon must have at most 50/, 'icon');
  refused(await ask(t, 'PATCH', collection, alice, { icon: 'i' }), /^icon is not a field here/, 'no icon');
  refused(await ask(t, 'POST', '/api/v1/lists', alice, {}), /^name is required/, 'no name');
});

/** The operations that take a body of users' data, as they are sent. */
const written = () =>
  operations
    .filter(({ body, route }) => body !== '' && /\/(lists|control-collections|my-\w+)\b/.test(route))
    .map((each) => {
      const path = each.path.replace(/^.*\{id\}/, each.route.includes('lists') ? list : collection);
      return { ...each, path, sample: JSON.parse(t.fill(each.body)) as object };
    });

bodies('what is no object, no JSON or no UTF-8 is a 400', async () => {
  const broken = [
    'null',
    '[]',
    '"text"',
    '7',
    'true',
    '',
    '{',
    '{"a":NaN}',
    '{"name":"a"}}',
    '[[[[',
    '['.repeat(100_000),
  ];
  for (const { method, path } of written()) {
    for (const body of broken)
      assert.is(
        (await ask(t, method, path, alice, body)).status,
        400,
        `${method} ${path} ${body.slice(0, 20)}`,
      );
    const body = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    assert.is((await t.get(path, { method, token: null, headers: alice, body })).status, 400);
  }
});

/** Sends one text in every field that takes one, and reads it back wherever it is answered. */
async function roundTrip(text: string): Promise<void> {
  const line = text.replace(/[\n\v\f\r\u0085\u2028\u2029]/g, ' ');
  const name = `x${[...line].slice(0, 199).join('')}`.trim();
  const short = [...text].slice(0, 49).join('');
  const fields = { name, description: text.slice(0, 900), tags: [`a${short}`, `b${short}`], icon: short };
  const made = await ask(t, 'POST', '/api/v1/lists', alice, fields);
  assert.is(made.status, 201, made.text);
  const path = `/api/v1/lists/${made.json.id}`;
  const changed = await ask(t, 'PATCH', path, alice, fields);
  await ask(t, 'POST', `${path}/stigs`, alice, { slugs: ['harbor_linux_3'] });
  const notes = await ask(t, 'PUT', `${path}/stigs/harbor_linux_3`, alice, { notes: text });
  const page = await ask(t, 'GET', `${path}/stigs`, alice);
  const read = await ask(t, 'GET', path, alice);
  const exported = await ask(t, 'GET', `${path}/export`, alice);
  const csv = await ask(t, 'GET', `${path}/export?format=csv`, alice);
  assert.is(csv.status, 200);
  const pick = (json: typeof fields) => ({
    name: json.name,
    description: json.description,
    tags: json.tags,
    icon: json.icon,
  });
  for (const json of [made.json, changed.json, read.json]) assert.equal(pick(json), fields);
  assert.is(notes.json.notes, text);
  assert.is(page.json.stigs[0].notes, text);
  assert.is(exported.json.list.name, name);

  const collected = await ask(t, 'POST', '/api/v1/control-collections', alice, fields);
  const own = `/api/v1/control-collections/${collected.json.id}`;
  await ask(t, 'POST', `${own}/controls`, alice, { controls: [{ ...ac2, notes: text }] });
  const record = (await ask(t, 'GET', own, alice)).json;
  assert.is(record.name, name);
  assert.equal(record.tags, fields.tags);
  assert.is(record.controls[0].notes, text);
  assert.is((await ask(t, 'GET', `${own}/export`, alice)).json.controls[0].notes, text);
  await ask(t, 'DELETE', path, alice);
  await ask(t, 'DELETE', own, alice);
}

bodies('the longest texts come back as they were sent', async () => {
  await roundTrip('😀'.repeat(4000));
  const limits = {
    name: '😀'.repeat(200),
    description: '😀'.repeat(2000),
    tags: Array.from({ length: 20 }, (_, at) => '😀'.repeat(50 - at)),
  };
  const made = await ask(t, 'POST', '/api/v1/lists', alice, { ...limits, icon: '😀'.repeat(50) });
  assert.is(made.status, 201, made.text.slice(0, 200));
  assert.equal(made.json.tags, limits.tags);
  assert.is(made.json.description, limits.description);
});

bodies('any text without NUL and lone surrogates comes back as it was sent', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 300 }).filter((each) => !each.includes('\0'));
  await fc.assert(fc.asyncProperty(text, roundTrip), { numRuns: 25 });
});

/** A body with another text in the place of each of its texts, one at a time. */
function* spoiled(value: unknown, bad: string): Generator<unknown> {
  if (typeof value === 'string') yield bad;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    for (const each of spoiled(inner, bad))
      yield Array.isArray(value) ? value.with(Number(key), each) : { ...value, [key]: each };
}

bodies('NUL and lone surrogates are a 400 in every text', async () => {
  const replaced = t.db.sqlite
    .prepare('SELECT count(*) FROM bundles WHERE instr(name || description || tags || icon, char(65533)) > 0')
    .pluck();
  const before = replaced.get();
  const texts = {
    name: 'N',
    description: 'd',
    tags: ['a'],
    icon: 'i',
    color: '#123456',
    visibility: 'SHARED',
  };
  for (const bad of ['\0', 'a\0b', '\ud800', 'a\udc00', '\udc00\ud800'])
    for (const { method, path, sample } of written())
      for (const body of spoiled('name' in sample || 'description' in sample ? texts : sample, bad)) {
        // A collection has no icon.
        if (path.includes('control-collections') && (body as { icon?: string }).icon === bad) continue;
        const answer = await ask(t, method, path, alice, body);
        assert.is(answer.status, 400, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`);
        assert.ok(answer.json.error.message.isWellFormed());
      }
  assert.is(replaced.get(), before, 'nothing was stored with a replacement character');
});

bodies.run();
