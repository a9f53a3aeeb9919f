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
const titles = [
  'bee',
  'Ant',
  'ant 2',
  'Zoo',
  'Éclair',
  'Ａ fullwidth',
  '𝒜 script',
  'Per%cent',
  'Per cent',
  'O\'Brien "x"',
  'back\\slash',
  '日本 host',
];

const samples = [
  { id: 'Big', title: 'Big Guide Security Technical Implementation Guide', rules, status: 'draft' },
  ...titles.map((title, index) => ({ id: `Title_${index}`, title: `${title} STIG` })),
  ...Array.from({ length: 170 }, (_, index) => ({ id: `Small_${index}`, title: `Small ${index} STIG` })),
];
const total = samples.length + 2;

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

stigs('list: the first page has 100 STIGs unless asked otherwise', async () => {
  const { status, json } = await t.get('/api/v1/stigs');
  assert.is(status, 200);
  assert.is(json.stigs.length, 100);
  assert.equal(json.pagination, { page: 1, limit: 100, total, totalPages: Math.ceil(total / 100) });
});

stigs('list: a limit above 150 is lowered to 150, and the answer says so', async () => {
  for (const limit of ['151', '500', '99999', '9'.repeat(90)]) {
    const { json } = await t.get(`/api/v1/stigs?limit=${limit}`);
    assert.is(json.stigs.length, 150);
    assert.equal(json.pagination, { page: 1, limit: 150, total, totalPages: 2 });
  }
});

stigs('list: pages of every size partition the list', async () => {
  const whole = (await allStigs()).map((stig) => stig.slug);
  assert.is(whole.length, total);
  assert.is(new Set(whole).size, total);
  for (const limit of [1, 7, 92, 149]) {
    const slugs: string[] = [];
    const pages = Math.ceil(total / limit);
    for (let page = 1; page <= pages; page++) {
      const { json } = await t.get(`/api/v1/stigs?limit=${limit}&page=${page}`);
      assert.equal(json.pagination, { page, limit, total, totalPages: pages });
      assert.is(json.stigs.length, page < pages ? limit : total - limit * (pages - 1));
      slugs.push(...json.stigs.map((stig: { slug: string }) => stig.slug));
    }
    assert.equal(slugs, whole, `limit ${limit}`);
  }
});

stigs('list: a page past the end is empty, with the right totals', async () => {
  for (const page of ['3', '1000000', '9007199254740993', '9'.repeat(99)]) {
    const { status, json } = await t.get(`/api/v1/stigs?page=${page}`);
    assert.is(status, 200);
    assert.equal(json.stigs, []);
    assert.is(json.pagination.total, total);
    assert.is(json.pagination.totalPages, 2);
  }
});

stigs('list: ordered by title without case, then by code point', async () => {
  const listed = await allStigs();
  assert.equal(
    listed.map((stig) => stig.title),
    [...listed].sort(byTitle).map((stig) => stig.title),
  );
  const position = (title: string) => listed.findIndex((stig) => stig.title === `${title} STIG`);
  assert.ok(position('ant 2') < position('Ant') && position('Ant') < position('bee'), 'case does not count');
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
  const searches = [
    'HARBOR',
    'harbor_linux',
    'harbor linux',
    'per%cent',
    '%',
    '_',
    '_2',
    'éCLAIR',
    '日本',
    '𝒜',
    "O'brien",
    '"x"',
    '\\',
    'small 16',
    '*',
    '.',
    '[a-z]',
    'stig',
    ' ',
  ];
  for (const search of searches) {
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

stigs('list: a search that matches nothing is an empty page, totalPages 0', async () => {
  const { status, json } = await t.get('/api/v1/stigs?search=nothing-is-called-so');
  assert.is(status, 200);
  assert.equal(json, { stigs: [], pagination: { page: 1, limit: 100, total: 0, totalPages: 0 } });
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
  assert.equal(Object.keys(json), [
    'slug',
    'benchmarkId',
    'title',
    'description',
    'version',
    'status',
    'releaseDate',
    'findingCount',
    'profiles',
    'findings',
  ]);
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
  assert.equal(Object.keys(json.findings[0]), [
    'groupId',
    'title',
    'description',
    'severity',
    'ruleId',
    'ruleVersion',
    'ruleTitle',
    'vulnDiscussion',
    'fixText',
    'checkContent',
    'ruleIdent',
    'ruleIdents',
  ]);
  const repeated = json.findings.find((each: { groupId: string }) => each.groupId === 'V-900005');
  assert.is(new Set(repeated.ruleIdents).size, repeated.ruleIdents.length, 'a repeated CCI comes once');
  assert.is(repeated.ruleIdent, repeated.ruleIdents[0]);
});

stigs('record: ?version= serves a retained release, in any case', async () => {
  for (const version of ['V1R1', 'v1r1']) {
    const { status, json } = await t.get(`/api/v1/stigs/harbor_linux_3?version=${version}`);
    assert.is(status, 200);
    assert.is(json.version, 'V1R1');
    assert.is(json.releaseDate, '2026-01-15');
    assert.is(json.findings[0].ruleId, 'SV-900001r100010_rule');
    assert.ok(json.findings.some((each: { groupId: string }) => each.groupId === 'V-900013'));
  }
  const current = await t.get('/api/v1/stigs/harbor_linux_3?version=V1R2');
  assert.is(current.text, (await t.get('/api/v1/stigs/harbor_linux_3')).text);
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

stigs('controls: 50 a page by default, at most 100', async () => {
  const head = {
    slug: 'big_guide',
    title: 'Big Guide Security Technical Implementation Guide',
    version: 'V1R1',
    status: 'draft',
    releaseDate: '2024-01-12',
    findingCount: 130,
  };
  const first = await t.get('/api/v1/stigs/big_guide/controls');
  assert.equal(first.json.stig, head);
  assert.is(first.json.findings.length, 50);
  assert.equal(first.json.pagination, { page: 1, limit: 50, total: 130, totalPages: 3 });
  const lowered = await t.get('/api/v1/stigs/big_guide/controls?limit=101');
  assert.is(lowered.json.findings.length, 100);
  assert.equal(lowered.json.pagination, { page: 1, limit: 100, total: 130, totalPages: 2 });
  const past = await t.get('/api/v1/stigs/big_guide/controls?page=4');
  assert.equal(past.json.findings, []);
  assert.equal(past.json.stig, head);
  assert.equal(past.json.pagination, { page: 4, limit: 50, total: 130, totalPages: 3 });
});

stigs('controls: pages partition the findings, filtered or not, and equal those of the record', async () => {
  const record = (await t.get('/api/v1/stigs/big_guide')).json.findings;
  const filters: [string, (finding: { severity: string; ruleTitle: string }) => boolean][] = [
    ['', () => true],
    ['&severity=low', (finding) => finding.severity === 'low'],
    ['&search=title%201', (finding) => finding.ruleTitle.includes('title 1')],
  ];
  for (const [query, keep] of filters) {
    const expected = record.filter(keep);
    assert.ok(expected.length > 1);
    for (const limit of [1, 13, 99]) {
      const paged: unknown[] = [];
      for (let page = 1; page <= Math.ceil(expected.length / limit); page++) {
        const { json } = await t.get(`/api/v1/stigs/big_guide/controls?limit=${limit}&page=${page}${query}`);
        assert.is(json.pagination.total, expected.length);
        assert.is(json.stig.findingCount, 130, 'findingCount ignores the filters');
        paged.push(...json.findings);
      }
      assert.equal(paged, expected, `limit ${limit}${query}`);
    }
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

stigs('controls: filters are combined', async () => {
  const { json } = await t.get('/api/v1/stigs/big_guide/controls?severity=high&search=rule%20title%2012');
  assert.equal(
    json.findings.map((each: { groupId: string }) => each.groupId),
    ['V-512', 'V-620', 'V-623', 'V-626', 'V-629'],
  );
  assert.is(json.pagination.total, json.findings.length);
});

stigs('controls: ?version= reads a retained release', async () => {
  const { json } = await t.get('/api/v1/stigs/harbor_linux_3/controls?version=V1R1&search=V-900013');
  assert.is(json.stig.version, 'V1R1');
  assert.is(json.stig.releaseDate, '2026-01-15');
  assert.is(json.findings.length, 1);
  const current = await t.get('/api/v1/stigs/harbor_linux_3/controls?search=V-900013');
  assert.equal(current.json.findings, []);
});

stigs('unknown query parameters are ignored', async () => {
  const plain = await t.get('/api/v1/stigs/big_guide/controls?limit=3');
  const extra = await t.get('/api/v1/stigs/big_guide/controls?limit=3&foo=bar&sort=desc&__proto__=x');
  assert.is(extra.status, 200);
  assert.is(extra.text, plain.text);
});

stigs.run();
