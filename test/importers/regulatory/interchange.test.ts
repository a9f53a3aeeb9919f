import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { type ImportResult, runImport } from '../../../importers/run.ts';
import { sha256 } from '../../../src/base/ids.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { ask, type Caller, userCaller } from '../../support/callers.ts';
import { suite } from '../../support/harness.ts';
import { shipped } from '../../support/reference.ts';
import { put, scratchFolder } from '../../support/scratch.ts';

const interchange = suite('The interchange of regulatory documents');

const folder = scratchFolder();
// biome-ignore lint/suspicious/noExplicitAny: documents are bent in every way
type Loose = any;
const sample = (id = 'harbor-basic-directive'): Loose => {
  const value = JSON.parse(readFileSync(shipped('regulatory', 'harbor-basic-directive.json'), 'utf8'));
  value.document.documentId = id;
  return value;
};

let t: TestApp;
let alice: Caller;
let count = 0;

interchange.before.each(async () => {
  t = await testApp([shipped('regulatory')]);
  alice = await userCaller(t, { entitlements: ['regdoc'] });
});

interchange.after.each(() => t.db.close());

const load = (text: string): Promise<ImportResult> => runImport(t.db, [put(folder, `${++count}`, text)]);
const get = async (path: string) => ask(t, 'GET', `/api/v1/regdoc${path}`, alice);
const ids = async () =>
  (await get('')).json.documents.map((each: { documentId: string }) => each.documentId).sort();

interchange('a document is answered as its source states it, defaults filled in', async () => {
  const bare = {
    formatVersion: '1',
    document: { documentId: 'x:1', title: 'T', publisher: 'P', doctype: 'law', published: '2020-02-29' },
    signposts: [
      { tag: 'a', inferenceText: 'b', nistCsf: [{ csfCategoryName: 'policy' }, { csfCategory: 'PR.AC' }] },
    ],
    actionableItems: [{ actionId: '1', text: 't' }],
  };
  const { lines } = await load(JSON.stringify(bare));
  assert.is(lines[0]!.kind, 'regdoc');
  assert.is(lines[0]!.target, 'x:1');
  assert.equal(lines[0]!.warnings, ['document "x:1": PR.AC is a category of CSF 1.1']);
  const { id: _, ...document } = (await get('/x:1')).json;
  const { signposts, actionableItems, ...head } = document;
  assert.is(
    JSON.stringify(head),
    '{"documentId":"x:1","title":"T","status":"active","publisher":"P","publisherId":"","doctype":"law",' +
      '"published":"2020-02-29","cyberScore":null,"jurisdiction":"","signpostCount":1,"actionableItemCount":1,' +
      '"sectorLevel1":null,"sectorLevel2":null,"sectorLevel3":null,"sectorLevel4":null,"authoritative":false,' +
      '"sourceUrl":"","restriction":null}',
  );
  const [policy, access] = signposts[0].nistCsf;
  assert.equal(policy, { csfFunction: 'GV', csfCategory: 'GV.PO', csfCategoryName: 'Policy' });
  assert.equal(access, { csfFunction: 'PR', csfCategory: 'PR.AC', csfCategoryName: '' });
  assert.is(
    JSON.stringify(actionableItems),
    '[{"actionId":"1","text":"t","originText":"","sourceReference":"","pageIndex":0,"obligation":false,"psc":false,' +
      '"specification":false,"timingOrTrigger":false,"applicationConditions":"","exemptConditions":""}]',
  );
});

// What a reference states, as function, category and name; what is served of it; and the warnings, each after a bar.
const references = `
  | GV.OC | Policy                  => GV GV.OC Organizational Context | GV.OC is "Organizational Context", not "Policy"
  PR | GV.OC |                      => GV GV.OC Organizational Context | GV.OC is of the function GV, not "PR"
  Protect | | Policy                => GV GV.PO Policy | GV.PO is of the function GV, not "Protect"
  x | gv.oc | y                     => GV GV.OC Organizational Context | GV.OC is of the function GV, not "x" | GV.OC is "Organizational Context", not "y"
  | gv.oc |                         => GV GV.OC Organizational Context
  | | organizational  CONTEXT       => GV GV.OC Organizational Context
  govern | GV.OC | ORGANIZATIONAL CONTEXT => GV GV.OC Organizational Context
  DE | id.rm | Risk Strategy        => ID ID.RM Risk Strategy | ID.RM is a category of CSF 1.1 | ID.RM is of the function ID, not "DE"
  PR | XX.YY | Policy               => PR XX.YY Policy | "XX.YY" is not a category of the CSF
  | | Polcy                         =>   Polcy | "Polcy" is not a category of the CSF
  Govern | |                        => GV   | "Govern" is not a category of the CSF
  | gv.oc-01 |                      => GV GV.OC Organizational Context | gv.oc-01 is a subcategory: its category GV.OC is used
  | XX.YY-01 |                      => XX XX.YY-01  | "XX.YY-01" is not a category of the CSF
  | |                               =>   | a reference does not name a category of the CSF`;

interchange('of a CSF reference that contradicts itself the category counts, with a warning', async () => {
  const rows = references
    .trim()
    .split('\n')
    .map((line) => line.split('=>') as [string, string]);
  for (const [stated, expected] of rows) {
    const id = `csf-${count}`;
    const value = sample(id);
    const [csfFunction, csfCategory, csfCategoryName] = stated.split('|').map((cell) => cell.trim());
    value.signposts = [
      { tag: 'a', inferenceText: 'b', nistCsf: [{ csfFunction, csfCategory, csfCategoryName }] },
    ];
    const [line] = (await load(JSON.stringify(value))).lines;
    assert.is(line!.outcome, 'imported');
    const [served] = (await get(`/${id}`)).json.signposts[0].nistCsf;
    const found = [served.csfFunction, served.csfCategory, served.csfCategoryName].join(' ');
    const said = line!.warnings.map((warning) => warning.replace(`document "${id}": `, ''));
    assert.is(
      [found, ...said].join(' | ').replaceAll(/ +/g, ' ').trim(),
      expected.replaceAll(/ +/g, ' ').trim(),
      stated,
    );
  }
});

interchange(
  'an array and one document on each line, which may begin with any of its keys, are read alike',
  async () => {
    await load(JSON.stringify([sample('a-1'), sample('a-2'), sample('a-3')]));
    const lines = [sample('b-1'), sample('b-2')].map((each) => {
      const { formatVersion, document, ...lists } = each;
      return JSON.stringify({ ...lists, document, formatVersion });
    });
    assert.is((await load(`${lines.join('\n')}\n`)).lines[0]!.outcome, 'imported');
    const broken = (await load(`${lines[0]}\n${lines[1]!.slice(0, -9)}\n`)).lines[0]!;
    assert.equal([broken.kind, broken.outcome], ['regdoc', 'rejected']);
    assert.match(broken.reason!, /^line 2: not valid JSON: /);
    const own = ['harbor-basic-directive', 'lantern-web-guideline'];
    assert.equal(await ids(), ['a-1', 'a-2', 'a-3', 'b-1', 'b-2', ...own]);
  },
);

interchange('two texts of one date both stay; a later date replaces both', async () => {
  const first = JSON.stringify(sample());
  const changed = sample();
  changed.document.title = 'Changed';
  changed.actionableItems = [];
  const second = JSON.stringify(changed);
  const served = async () => (await ids()).filter((id: string) => id.startsWith('harbor-basic-directive'));
  const own = readFileSync(shipped('regulatory', 'harbor-basic-directive.json'));
  const [, other] = [sha256(own), sha256(second)].sort();
  const { lines } = await load(second);
  assert.is(lines[0]!.outcome, 'imported');
  const both = ['harbor-basic-directive', `harbor-basic-directive-${other!.slice(0, 8)}`];
  assert.equal(await served(), both);
  assert.is(lines[0]!.target, sha256(second) === other ? both[1] : both[0]);
  assert.match(
    lines[0]!.warnings[0]!,
    /^the document harbor-basic-directive has another text in .*: both stay, /,
  );
  // The same document in another layout of its JSON.
  const again = (await load(first)).lines[0]!;
  assert.equal([again.outcome, again.counts.documents], ['superseded', 1]);
  assert.match(again.reason!, /^harbor-basic-directive is superseded: .* has the same text$/);
  changed.document.published = '2027-01-01';
  const later = (await load(JSON.stringify(changed))).lines[0]!;
  assert.is(later.warnings.length, 2);
  assert.match(later.warnings[0]!, /, imported before: .* states it as of 2027-01-01, a later date$/);
  assert.equal(await served(), ['harbor-basic-directive']);
  for (const text of [first, second]) assert.is((await load(text)).lines[0]!.outcome, 'superseded');
  assert.equal((await get('/harbor-basic-directive')).json.published, '2027-01-01');
});

// A path into the document, the JSON to put there (none removes it), and the place and fault that are told.
const broken = String.raw`
  document/foo              | 1            | /document/foo: unknown key
  foo                       | 1            | /foo: unknown key
  actionableItems/2/a~b     | 1            | /actionableItems/2/a~1b: unknown key
  document/signpostCount    | 5            | /document/signpostCount: unknown key
  formatVersion             | "2"          | /formatVersion: expected "1"
  document/published        | "2023-02-29" | /document/published:
  document/documentId       | "a/b"        | /document/documentId:
  document/cyberScore       | 1.5          | /document/cyberScore:
  signposts/0/page          | 0            | /signposts/0/page:
  actionableItems/1/actionId | "HBD-1"     | /actionableItems/1/actionId: "HBD-1" occurs twice
  signposts/0/tag           | "a\ud800"    | /signposts/0/tag: a text with
  document/title            |              | /document/title:
  actionableItems/0/psc     | "no"         | /actionableItems/0/psc:`;

interchange('what is wrong rejects the source, naming document and place', async () => {
  const before = (await get('')).text;
  for (const row of broken.trim().split('\n')) {
    const [path, json, reason] = row.split('|').map((cell) => cell.trim()) as [string, string, string];
    const bad = sample('bad');
    const names = path.split('/').map((name) => name.replace('~', '/'));
    const last = names.pop()!;
    const target = names.reduce((value, name) => value[name], bad);
    if (json === '') delete target[last];
    else target[last] = JSON.parse(json);
    const named = path.endsWith('documentId') ? 'document "a/b": ' : 'document "bad": ';
    for (const [text, place] of [
      [JSON.stringify(bad), ''],
      [JSON.stringify([sample('good'), bad]), '/1'],
      [`${JSON.stringify(sample('good'))}\n\n${JSON.stringify(bad)}\n`, 'line 3: '],
    ] as const) {
      const { kind, outcome, reason: said } = (await load(text)).lines[0]!;
      assert.equal([kind, outcome], ['regdoc', 'rejected'], row);
      assert.ok(said!.startsWith(`${named}${place}${reason}`), said!);
    }
  }
  assert.is((await get('')).text, before);
});

interchange('a member that occurs twice rejects the source, by its place', async () => {
  const text = JSON.stringify(sample('a-1'));
  const twice = (from: string, to: string) => {
    assert.is(text.split(from).length, 2, from);
    return text.replace(from, to);
  };
  const title = twice('"documentId":', '"title":"other","documentId":');
  const item = twice('"signposts":[', '"signposts":[{"tag":"a","inferenceText":"b","tag":"c"},');
  const cases: [string, string][] = [
    [title, '/document/title occurs twice'],
    [title.replace('"title":"other"', '"\\u0074itle" : "other"'), '/document/title occurs twice'],
    [
      title.replace('"title":"other"', `"title":${JSON.stringify(sample().document.title)}`),
      '/document/title occurs twice',
    ],
    [twice('"documentId":', '"x/~y":1,"x/~y":2,"documentId":'), '/document/x~1~0y occurs twice'],
    [item, '/signposts/0/tag occurs twice'],
    [text.replace(/}$/, ',"formatVersion":"1"}'), '/formatVersion occurs twice'],
    [`[${JSON.stringify(sample('a-0'))},${item}]`, '/1/signposts/0/tag occurs twice'],
    [`${JSON.stringify(sample('a-0'))}\n${title}\n`, 'line 2: /document/title occurs twice'],
  ];
  const before = await ids();
  for (const [bad, reason] of cases) {
    const { lines } = await load(bad);
    assert.equal([lines[0]!.kind, lines[0]!.outcome, lines[0]!.reason], ['regdoc', 'rejected', reason]);
    assert.equal(await ids(), before);
  }
  assert.is((await load(text)).lines[0]!.outcome, 'imported');
});

interchange('one document twice in one source, a damaged file, a damaged line', async () => {
  const [twice] = (await load(JSON.stringify([sample('a'), sample('a')]))).lines;
  assert.is(twice!.reason, 'the document a occurs twice');
  const [damaged] = (await load(JSON.stringify(sample('a')).slice(0, -5))).lines;
  assert.equal([damaged!.kind, damaged!.outcome], ['regdoc', 'rejected']);
  const [line] = (await load(`${JSON.stringify(sample('a'))}\n{"formatVersion": "1", \n`)).lines;
  assert.match(line!.reason!, /^line 2: not valid JSON/);
  const [deep] = (await load(`{"formatVersion":${'['.repeat(5000)}${']'.repeat(5000)}}`)).lines;
  assert.match(deep!.reason!, /nested deeper than 64/);
  const prototype = `{"formatVersion":"1","__proto__":{"a":1},${JSON.stringify(sample('a')).slice(1)}`;
  assert.is((await load(prototype)).lines[0]!.outcome, 'rejected');
});

interchange.run();
