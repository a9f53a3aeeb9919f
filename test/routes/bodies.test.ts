import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, userCaller } from '../support/callers.ts';
import { addControls } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

// What bodies may and may not do (rule D8.2; threats B7, B8, H1).
const bodies = suite('Bodies of lists, collections and favorites');

let t: TestApp;
let alice: Caller;
let list: string;
let collection: string;

bodies.before(async () => {
  t = await testApp([shipped('stigs')], { newId: countingIds() });
  addControls(t.db);
  alice = await userCaller(t);
  list = `/api/v1/lists/${(await ask(t, 'POST', '/api/v1/lists', alice, { name: 'L' })).json.id}`;
  await ask(t, 'POST', `${list}/stigs`, alice, { slugs: ['harbor_linux_3'] });
  const made = await ask(t, 'POST', '/api/v1/control-collections', alice, { name: 'C' });
  collection = `/api/v1/control-collections/${made.json.id}`;
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

/** Texts that show nothing: zero width, byte order mark, soft hyphen, control, bidirectional marks, fillers, blanks. */
const invisible = [
  ...[
    '\u200b\u200d',
    '\ufeff\u200e',
    '\u00ad',
    '\u0007',
    '\u202e\u2066',
    '\u3164',
    '\u2800 \u00a0',
    '\u034f',
  ],
];

const wrong: [field: string, value: unknown, words: RegExp][] = [
  ['name', '', /^name must have 1 to 200 characters/],
  ['name', '   \t ', /^name must have 1 to 200/],
  ['name', 'x'.repeat(201), /^name must have 1 to 200/],
  ['name', 'x'.repeat(50_000), /^name must have 1 to 200/],
  ['name', null, /^name must be one text/],
  ['name', 7, /^name must be one text/],
  ['name', ['a'], /^name/],
  ...invisible.map((name): [string, string, RegExp] => [
    'name',
    name,
    /^name must (be one line|have 1 to 200)/,
  ]),
  ...['a\nb', 'a\u2028b', 'a\u0085b'].map((name): [string, string, RegExp] => [
    'name',
    name,
    /^name must be one/,
  ]),
  ...['', ' ', '\n', ...invisible].map((tag): [string, string[], RegExp] => [
    'tags',
    ['a', tag],
    /^tags must each/,
  ]),
  ['tags', ['a', 'b', 'a'], /^tags must differ/],
  ['tags', ['Pci', ' Pci '], /^tags must differ/],
  ['description', 'x'.repeat(2001), /^description must have at most 2000/],
  ['description', {}, /^description/],
  ['tags', 'a', /^tags must be an array/],
  ['tags', Array(21).fill('a'), /^tags must contain at most 20/],
  ['tags', ['x'.repeat(51)], /tags must have at most 50/],
  ['tags', [1], /tags must be an array of texts/],
  ['tags', null, /^tags/],
  ['color', 'red', /^color must be #RRGGBB/],
  ['color', '#12345', /^color/],
  ['color', '#1234567', /^color/],
  ['color', '#12345g', /^color/],
  ['color', '#123456\n', /^color/],
  ['color', 0x123456, /^color/],
  ['color', null, /^color must be #RRGGBB, or "" for none$/],
  ['color', ' ', /^color/],
  ['visibility', 'PUBLIC', /^visibility must be PRIVATE or SHARED/],
  ['visibility', ['SHARED'], /^visibility/],
  ['visibility', null, /^visibility/],
  ['visibility', '', /^visibility/],
];

bodies('limits and types of each field are a 400 that names the field', async () => {
  for (const path of [list, collection]) {
    for (const [field, value, words] of wrong) {
      const where = `${path.split('/')[3]} ${field} ${JSON.stringify(value).slice(0, 40)}`;
      const created = path.replace(/\/[0-9a-f-]{36}$/, '');
      refused(await ask(t, 'PATCH', path, alice, { [field]: value }), words, `PATCH ${where}`);
      refused(await ask(t, 'POST', created, alice, { name: 'N', [field]: value }), words, `POST ${where}`);
    }
  }
  refused(await ask(t, 'PATCH', list, alice, { icon: 'x'.repeat(51) }), /^icon must have at most 50/, 'icon');
  const ignored = await ask(t, 'PATCH', collection, alice, { icon: 'x'.repeat(51) });
  assert.is(ignored.status, 200, 'a collection has no icon');
  refused(await ask(t, 'POST', '/api/v1/lists', alice, {}), /^name is required/, 'no name');
});

bodies('an empty controlId is a 400 wherever a control is named, and changes nothing', async () => {
  for (const controlId of ['', ' \t ']) {
    const reference = { controlId, framework: 'nist-800-53' };
    for (const method of ['POST', 'DELETE']) {
      const message = /controlId must not be empty$/;
      refused(await ask(t, method, '/api/v1/my-controls', alice, reference), message, method);
      const good = { controlId: 'AC-1', framework: 'nist-800-53' };
      const body = { controls: [good, reference] };
      refused(await ask(t, method, `${collection}/controls`, alice, body), message, `${method} controls`);
    }
  }
  assert.is((await ask(t, 'GET', `${collection}/controls`, alice)).json.total, 0);
});

bodies('what is no object, no JSON or no UTF-8 is a 400', async () => {
  const targets: [string, string][] = [
    ['POST', '/api/v1/lists'],
    ['PATCH', list],
    ['POST', `${list}/stigs`],
    ['DELETE', `${list}/stigs`],
    ['PUT', `${list}/stigs/harbor_linux_3`],
    ['POST', '/api/v1/control-collections'],
    ['PATCH', collection],
    ['POST', `${collection}/controls`],
    ['DELETE', `${collection}/controls`],
    ['POST', '/api/v1/my-stigs'],
    ['DELETE', '/api/v1/my-stigs'],
    ['POST', '/api/v1/my-controls'],
    ['DELETE', '/api/v1/my-controls'],
  ];
  for (const [method, path] of targets) {
    for (const body of ['null', '[]', '"text"', '7', 'true', '', '{', '{"a":NaN}', '{"name":"a"}}', '[[[[']) {
      const answer = await ask(t, method, path, alice, body);
      assert.is(answer.status, 400, `${method} ${path} ${body}: ${answer.text.slice(0, 100)}`);
    }
    const deep = await ask(t, method, path, alice, '['.repeat(100_000));
    assert.is(deep.status, 400);
    const bytes = await t.get(path, {
      method,
      token: null,
      headers: alice,
      body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    });
    assert.is(bytes.status, 400);
  }
});

bodies('adds and removals name at least one thing, each of a known kind', async () => {
  for (const method of ['POST', 'DELETE']) {
    for (const path of [`${list}/stigs`, '/api/v1/my-stigs']) {
      for (const body of [{}, { slugs: [] }, { slugs: 'harbor_linux_3' }, { slugs: [1] }, { slugs: [null] }])
        refused(await ask(t, method, path, alice, body), /slugs/, JSON.stringify(body));
    }
    const path = `${collection}/controls`;
    for (const controls of [undefined, [], 'AC-2', ['AC-2'], [null]])
      refused(await ask(t, method, path, alice, { controls }), /controls/, JSON.stringify(controls));
    for (const framework of [undefined, 'nist-800-54', 'cci', '', null, 7, ['nist-800-53']]) {
      const entry = { controlId: 'AC-2', framework };
      refused(await ask(t, method, path, alice, { controls: [entry] }), /framework/, `${framework}`);
      refused(await ask(t, method, '/api/v1/my-controls', alice, entry), /framework/, `${framework}`);
    }
    refused(
      await ask(t, method, path, alice, { controls: [{ framework: 'dod-8500' }] }),
      /controlId/,
      'none',
    );
    refused(
      await ask(t, method, '/api/v1/my-controls', alice, { framework: 'dod-8500' }),
      /controlId/,
      'none',
    );
  }
  for (const position of [0, -1, 1.5, '2', null, 2 ** 31, 1e300, true])
    refused(
      await ask(t, 'PUT', `${list}/stigs/harbor_linux_3`, alice, { position }),
      /^position must be an integer from 1/,
      `${position}`,
    );
  refused(
    await ask(t, 'PUT', `${list}/stigs/harbor_linux_3`, alice, { notes: 'x'.repeat(4001) }),
    /4000/,
    'n',
  );
});

const awkward = [
  'emoji 👩🏽‍💻🇩🇪',
  'עברית \u202Eعربي\u202C',
  'e\u0301 combining \u0315\u0300\u05ae',
  '"quotes" \'and\' `ticks` \\ back',
  '<script>alert(1)</script> ]]> <!-- &amp;',
  '=HYPERLINK("http://x") ; DROP TABLE bundles;--',
  'line\r\nbreak\ttab \u0001\u001f\u007f\u0085\u2028\ufeff',
  '%00 %s $(x) {{y}}',
  '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \ufffd \uffff',
];

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

bodies('awkward texts come back as they were sent', async () => {
  for (const text of awkward) await roundTrip(text);
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

bodies('NUL and lone surrogates are a 400 in every text', async () => {
  const entry = `${list}/stigs/harbor_linux_3`;
  const replaced = t.db.sqlite
    .prepare('SELECT count(*) FROM bundles WHERE instr(name || description || tags || icon, char(65533)) > 0')
    .pluck();
  const before = replaced.get();
  for (const bad of ['\0', 'a\0b', '\ud800', 'a\udc00', '\udc00\ud800']) {
    const requests: [string, string, unknown][] = [
      ['POST', '/api/v1/lists', { name: bad }],
      ['POST', '/api/v1/lists', { name: 'N', description: bad }],
      ['POST', '/api/v1/lists', { name: 'N', tags: ['a', bad] }],
      ['POST', '/api/v1/lists', { name: 'N', icon: bad }],
      ['POST', '/api/v1/lists', { name: 'N', color: bad }],
      ['POST', '/api/v1/lists', { name: 'N', visibility: bad }],
      ['PATCH', list, { name: bad }],
      ['PATCH', list, { description: bad }],
      ['POST', `${list}/stigs`, { slugs: [bad] }],
      ['DELETE', `${list}/stigs`, { slugs: [bad] }],
      ['PUT', entry, { notes: bad }],
      ['POST', '/api/v1/control-collections', { name: bad }],
      ['PATCH', collection, { tags: [bad] }],
      ['POST', `${collection}/controls`, { controls: [{ ...ac2, controlId: bad }] }],
      ['POST', `${collection}/controls`, { controls: [{ ...ac2, notes: bad }] }],
      ['DELETE', `${collection}/controls`, { controls: [{ ...ac2, controlId: bad }] }],
      ['POST', '/api/v1/my-stigs', { slugs: [bad] }],
      ['DELETE', '/api/v1/my-stigs', { slugs: [bad] }],
      ['POST', '/api/v1/my-controls', { ...ac2, controlId: bad }],
      ['DELETE', '/api/v1/my-controls', { ...ac2, controlId: bad }],
    ];
    for (const [method, path, body] of requests) {
      const answer = await ask(t, method, path, alice, body);
      assert.is(answer.status, 400, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`);
      assert.ok(answer.json.error.message.isWellFormed());
    }
  }
  assert.is(replaced.get(), before, 'nothing was stored with a replacement character');
});

bodies.run();
