import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { jsonLimits, refuseHeavyJson } from '../../src/base/json.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

// Checklists that lie, are damaged, or want to cost much: a 400 with one clear message, never a 500.
const hostile = suite('Hostile checklists');

const path = '/api/v1/checklists/upgrade';
let t: TestApp;
let old: Cklb;

hostile.before(async () => {
  t = await testApp([shipped('stigs')]);
  old = (await t.get('/api/v1/stigs/harbor_linux_3/download?version=V1R1&hostName=h')).json;
});
hostile.after(() => t.db.close());

const send = (checklist: unknown, more: object = {}): Promise<Answer> =>
  t.send('POST', path, { slug: 'harbor_linux_3', checklist, ...more });

function assertRefused(answer: Answer, words: RegExp, where: string): void {
  assert.is(answer.status, 400, `${where}: ${answer.text.slice(0, 200)}`);
  assert.is(answer.json.error.code, 'BAD_REQUEST');
  assert.match(answer.json.error.message, words, where);
  assert.ok(answer.json.error.message.length <= 300, where);
}

hostile('the request itself', async () => {
  const cases: [body: unknown, words: RegExp][] = [
    ['', /not valid JSON/],
    ['null', /Invalid input|object/],
    ['[]', /Invalid input|object/],
    ['{', /not valid JSON/],
    [{}, /^checklist must be the text/],
    [{ slug: 'a' }, /^checklist must be the text/],
    [{ slug: 7, checklist: {} }, /^slug must be one text/],
    [{ slug: 'a', checklist: null }, /^checklist must be the text/],
    [{ slug: 'a', checklist: [] }, /^checklist must be the text/],
    [{ slug: 'a', checklist: 5 }, /^checklist must be the text/],
    [{ slug: 'a', checklist: {}, version: 8 }, /^version must be one text/],
    [{ slug: 'a', checklist: {}, onChange: 'drop' }, /^onChange must be keep or reset/],
    [{ slug: 'a', checklist: {}, hostName: 'x'.repeat(256) }, /^hostName must have at most 255/],
    [{ slug: 'a\0', checklist: {} }, /^slug must not contain NUL/],
  ];
  for (const [body, words] of cases)
    assertRefused(await t.send('POST', path, body), words, JSON.stringify(body).slice(0, 60));
  assertRefused(
    await t.send('POST', `${path}?download=maybe`, { slug: 'a', checklist: {} }),
    /^download/,
    'flag',
  );
});

hostile('what is no checklist', async () => {
  const cases: [unknown, RegExp][] = [
    ['', /neither a \.ckl \(XML\) nor a \.cklb \(JSON\)/],
    ['   \n', /neither/],
    ['PK\u0003\u0004', /neither/],
    ['[1,2]', /neither/],
    ['{', /^checklist: the text is not valid JSON/],
    ['{"stigs": [}', /not valid JSON/],
    [{}, /has no stigs/],
    [{ stigs: [] }, /has no stigs/],
    [{ stigs: {} }, /has no stigs/],
    ['{"stigs":null}', /has no stigs/],
    [{ stigs: [null] }, /has no stigs/],
    [{ stigs: [7] }, /: STIG 1 must be an object/],
    [{ stigs: [[]] }, /: STIG 1 must be an object/],
    [{ stigs: [{ rules: 'SV-1' }] }, /: rules of STIG 1 must be an array/],
    [{ stigs: [{ rules: [1] }] }, /: rule 1 of STIG 1 must be an object/],
    [{ stigs: [{ rules: [{}] }] }, /: severity of a rule in a STIG without a name must be high/],
    [
      { stigs: [{ rules: [{ severity: 'low' }] }] },
      /^checklist: rule 1 in a STIG without a name has no rule id/,
    ],
  ];
  for (const [checklist, words] of cases)
    assertRefused(await send(checklist), words, JSON.stringify(checklist).slice(0, 60));
});

hostile('each field of a wrong type is named with its place', async () => {
  const rule = old.stigs[0]!.rules[3]!;
  for (const name of Object.keys(rule)) {
    // Nobody reads the one; the others take a number or a word for their text.
    if (name === 'stig_uuid') continue;
    for (const value of [{ a: 1 }, ['a', 1], Number.MAX_VALUE, true]) {
      // One node of the tree may stand alone.
      const isObject = ['overrides', 'check_content_ref', 'group_tree'].includes(name);
      const isScalar = name === 'weight' || name === 'documentable';
      if (isObject && !Array.isArray(value) && typeof value === 'object') continue;
      if (isScalar && typeof value !== 'object') continue;
      const rules = old.stigs[0]!.rules.with(3, { ...rule, [name]: value });
      const given = { ...old, stigs: [{ ...old.stigs[0]!, rules }] };
      const place = name === 'group_tree' && Array.isArray(value) ? 'group_tree\\[0\\]' : name;
      const words = new RegExp(`^checklist: ${place} of rule 4 of STIG 1 must be `);
      assertRefused(await send(given), words, `${name} ${JSON.stringify(value)}`);
    }
  }
  for (const [name, value] of [
    ['title', 7],
    ['active', 'yes'],
    ['mode', '1'],
    ['target_data', 'web01'],
    ['id', { a: 1 }],
  ] as const)
    assertRefused(await send({ ...old, [name]: value }), new RegExp(`^checklist: ${name} must be `), name);
});

hostile('an unknown status or severity, and a rule that is there twice', async () => {
  const [first, ...rest] = old.stigs[0]!.rules;
  const withRules = (rules: object[]) => ({ ...old, stigs: [{ ...old.stigs[0]!, rules }] });
  const cases: [object, RegExp][] = [
    [
      { ...first, status: 'passed' },
      /: status of V-900001 in Harbor Linux 3 .*must be Not_Reviewed, Not_Applicable, Open or NotAFinding, not "passed"$/,
    ],
    [
      { ...first, status: `not_a_finding${' '.repeat(100)}x` },
      /: status of V-900001 in Harbor Linux 3 .*must be/,
    ],
    [
      { ...first, severity: 'critical' },
      /: severity of V-900001 in Harbor Linux 3 .*must be high, medium or low, not "critical"$/,
    ],
    [{ ...first, severity: ' ' }, /: severity of V-900001 in Harbor Linux 3 .*must be high, medium or low$/],
    [{ ...first, severity: 'x'.repeat(500) }, /, not "x{64}"$/],
    [{ ...first, rule_id: rest[1]!.rule_id }, /: V-\d+ in Harbor Linux 3 .*repeats the rule SV-/],
  ];
  for (const [rule, words] of cases) {
    assertRefused(await send(withRules([rule, ...rest])), words, words.source);
  }
  const twice = writeCkl(old).replace(/(<VULN>[\s\S]*?<\/VULN>)/, '$1$1');
  assertRefused(await send(twice), /: V-\d+ in Harbor Linux 3 .*repeats the rule/, 'ckl');
});

hostile('a ckl that is damaged or is something else', async () => {
  const whole = writeCkl(old);
  const cases: [string, RegExp][] = [
    ['<', /^checklist: /],
    ['<CHECKLIST>', /unclosed tag/],
    [whole.slice(0, whole.length / 2), /^checklist: /],
    [whole.replace('</VULN>', '</VULM>'), /unexpected close tag/],
    [whole.replace('<STATUS>', '<STATUS a=b>'), /^checklist: /],
    ['<Benchmark id="x"/>', /must begin with <CHECKLIST>, not <Benchmark>/],
    [`<${'x'.repeat(100_000)}/>`, /^checklist: must begin with <CHECKLIST>, not <x{64}>/],
    ['<html><body>Sign in</body></html>', /must begin with <CHECKLIST>, not <html>/],
    ['<CHECKLIST></CHECKLIST>', /has no stigs/],
    ['<CHECKLIST><STIGS><iSTIG/></STIGS></CHECKLIST>', /none of its STIGs is/],
    [whole.replace('</STATUS>', '</STATUS><STATUS>Open</STATUS>'), /VULN\[1\] contains STATUS twice/],
    [whole.replace('<HOST_NAME>', '<HOST_NAME>a</HOST_NAME><HOST_NAME>'), /ASSET contains HOST_NAME twice/],
    [whole.replace('<COMMENTS>', '<COMMENTS>\0'), /^checklist: /],
    [whole.replace('<COMMENTS>', '<COMMENTS>\ud800'), /lone surrogates/],
    [whole.replace('<COMMENTS>', '<COMMENTS>&#0;'), /^checklist: /],
    [whole.replace('<COMMENTS>', '<COMMENTS>&nbsp;'), /undefined entity/],
    [`${whole}<CHECKLIST/>`, /^checklist: /],
  ];
  for (const [text, words] of cases) assertRefused(await send(text), words, text.slice(0, 60));
  assert.is((await send(whole)).status, 200);
});

hostile('a ckl whose end is written as few write it is read once, not twice', async () => {
  const usual = await send(writeCkl(old).replace('</STIGS>', '<x:y xmlns:x="z"></x:y></STIGS>'));
  const seldom = await send(writeCkl(old).replace('</STIGS>', '<x:y xmlns:x = "z"></x:y></STIGS>'));
  assert.equal([usual.status, seldom.status], [200, 200]);
  assert.equal(seldom.json, usual.json);
});

hostile('entities, bombs and external references are refused with their DOCTYPE', async () => {
  const body = writeCkl(old).replace(/^.*\n/, '');
  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
    '',
  );
  for (const doctype of [
    '<!DOCTYPE CHECKLIST [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
    '<!DOCTYPE CHECKLIST SYSTEM "http://127.0.0.1:1/x.dtd">',
    `<!DOCTYPE CHECKLIST [<!ENTITY l0 "lol">${laughs}]>`,
    '<!DOCTYPE CHECKLIST>',
  ]) {
    const text = `<?xml version="1.0"?>${doctype}${body.replace('<COMMENTS>', '<COMMENTS>&x;&l9;')}`;
    assertRefused(await send(text), /^checklist: a DOCTYPE is not allowed/, doctype);
  }
});

hostile('depth, names and numbers of a ckl are bounded', async () => {
  const inside = (xml: string) => `<CHECKLIST><ASSET>${xml}</ASSET></CHECKLIST>`;
  const cases: [string, RegExp][] = [
    [`${'<CHECKLIST>'.repeat(100_000)}`, /nested deeper than 10/],
    [inside(`<${'n'.repeat(65)}/>`), /element name of more than 64/],
    [inside('<a/>'.repeat(2_000_001)), /more than 2000000 elements/],
    [inside('<a>x</a>'.repeat(100_001)), /more than 100000 fields/],
    [
      inside(`<a ${Array.from({ length: 65 }, (_, n) => `a${n}="x"`).join(' ')}/>`),
      /more than 64 attributes/,
    ],
    [`<CHECKLIST><STIGS>${'<iSTIG/>'.repeat(101)}</STIGS></CHECKLIST>`, /more than 100 STIGs/],
    // What takes most memory of all: a text in millions of pieces.
    [inside(`<HOST_NAME>ж${'&lt;'.repeat(8_000_000)}</HOST_NAME>`), /has no stigs/],
  ];
  for (const [text, words] of cases) assertRefused(await send(text), words, words.source);
});

hostile('depth, values and rules of a cklb are bounded before it is parsed', async () => {
  const { depth, values } = jsonLimits;
  const nested = `${'['.repeat(10_000_000)}`;
  const cases: [string, RegExp][] = [
    [`{"slug":"harbor_linux_3","checklist":${nested}`, new RegExp(`nested deeper than ${depth}`)],
    [
      `{"slug":"a","checklist":{"stigs":[${'{},'.repeat(values)}{}]}}`,
      new RegExp(`more than ${values} values`),
    ],
    [JSON.stringify({ slug: 'a', checklist: `{"stigs":${nested}` }), /checklist is nested deeper/],
    [
      JSON.stringify({ slug: 'a', checklist: `{"stigs":[${'0,'.repeat(values)}0]}` }),
      /more than 1000000 values/,
    ],
  ];
  for (const [body, words] of cases) assertRefused(await t.send('POST', path, body), words, words.source);
  const rules = Array.from({ length: 20_001 }, (_, n) => ({ rule_id: `SV-${n}r1`, severity: 'low' }));
  assertRefused(await send({ stigs: [{ rules }] }), /more than 20000 rules/, 'rules');
  assertRefused(await send({ stigs: Array(101).fill({}) }), /more than 100 STIGs/, 'stigs');
  const unknown = Object.fromEntries(Array.from({ length: 100_001 }, (_, n) => [`k${n}`, 1]));
  assertRefused(await send({ ...old, ...unknown }), /more than 100000 fields/, 'fields');
});

hostile('32 MiB is the limit, and what fits is read', async () => {
  const limit = 32 * 1024 * 1024;
  const over = await t.send('POST', path, ' '.repeat(limit + 1));
  assert.equal([over.status, over.json.error.code], [413, 'PAYLOAD_TOO_LARGE']);
  assertRefused(await t.send('POST', path, ' '.repeat(limit)), /not valid JSON/, 'blanks');
  const comments = 'x'.repeat(16 * 1024 * 1024);
  const [first, ...rest] = old.stigs[0]!.rules;
  const large = { ...old, stigs: [{ ...old.stigs[0]!, rules: [{ ...first, comments }, ...rest] }] };
  const { status, json } = await send(large);
  assert.is(status, 200);
  assert.is(json.checklist.stigs[0].rules[0].comments.length, comments.length);
  // Elsewhere the limit is the smaller one.
  const batch = await t.send('POST', '/api/v1/stigs/batch', { slugs: [comments] });
  assert.is(batch.status, 413);
});

hostile('__proto__ and constructor are names like others', async () => {
  const evil = '{"status":"open","polluted":true}';
  const text = JSON.stringify(old)
    .replace(
      '"target_data":{',
      `"__proto__":${evil},"constructor":{"prototype":${evil}},"target_data":{"__proto__":${evil},`,
    )
    .replace('"rules":[{', `"rules":[{"__proto__":${evil},"toString":"x","hasOwnProperty":1,`);
  for (const body of [
    JSON.stringify({ slug: 'harbor_linux_3', checklist: text }),
    `{"slug":"harbor_linux_3","__proto__":{"onChange":"reset"},"checklist":${text}}`,
  ]) {
    const { status, json } = await t.send('POST', path, body);
    assert.is(status, 200);
    assert.is(({} as { polluted?: boolean }).polluted, undefined);
    assert.is(json.checklist.stigs[0].rules[0].status, 'not_reviewed');
    assert.is(json.report.summary.reset, 0);
    assert.equal(
      json.report.notCarried.flatMap((each: { path?: string }) => each.path ?? []),
      [
        'target_data.__proto__',
        'stigs[0].rules[0].__proto__',
        'stigs[0].rules[0].toString',
        'stigs[0].rules[0].hasOwnProperty',
        '__proto__',
        'constructor',
      ],
    );
  }
  const ckl = writeCkl(old, {
    inAsset: '<__proto__>x</__proto__><constructor>y</constructor>',
    inRule:
      '<STIG_DATA><VULN_ATTRIBUTE>__proto__</VULN_ATTRIBUTE><ATTRIBUTE_DATA>z</ATTRIBUTE_DATA></STIG_DATA>',
  });
  const { status, json } = await send(ckl);
  assert.is(status, 200);
  assert.equal(
    json.report.notCarried.flatMap((each: { kind: string; value?: unknown }) =>
      each.kind === 'field' ? [each.value] : [],
    ),
    ['x', 'y', ...Array(14).fill('z')],
  );
});

hostile('any JSON as a checklist is a 200 or a 400, never a 500', async () => {
  const names = [
    'stigs',
    'rules',
    'stig_id',
    'rule_id',
    'severity',
    'status',
    'overrides',
    'target_data',
    'group_tree',
  ];
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom('low', 'open', 'Harbor_Linux_3_STIG', 'SV-900001r100010_rule', ''),
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie('value'), {
        maxKeys: 5,
        noNullPrototype: true,
      }),
    ),
  })).value;
  const rule = fc.dictionary(
    fc.constantFrom('rule_id', 'severity', 'status', 'comments', 'ccis', 'x'),
    value,
    {
      noNullPrototype: true,
    },
  );
  const checklist = fc.oneof(
    value,
    fc.record({
      stigs: fc.array(
        fc.record({ stig_id: fc.constant('Harbor_Linux_3_STIG'), rules: fc.array(rule, { maxLength: 3 }) }),
        { maxLength: 2 },
      ),
    }),
  );
  await fc.assert(
    fc.asyncProperty(checklist, async (given) => {
      const { status } = await send(given);
      assert.ok(status === 200 || status === 400, `${status}`);
    }),
    { numRuns: 300 },
  );
});

hostile('the count of JSON before it is parsed, against the parsed value', () => {
  const countOf = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : 1 +
        Math.max(0, Object.keys(value).length - 1) +
        Object.values(value).reduce<number>((sum, each) => sum + countOf(each), 0);
  const depthOf = (value: unknown): number =>
    typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ',', '}', ']', 'a', '\n') });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      text,
      fc.integer(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(value, (given) => {
      const json = JSON.stringify(given);
      const [depth, values] = [depthOf(given), countOf(given)];
      refuseHeavyJson(json, 'it', { depth, values });
      if (depth === 0) return;
      const shallow = { depth: depth - 1, values };
      assert.throws(() => refuseHeavyJson(json, 'it', shallow), /^it is nested deeper than \d+ levels$/);
      const few = { depth, values: values - 1 };
      assert.throws(() => refuseHeavyJson(json, 'it', few), /^it contains more than \d+ values$/);
    }),
    { numRuns: 500 },
  );
});

hostile.run();
