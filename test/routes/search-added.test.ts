import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import type { SampleRule } from '../support/xccdf-writer.ts';
import { readSheet } from '../support/xlsx-reader.ts';

// What the second reading adds (rule D35.1): in which order, under which filters, and what of it files hold.

let number = 40_000;
const filler = 'Nothing else is said here at all.';
/** A rule with one text that differs; all are of the same length. */
const rule = (title: string, more: Partial<SampleRule> = {}): SampleRule => {
  number++;
  return {
    groupId: `V-${number}`,
    ruleId: `SV-${number}r1_rule`,
    version: `CRAKE-00-${number}`,
    groupTitle: `SRG-OS-${number}-GPOS-00001`,
    title,
    description: `<VulnDiscussion>${filler}</VulnDiscussion>`,
    checks: [filler],
    fixTexts: [filler],
    ccis: ['CCI-000015'],
    ...more,
  };
};

const inTitle = rule('Set heron');
const inCheck = rule('Set other', { checks: ['Nothing else but heron is said here.'] });
const both = rule('Set heron egret', { severity: 'low' });
const bySynonym = rule('Set ardea');
const common = Array.from({ length: 30 }, () => rule('Set egret'));
const sameRequirement = ['one', 'two', 'three'].map((word) =>
  rule(`Set bittern ${word}`, { groupTitle: 'SRG-OS-1-GPOS-1' }),
);
const otherRequirement = rule('Set bittern four or five or six');
// Of two equal rules the one whose requirement the question fits comes first: the SRG words it otherwise.
const unlike = rule('Set grus corvus');
const implementing = rule('Set grus corvus', { groupTitle: 'SRG-OS-777-GPOS-1' });
const requirements = [
  rule('The system must guard the plover', { version: 'SRG-OS-777-GPOS-00001', groupTitle: 'SRG-OS-777' }),
  rule('The system must count the dunlin', { version: 'SRG-OS-778-GPOS-00001', groupTitle: 'SRG-OS-778' }),
];
const crake = [
  ...[inCheck, inTitle, both, bySynonym, ...common, ...sameRequirement, otherRequirement],
  ...[unlike, implementing],
];
const rail = [
  rule('Set heron', { severity: 'high', ccis: ['CCI-000366'] }),
  ...Array.from({ length: 3 }, () => rule('Set rallus', { severity: 'high' })),
  // Ten with both words, of which one alone cites the CCI.
  ...Array.from({ length: 10 }, (_, index) =>
    rule('Set sora gallinule', { ccis: [index === 0 ? 'CCI-000366' : 'CCI-000015'] }),
  ),
  rule('Set sora', { ccis: ['CCI-000366'] }),
];

const added = suite('What the second reading adds');
let t: TestApp;

added.before(async () => {
  t = await testApp([
    writeBenchmarks([
      {
        id: 'Crake_Linux_9_STIG',
        title: 'Crake Linux 9 Security Technical Implementation Guide',
        rules: crake,
      },
      {
        id: 'Birds_SRG',
        title: 'Birds Security Requirements Guide',
        rules: requirements,
      },
      { id: 'Rail_Server_STIG', title: 'Rail Server Security Technical Implementation Guide', rules: rail },
    ]),
    put(scratchFolder(), 'synonyms.csv', 'words,reason\nheron;ardea,\n'),
    shipped(),
  ]);
});
added.after(() => t.db.close());

async function ask(q: string, more = '') {
  const answer = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}&limit=100${more}`);
  assert.is(answer.status, 200, `${q}: ${answer.text.slice(0, 200)}`);
  return answer.json;
}
const groups = async (q: string, more = ''): Promise<string[]> =>
  (await ask(q, more)).results.map((each: { groupId: string }) => each.groupId);
const ids = (...rules: SampleRule[]) => rules.map(({ groupId }) => groupId!);

added('the best come first: both words, the title, the text, then a synonym', async () => {
  const [first, ...others] = await groups('heron egret zzz', '&stig=crake_linux_9');
  assert.is(first, both.groupId);
  const places = ids(inTitle, inCheck, bySynonym).map((id) => others.indexOf(id));
  assert.ok(!places.includes(-1));
  assert.ok(places[0]! < places[1]!, 'the title counts more than the check');
  assert.ok(places[0]! < places[2]!, 'a word counts more than its synonym');
  assert.equal(
    others.filter((id) => ids(...common).includes(id)),
    ids(...common),
    'equal ones in document order',
  );
  const [synonym] = (await ask('heron', '&stig=crake_linux_9')).results.slice(3);
  assert.is(synonym.groupId, bySynonym.groupId);
  assert.equal(
    synonym.snippet.marks.map(([from, to]: number[]) => synonym.snippet.text.slice(from, to)),
    ['ardea'],
    'the reason is marked',
  );
  assert.equal(
    (await groups('heron zzz')).slice(0, 3).sort(),
    ids(both, inTitle, rail[0]!).sort(),
    'of every STIG',
  );
});

added('rules of one requirement give way to another that is nearly as good', async () => {
  const found = await groups('bittern zzz');
  assert.equal([...found].sort(), ids(...sameRequirement, otherRequirement).sort());
  assert.is(found[0], sameRequirement[0]!.groupId);
  assert.is(found[1], otherRequirement.groupId);
});

added('a rule comes first whose requirement fits the question in the words of the SRG', async () => {
  assert.equal(await groups('corvus zzz', '&stig=crake_linux_9'), ids(unlike, implementing));
  for (const q of ['guard the plover grus', 'plover corvus', 'PLOVERS corvus'])
    assert.equal((await groups(q, '&stig=crake_linux_9')).slice(0, 2), ids(implementing, unlike), q);
  assert.equal((await groups('dunlin corvus', '&stig=crake_linux_9')).slice(0, 2), ids(unlike, implementing));
});

added('small words count where nothing else is asked or found', async () => {
  const text = { title: 'Quux', description: '<VulnDiscussion>Quux.</VulnDiscussion>', checks: ['Q.'] };
  const other = await testApp([
    writeBenchmarks([
      {
        id: 'Small_STIG',
        title: 'Small STIG',
        rules: [
          rule('The one', { ...text, title: 'The one', fixTexts: ['F.'] }),
          rule('Must do', { ...text, title: 'Must do', fixTexts: ['F.'] }),
          rule('None', { ...text, fixTexts: ['F.'] }),
        ],
      },
    ]),
  ]);
  for (const [q, titles, dropped] of [
    ['the must', ['Must do', 'The one'], []],
    ['the', ['The one'], []],
    ['how must vorpal', ['Must do'], []],
    ['the one vorpal', ['The one'], ['the']],
    ['the quux', ['Must do', 'Quux', 'The one'], ['the']],
    ['what when', [], []],
  ] as const) {
    const answer = (await other.get(`/api/v1/search?q=${encodeURIComponent(q)}`)).json;
    const found = answer.results.map(({ ruleTitle }: { ruleTitle: string }) => ruleTitle).sort();
    assert.equal([found, answer.dropped], [titles, dropped], q);
  }
  other.db.close();
});

added('rules that severity, cci or control take away count all the same', async () => {
  const cited = ids(rail[4]!);
  for (const more of ['&cci=CCI-366', '&control=CM-6', '&severity=medium&cci=CCI-366']) {
    const { exact, relaxed, results } = await ask('sora gallinule', more);
    assert.equal([exact, relaxed], [1, false], more);
    assert.equal(
      results.map((each: { groupId: string }) => each.groupId),
      cited,
      more,
    );
    const few = await ask('sora heron', more);
    assert.is(few.relaxed, true, more);
    for (const { ruleIdents } of few.results) assert.ok(ruleIdents.includes('CCI-000366'), more);
    // The first group lacks what a filter takes away, and the second does not bring it back.
    assert.equal(await groups('egret heron', '&severity=high'), ids(rail[0]!));
  }
});

added('a name narrows within a list and filters, and not where nothing is left', async () => {
  const { id } = (await t.send('POST', '/api/v1/lists', { name: 'Rails', visibility: 'PRIVATE' })).json;
  await t.send('POST', `/api/v1/lists/${id}/stigs`, { slugs: ['rail_server'] });
  const narrowed = await ask('heron zzz crake linux 9');
  assert.equal(narrowed.narrowedTo, ['crake_linux_9']);
  assert.equal(
    narrowed.counts.stigs.map(({ slug }: { slug: string }) => slug),
    ['crake_linux_9'],
  );
  for (const [more, slug] of [
    [`&list=${id}`, 'rail_server'],
    ['&severity=high', 'rail_server'],
    ['&stig=rail_server', 'rail_server'],
    ['&stig=crake_linux_9', 'crake_linux_9'],
  ]) {
    const answer = await ask('heron zzz crake linux 9', more);
    assert.equal(answer.narrowedTo, [], more);
    assert.ok(answer.results.length > 0, more);
    assert.is(answer.results[0].slug, slug, more);
    // The words of the name are words then: others may have them.
    if (!more!.includes('severity')) assert.is(answer.counts.stigs.length, 1, more);
  }
  assert.equal((await ask('heron zzz crake linux 9 -set')).narrowedTo, [], 'all of its rules are excluded');
  assert.equal((await ask('heron')).narrowedTo, []);
});

added(
  'words that no rule has are guessed, at most three, and no phrase, id, prefix or small word',
  async () => {
    const words = async (q: string) =>
      (await ask(q)).suggestions.map(({ word, instead }: Record<string, string>) => `${word} ${instead}`);
    assert.equal(await words('heorn'), ['heorn heron']);
    assert.equal(await words('HERNO egrt bitern gallinul sora'), [
      'HERNO heron',
      'egrt egret',
      'bitern bittern',
    ]);
    for (const q of '"heorn"|heorn*|V-99999|heron|herons|xq|qqqqqqqqqq|-heorn egret|日本'.split('|'))
      assert.equal(await words(q), [], q);
  },
);

added('files hold the first group alone, else the second, in the order of the answer', async () => {
  for (const [q, more] of [
    ['heron egret', ''],
    ['heron zzz', ''],
    ['heron', '&sort=severity'],
    ['egret zzz', '&sort=id'],
    ['heron egret', '&severity=high'],
    ['zzz', ''],
    ['"set heron" -rallus', '&stig=rail_server'],
  ]) {
    const { results, exact } = await ask(q!, more);
    const expected = (exact === 0 ? results : results.slice(0, exact)).map(
      ({ slug, ruleId, rank }: Record<string, unknown>) => [slug, ruleId, String(rank)],
    );
    const path = `/api/v1/search?q=${encodeURIComponent(q!)}${more}`;
    const csv = readCsv((await t.get(`${path}&format=csv`)).text);
    const answer = await t.app.request(`${path}&format=xlsx`, {
      headers: { Authorization: `Bearer ${await t.token()}` },
    });
    const { rows: sheet } = readSheet(new Uint8Array(await answer.arrayBuffer()));
    for (const [header, ...rows] of [csv, sheet]) {
      const at = ['slug', 'ruleId', 'rank'].map((name) => header!.indexOf(name));
      assert.equal(
        rows.map((row) => at.map((column) => row[column])),
        expected,
        `${q} ${more}`,
      );
    }
  }
});

added('synonyms of a later import count at once', async () => {
  assert.not((await groups('heron zzz')).includes(rail[1]!.groupId!));
  await runImport(t.db, [put(scratchFolder(), 'more.csv', 'words,reason\nheron;Rallus,\n')]);
  const found = await groups('heron zzz');
  for (const id of ids(bySynonym, ...rail.slice(1, 4))) assert.ok(found.includes(id), id);
  // Pairs go no further: what stands for a word does not bring its own others.
  assert.not((await groups('rallus zzz')).includes(bySynonym.groupId!));
});

added.run();
