import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { ask, type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { publishedDocument } from '../support/published.ts';
import { shipped } from '../support/reference.ts';

// Every list that has pages is cut in the same way (rule D2.2): pages of any size partition it, filtered or not. Each
// filter, and each two, leave of the list what a filter of our own leaves; each order is that of a comparison of our own.
const paging = suite('Pages, filters and orders of lists');

// biome-ignore lint/suspicious/noExplicitAny: items of every kind
type Item = any;
type Filter = [query: string, keep: (item: Item) => boolean];

interface Paged {
  path: string;
  /** The items when no limit is asked for, and the most of a page. */
  usual: number;
  most: number;
  /** What is asked for the whole list. */
  base?: string;
  items?(json: Item): Item[];
  /** What is compared of an item; all of it unless this is given. */
  name?(item: Item): string;
  filters: Filter[];
  orders: [query: string, compare: (a: Item, b: Item) => number][];
}

const levels = ['high', 'medium', 'low'];
const rules = Array.from({ length: 130 }, (_, index) => ({
  ...{ groupId: `V-${500 + index}`, ruleId: `SV-${500 + index}r1_rule`, version: `BIG-${500 + index}` },
  severity: levels[index % 3]!,
  groupTitle: index === 7 ? 'Group of 100% naming_rules' : `SRG-OS-${index}-X`,
  title: index === 8 ? 'Überwachung must be on' : `Rule ${index} of many`,
  description: '<VulnDiscussion>The needle is in every discussion.</VulnDiscussion>',
  ccis: [index % 2 === 0 ? 'CCI-000366' : 'CCI-000015'],
}));
// Titles whose order tells the rule of D3.4 from the usual mistakes: ASCII-only folding, UTF-16 order, case order; and
// others whose order is not that of their slugs.
const titles = String.raw`bee|Ant|ant 2|ANT 2|Zoo|Éclair|Ａ fullwidth|𝒜 script|Per%cent|Per cent|O'Brien "x"|back\slash|日本 host|Zebra b|Zebra-a|ZEBRA-a`;
const samples = [
  { id: 'Big', title: 'Big Guide STIG', rules },
  ...titles.split('|').map((title, index) => ({ id: `Title_${index}`, title: `${title} STIG` })),
  ...Array.from({ length: 170 }, (_, index) => ({ id: `Small_${index}`, title: `Small ${index} STIG` })),
];

/** Texts to search for; each is taken literally, without case. */
const texts =
  String.raw`HARBOR|harbor_linux|big-50|per%cent|100% NAMING_rules|%|_|_2|s_all|éCLAIR|üBERWACHUNG|日本|𝒜|O'brien|"x"|\|small 16|rule 12|SV-504R1_RULE|srg-os-12-x|needle|*|.|[a-z]| |NEAR(|title:|a OR b|-x|^a|{}|;|--|/*|' OR 1=1 --|'; DROP TABLE findings; --|<script>|$x|../../etc/passwd|null|ﷺ|ﬀ|İ|ß|😀|👩‍👩‍👧`
    .split('|')
    .concat([
      '\u202eabc',
      '\u200b',
      'e\u0301',
      '\t',
      '\r\n',
      '\u0001',
      '\u007f',
      '\ufeff',
      '\uffff',
      '\u{10ffff}',
    ]);
const searching = (some: string[], of: (item: Item) => string[]): Filter[] =>
  some.map((text) => [
    `search=${encodeURIComponent(text)}`,
    (item) => of(item).some((each) => each.toLowerCase().includes(text.toLowerCase())),
  ]);
const bySeverity = ['high', 'LOW', 'high,low', 'high&severity=low', 'Low,%20mEDIUM'].map(
  (text): Filter => [`severity=${text}`, ({ severity }) => text.toLowerCase().includes(severity)],
);
const ofStigs = ['big_guide', 'harbor_linux_3&stig=small_14', 'HARBOR_LINUX_3', 'Big'].map(
  (text): Filter => [
    `stig=${text}`,
    ({ slug }) =>
      text
        .toLowerCase()
        .split('&stig=')
        .includes(text === 'Big' ? slug.slice(0, 3) : slug),
  ],
);

const points = (text: string) => [...text].map((character) => character.codePointAt(0)!);
/** By code point. */
function compare(a: string, b: string): number {
  const [x, y] = [points(a), points(b)];
  const differs = x.findIndex((point, index) => point !== y[index]);
  return differs < 0 ? x.length - y.length : x[differs]! - (y[differs] ?? -1);
}
const byTitle = (a: Item, b: Item) =>
  compare(a.title.toLowerCase(), b.title.toLowerCase()) ||
  compare(a.title, b.title) ||
  compare(a.slug, b.slug);
const numberOf = ({ groupId }: Item) => Number(/\d+/.exec(groupId)![0]);

let t: TestApp;
let alice: Caller;
let lists: Record<string, Paged>;

paging.before(async () => {
  t = await testApp([shipped(), writeBenchmarks(samples)]);
  alice = await userCaller(t, { entitlements: ['regdoc', 'occ'] });
  const list = (await ask(t, 'POST', '/api/v1/lists', alice, { name: 'L' })).json.id;
  const slugs = ['big_guide', ...Array.from({ length: 7 }, (_, index) => `small_${index}`)];
  await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, { slugs });
  const ccis = ['CCI-000366', 'CCI-000015'];
  const controls = (await ask(t, 'POST', '/api/v1/crosswalk/resolve/batch', alice, { ccis })).json;
  const cites = (cci: string) => (item: Item) => item.ruleIdents.includes(cci);
  const reaches = (control: string) => (item: Item) =>
    ccis.some((cci) => cites(cci)(item) && controls[cci].includes(control));
  const dated = (day: string) => (item: Item) => item.releaseDate !== null && item.releaseDate >= day;
  lists = {
    listStigs: {
      ...{ path: 'stigs', usual: 100, most: 150 },
      filters: searching(texts, ({ title, slug }) => [title, slug]),
      orders: [['', byTitle]],
    },
    listStigFindings: {
      ...{ path: 'stigs/big_guide/controls', usual: 50, most: 100, items: ({ findings }) => findings },
      filters: [
        ...searching(texts, (each) => [
          ...[each.groupId, each.ruleId, each.ruleVersion, each.title, each.ruleTitle],
        ]),
        ...bySeverity,
      ],
      orders: [['', (a, b) => numberOf(a) - numberOf(b)]],
    },
    getStigChangelog: {
      ...{ path: 'stigs/changelog', usual: 50, most: 100, items: ({ changes }) => changes },
      filters: [
        ...['harbor_linux_3', 'small_1', 'nobody', '%25', 'small_', ''].map(
          (name): Filter => [`slug=${name}`, ({ slug }) => slug === name],
        ),
        ...['2024-01-12', '2024-01-13', '2026-04-15', '9999-12-31'].map(
          (day): Filter => [`since=${day}`, dated(day)],
        ),
        // A time counts for its date, whatever zone it is of.
        ...['T23:59', 'T23:59:59-12:00', 'T00:00:00%2B14:00'].map(
          (time): Filter => [`since=2024-01-13${time}`, dated('2024-01-13')],
        ),
      ],
      orders: [['', (a, b) => compare(b.releaseDate, a.releaseDate)]],
    },
    searchRules: {
      ...{ path: 'search', usual: 20, most: 100, base: 'severity=high,medium,low' },
      items: ({ results }) => results,
      name: ({ slug, ruleId }) => `${slug} ${ruleId}`,
      filters: [
        ...bySeverity,
        ...ofStigs,
        ...['CCI-000366', 'cci-15'].map(
          (cci): Filter => [`cci=${cci}`, cites(cci === 'cci-15' ? ccis[1]! : cci)],
        ),
        ...['CM-6', 'ac-2.1'].map((id): Filter => [`control=${id}`, reaches(id === 'CM-6' ? id : 'AC-2(1)')]),
        [`list=${list}`, ({ slug }) => slugs.includes(slug)],
      ],
      orders: [
        [
          '',
          (a, b) => byTitle({ ...a, title: a.stigTitle }, { ...b, title: b.stigTitle }) || a.rank - b.rank,
        ],
        ['sort=stig', (a, b) => a.rank - b.rank],
        [
          'sort=Severity',
          (a, b) => levels.indexOf(a.severity) - levels.indexOf(b.severity) || a.rank - b.rank,
        ],
        [
          'sort=id',
          (a, b) => numberOf(a) - numberOf(b) || compare(a.groupId, b.groupId) || compare(a.slug, b.slug),
        ],
        ['q=&sort=relevance', (a, b) => a.rank - b.rank],
      ],
    },
    listControlRules: {
      ...{ path: 'control-rules/nist-800-53/CM-6', usual: 50, most: 100 },
      items: ({ stigs }) =>
        stigs.flatMap(({ slug, title, rules: own }: Item) =>
          own.map((each: Item) => ({ slug, title, ...each })),
        ),
      filters: [...bySeverity, ...ofStigs, [`list=${list}`, ({ slug }) => slugs.includes(slug)]],
      orders: [['', byTitle]],
    },
    listCcis: {
      ...{ path: 'controls/cci', usual: 100, most: 1000, items: ({ controls: all }) => all },
      filters: [
        ...searching(['account', 'CCI-00036', 'zebra'], (each) => [each.identifier, each.definition]),
        ...['deprecated', 'Draft,PUBLISHED'].map(
          (text): Filter => [`status=${text}`, ({ status }) => text.toLowerCase().includes(status)],
        ),
      ],
      orders: [['', (a, b) => compare(a.identifier, b.identifier)]],
    },
    listRegulatoryDocuments: {
      ...{ path: 'regdoc', usual: 100, most: 150, items: ({ documents }) => documents },
      filters: [
        ...searching(['PUBLIC web', '%', 'zebra'], ({ title }) => [title]),
        // The whole value, as a text or as a slug.
        ...['HARBOR-authority', 'harbor%20authority%20(invented)', 'harbor'].map(
          (text): Filter => [
            `publisher=${text}`,
            ({ publisher }) => text !== 'harbor' && /^Harbor/.test(publisher),
          ],
        ),
        ['doctype=Directive', ({ doctype }) => doctype === 'directive'],
      ],
      orders: [['', (a, b) => compare(a.title, b.title)]],
    },
    listRoles: {
      ...{ path: 'roles', usual: 100, most: 150, items: ({ roles }) => roles },
      filters: [
        ...searching(['WEB dev', '3021', 'zebra'], ({ title, occupationCode }) => [title, occupationCode]),
        ['family=management', ({ occupationCode }) => occupationCode.startsWith('11-')],
        ['family=manage', () => false],
      ],
      orders: [['', (a, b) => compare(a.occupationCode, b.occupationCode)]],
    },
    listListStigs: {
      ...{ path: `lists/${list}/stigs`, usual: 50, most: 100, filters: [] },
      orders: [['', (a, b) => a.position - b.position]],
    },
  };
});
paging.after(() => t.db.close());

const join = (...queries: (string | undefined)[]) => queries.filter(Boolean).join('&');
const itemsOf = ({ items }: Paged, json: Item): Item[] => (items === undefined ? json.stigs : items(json));

async function page({ path }: Paged, query: string): Promise<Item> {
  const { status, json, text } = await ask(t, 'GET', `/api/v1/${path}?${query}`, alice);
  assert.is(status, 200, `${path} ${query} ${text.slice(0, 200)}`);
  return json;
}

async function whole(each: Paged, query: string): Promise<Item[]> {
  const all: Item[] = [];
  for (let at = 1; ; at++) {
    const json = await page(each, join(query, `limit=${each.most}&page=${at}`));
    all.push(...itemsOf(each, json));
    if (at >= json.pagination.totalPages) return all;
  }
}

paging('the table has every operation with a page', async () => {
  const { paths } = (await publishedDocument()) as { paths: Record<string, Record<string, Item>> };
  const paged = Object.values(paths).flatMap(({ get }) =>
    get?.parameters?.some(({ name }: Item) => name === 'page') ? [get.operationId] : [],
  );
  // Controls have pages only where they are asked for: test/routes/controls.test.ts.
  assert.equal(paged.filter((id) => !/^list\w*Controls$/.test(id)).sort(), Object.keys(lists).sort());
});

paging('pages of any size are slices of the whole list, and say where they are', async () => {
  const asked = {
    searchRules: 'q=rule|q="of many"|q=rule zzz|q=CM-6&sort=severity|q=!!!',
    listListStigs: 'include=findings',
  };
  for (const [name, each] of Object.entries(lists)) {
    const some = each.filters.filter((_, index) => index % 20 === 0).map(([query]) => join(query, each.base));
    for (const query of [
      each.base ?? '',
      ...some,
      ...((asked as Record<string, string>)[name]?.split('|') ?? []),
    ]) {
      const { usual, most } = each;
      const all = await whole(each, query);
      const where = `${name} ${query}`;
      assert.is(new Set(all.map((item) => JSON.stringify(item))).size, all.length, `${where}: each once`);
      const is = async (limit: string | null, at: string) => {
        const json = await page(each, join(query, limit === null ? '' : `limit=${limit}`, `page=${at}`));
        const size = limit === null ? usual : Math.min(Number(limit), most);
        const number = Math.min(Number(at), Number.MAX_SAFE_INTEGER);
        const total = all.length;
        const pagination = { page: number, limit: size, total, totalPages: Math.ceil(total / size) };
        assert.equal(json.pagination, pagination, where);
        const shown = itemsOf(each, json);
        assert.equal(shown, all.slice((number - 1) * size, number * size), `${where} ${limit} ${at}`);
      };
      for (const limit of [null, `${most + 1}`, '9'.repeat(90)]) await is(limit, '1');
      for (const at of ['1000000', '9007199254740993', '9'.repeat(99)]) await is(null, at);
      const size = fc.integer({ min: 1, max: Math.max(2, Math.min(most, all.length)) });
      const sliced = fc.asyncProperty(size, fc.nat(), (limit, at) =>
        is(`${limit}`, `${1 + (at % (Math.ceil(all.length / limit) + 1))}`),
      );
      await fc.assert(sliced, { numRuns: 3 });
    }
  }
});

paging('each filter, and any two, leave what a filter of our own leaves, in the same order', async () => {
  for (const [operation, each] of Object.entries(lists)) {
    const name = each.name ?? ((item: Item) => JSON.stringify(item));
    const all = await whole(each, each.base ?? '');
    assert.ok(all.length > 1, operation);
    const found = async (query: string, keeps: Filter[1][]) => {
      const left = all.filter((item) => keeps.every((keep) => keep(item)));
      const shown = await whole(each, query.includes('severity=') ? query : join(query, each.base));
      assert.equal(shown.map(name), left.map(name), `${operation} ${query}`);
      return left.length;
    };
    const nameOf = (query: string) => query.split('=')[0];
    let narrowed = 0;
    for (const [at, [query, keep]] of each.filters.entries()) {
      const left = await found(query, [keep]);
      if (left > 0 && left < all.length) narrowed++;
      const others = each.filters.filter(([other]) => nameOf(other) !== nameOf(query));
      const [second] = others.slice(at % Math.max(1, others.length));
      if (second) await found(join(query, second[0]), [keep, second[1]]);
    }
    assert.ok(narrowed >= Math.min(2, each.filters.length), `${operation}: ${narrowed} filters narrow`);
    for (const [query, order] of each.orders) {
      const shown = await whole(each, join(query, each.base));
      assert.equal(shown.map(name), all.toSorted(order).map(name), `${operation} ${query}`);
    }
  }
});

paging('an empty catalog has no pages', async () => {
  const empty = await testApp();
  const { json } = await empty.get('/api/v1/stigs');
  assert.equal(json, { stigs: [], pagination: { page: 1, limit: 100, total: 0, totalPages: 0 } });
  empty.db.close();
});

paging.run();
