import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { noStig, noVersion } from '../support/words.ts';
import type { SampleRule } from '../support/xccdf-writer.ts';

const severities = ['high', 'medium', 'low'];
const rules: SampleRule[] = Array.from({ length: 130 }, (_, index) => ({
  groupId: `V-${500 + index}`,
  ruleId: `SV-${500 + index}r1_rule`,
  version: `BIG-${500 + index}`,
  severity: severities[index % 3]!,
  groupTitle: index === 7 ? 'Group of 100% naming_rules' : `SRG-OS-${index}-X`,
  title: index === 8 ? 'Überwachung must be on' : `Rule title ${index} of many`,
  description: '<VulnDiscussion>The needle is in every discussion.</VulnDiscussion>',
}));

// Titles whose order tells the rule of D3.4 from the usual mistakes: ASCII-only folding, UTF-16 order, case order.
const titles =
  String.raw`bee|Ant|ant 2|ANT 2|Zoo|Éclair|Ａ fullwidth|𝒜 script|Per%cent|Per cent|O'Brien "x"|back\slash|日本 host`.split(
    '|',
  );

const samples = [
  { id: 'Big', title: 'Big Guide Security Technical Implementation Guide', rules, status: 'draft' },
  ...titles.map((title, index) => ({ id: `Title_${index}`, title: `${title} STIG` })),
  ...Array.from({ length: 20 }, (_, index) => ({ id: `Small_${index}`, title: `Small ${index} STIG` })),
];
const stigs = suite('STIG catalog');
let t: TestApp;

stigs.before(async () => {
  t = await testApp([shipped('stigs'), writeBenchmarks(samples)]);
});
stigs.after(() => t.db.close());

function byTitle(a: { title: string; slug: string }, b: { title: string; slug: string }): number {
  const points = (text: string) => [...text].map((character) => character.codePointAt(0)!);
  const compare = (x: number[], y: number[]): number => {
    const differs = x.findIndex((point, index) => point !== y[index]);
    return differs < 0 ? x.length - y.length : x[differs]! - (y[differs] ?? -1);
  };
  return (
    compare(points(a.title.toLowerCase()), points(b.title.toLowerCase())) ||
    compare(points(a.title), points(b.title)) ||
    compare(points(a.slug), points(b.slug))
  );
}

async function allStigs(query = ''): Promise<{ slug: string; title: string }[]> {
  const pages: { slug: string; title: string }[] = [];
  for (let page = 1; ; page++) {
    const { json } = await t.get(`/api/v1/stigs?limit=150&page=${page}${query}`);
    if (json.stigs.length === 0) return pages;
    pages.push(...json.stigs);
  }
}

stigs('list: ordered by title without case, then by code point', async () => {
  const listed = await allStigs();
  assert.equal(
    listed.map((stig) => stig.title),
    [...listed].sort(byTitle).map((stig) => stig.title),
  );
  const position = (title: string) => listed.findIndex((stig) => stig.title === `${title} STIG`);
  assert.ok(position('ant 2') < position('Ant') && position('Ant') < position('bee'), 'case does not count');
  assert.is(position('ANT 2') + 1, position('ant 2'), 'of two that differ in case the capitals come first');
  assert.ok(position('Zoo') < position('Éclair'), 'É sorts after z by code point');
  assert.ok(position('Ａ fullwidth') < position('𝒜 script'), 'a character outside the BMP sorts last');
});

stigs('list: a summary has the five documented fields, of the newest release', async () => {
  const { json } = await t.get('/api/v1/stigs?search=harbor');
  assert.equal(json, {
    stigs: [
      {
        slug: 'harbor_linux_3',
        title: 'Harbor Linux 3 Security Technical Implementation Guide',
        version: 'V1R2',
        releaseDate: '2026-04-15',
        findingCount: 14,
      },
    ],
    pagination: { page: 1, limit: 100, total: 1, totalPages: 1 },
  });
});

stigs('list: search reads title and slug, without case, every character literally', async () => {
  const listed = await allStigs();
  const searches = String.raw`HARBOR|harbor_linux|harbor linux|per%cent|%|_|_2|éCLAIR|日本|𝒜|O'brien|"x"|\|small 16|*|.|[a-z]| `;
  for (const search of searches.split('|')) {
    const wanted = search.toLowerCase();
    const expected = listed.filter(
      (stig) => stig.title.toLowerCase().includes(wanted) || stig.slug.includes(wanted),
    );
    const found = await allStigs(`&search=${encodeURIComponent(search)}`);
    assert.equal(
      found.map((stig) => stig.slug),
      expected.map((stig) => stig.slug),
      `search "${search}"`,
    );
  }
  assert.is((await allStigs('&search=per%25cent')).length, 1, '% is an ordinary character');
  assert.is((await allStigs('&search=s_all')).length, 0, '_ is an ordinary character');
});

stigs('list: an empty catalog has no pages', async () => {
  const empty = await testApp();
  const { json } = await empty.get('/api/v1/stigs');
  assert.equal(json, { stigs: [], pagination: { page: 1, limit: 100, total: 0, totalPages: 0 } });
  empty.db.close();
});

stigs('record: the newest release with its profiles and all its findings in document order', async () => {
  const { status, json } = await t.get('/api/v1/stigs/harbor_linux_3');
  assert.is(status, 200);
  const fields =
    'slug,benchmarkId,title,description,version,status,releaseDate,findingCount,profiles,findings';
  assert.is(Object.keys(json).join(), fields);
  assert.is(json.benchmarkId, 'Harbor_Linux_3_STIG');
  assert.is(json.version, 'V1R2');
  assert.is(json.status, 'accepted');
  assert.is(json.findingCount, 14);
  assert.is(json.profiles.length, 9);
  assert.ok(json.profiles.every((profile: { description: string }) => profile.description === ''));
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15];
  assert.equal(
    json.findings.map((finding: { groupId: string }) => finding.groupId),
    numbers.map((number) => `V-${900_000 + number}`),
  );
});

stigs('record: a finding has the twelve documented fields', async () => {
  const { json } = await t.get('/api/v1/stigs/harbor_linux_3');
  assert.is(
    Object.keys(json.findings[0]).join(),
    'groupId,title,description,severity,ruleId,ruleVersion,ruleTitle,vulnDiscussion,fixText,checkContent,ruleIdent,ruleIdents',
  );
  const repeated = json.findings.find((each: { groupId: string }) => each.groupId === 'V-900005');
  assert.is(new Set(repeated.ruleIdents).size, repeated.ruleIdents.length, 'a repeated CCI comes once');
  assert.is(repeated.ruleIdent, repeated.ruleIdents[0]);
});

stigs('record: a version that is not retained is 404 on all three endpoints', async () => {
  for (const path of ['', '/controls', '/download']) {
    for (const version of ['V9R9', 'V1R10', '2', "V1R1'--"]) {
      const answer = await t.get(
        `/api/v1/stigs/harbor_linux_3${path}?version=${encodeURIComponent(version)}`,
      );
      assertError(answer, 404, 'NOT_FOUND', noVersion(version));
    }
  }
});

stigs(
  '?version= serves a retained release, in any case; its rules are filtered as those of the newest',
  async () => {
    for (const version of ['V1R1', 'v1r1']) {
      const { json } = await t.get(`/api/v1/stigs/harbor_linux_3?version=${version}`);
      assert.equal([json.version, json.releaseDate], ['V1R1', '2026-01-15']);
      assert.is(json.findings[0].ruleId, 'SV-900001r100010_rule');
      const found = await t.get(`/api/v1/stigs/harbor_linux_3/controls?version=${version}&search=V-900013`);
      assert.equal([found.json.stig.version, found.json.findings.length], ['V1R1', 1]);
    }
    const plain = await t.get('/api/v1/stigs/harbor_linux_3?foo=bar&sort=desc&__proto__=x');
    assert.is(plain.text, (await t.get('/api/v1/stigs/harbor_linux_3?version=V1R2')).text);
    const current = await t.get('/api/v1/stigs/harbor_linux_3/controls?search=V-900013');
    assert.equal(current.json.findings, []);
  },
);

stigs('controls: the STIG, and those of its findings in the record that the filters leave', async () => {
  const { findings } = (await t.get('/api/v1/stigs/big_guide')).json;
  for (const [query, keep] of [
    ['', () => true],
    [
      'severity=high&search=rule%20title%2012',
      (title: string, severity: string) => severity === 'high' && title.includes('title 12'),
    ],
  ] as const) {
    const { json } = await t.get(`/api/v1/stigs/big_guide/controls?limit=100&${query}`);
    assert.equal(json.stig, {
      slug: 'big_guide',
      title: 'Big Guide Security Technical Implementation Guide',
      version: 'V1R1',
      status: 'draft',
      releaseDate: '2024-01-12',
      findingCount: 130,
    });
    const left = findings.filter((each: Record<string, string>) => keep(each.ruleTitle!, each.severity!));
    assert.equal(json.findings, left.slice(0, 100));
    assert.is(json.pagination.total, left.length);
  }
});

stigs('versions: every retained release, newest first, one of them current', async () => {
  const { json } = await t.get('/api/v1/stigs/harbor_linux_3/versions');
  assert.equal(json, {
    versions: [
      { version: 'V1R2', releaseDate: '2026-04-15', status: 'accepted', findingCount: 14, current: true },
      { version: 'V1R1', releaseDate: '2026-01-15', status: 'accepted', findingCount: 14, current: false },
    ],
  });
});

stigs('an unknown slug is 404 everywhere, named in the message, cut at 64 characters', async () => {
  const long = `${'ü'.repeat(63)}😀${'x'.repeat(40)}`;
  for (const path of ['', '/versions', '/controls', '/download', '/download?format=csv', '?version=V1R1']) {
    const answer = await t.get(`/api/v1/stigs/no_such_stig${path}`);
    assertError(answer, 404, 'NOT_FOUND', noStig('no_such_stig'));
    const cut = await t.get(`/api/v1/stigs/${encodeURIComponent(long)}${path}`);
    assertError(cut, 404, 'NOT_FOUND', noStig(`${'ü'.repeat(63)}😀`));
  }
});

stigs('controls: severity is a list of known words in any case', async () => {
  const count = async (query: string) => {
    const { status, json } = await t.get(`/api/v1/stigs/big_guide/controls?limit=100&${query}`);
    assert.is(status, 200, query);
    const found = [...new Set(json.findings.map((each: { severity: string }) => each.severity))].sort();
    return [json.pagination.total, found.join(',')];
  };
  assert.equal(await count('severity=high'), [44, 'high']);
  assert.equal(await count('severity=HIGH'), [44, 'high']);
  assert.equal(await count('severity=Low,mEDIUM'), [86, 'low,medium']);
  assert.equal(await count('severity=high,high'), [44, 'high']);
  assert.equal(await count('severity=high&severity=low'), [87, 'high,low']);
  assert.equal(await count('severity=high,%20low'), [87, 'high,low']);
  assert.equal(await count(Array(1000).fill('severity=medium').join('&')), [43, 'medium']);
});

stigs('controls: search reads the ids and titles, nothing else, and downloads read the same', async () => {
  const groups = async (search: string) => {
    const { json } = await t.get(
      `/api/v1/stigs/big_guide/controls?limit=100&search=${encodeURIComponent(search)}`,
    );
    assert.is(json.pagination.total, json.findings.length);
    const found = json.findings.map((each: { groupId: string }) => each.groupId);
    const path = `/api/v1/stigs/big_guide/download?format=csv&search=${encodeURIComponent(search)}`;
    const [, ...rows] = readCsv((await t.get(path)).text);
    assert.equal(
      rows.map(([groupId]) => groupId),
      found,
      path,
    );
    return found;
  };
  assert.equal(await groups('v-503'), ['V-503']);
  assert.equal(await groups('sV-504R1_RULE'), ['V-504']);
  assert.equal(await groups('srg-os-12-x'), ['V-512']);
  assert.equal(await groups('100% NAMING_rules'), ['V-507']);
  assert.equal(await groups('%'), ['V-507'], '% is an ordinary character');
  assert.equal(await groups('üBERWACHUNG'), ['V-508'], 'case is folded beyond ASCII');
  assert.equal(await groups('needle'), [], 'the discussion is not searched');
  assert.equal(await groups('Check 503'), [], 'the check is not searched');
  assert.equal(await groups('biG-503'), ['V-503'], 'the STIG id is searched');
  assert.is((await groups('IG-6')).length, 30);
});

stigs.run();
