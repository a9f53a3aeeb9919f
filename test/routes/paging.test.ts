import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { ask, type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { publishedDocument } from '../support/published.ts';
import { shipped } from '../support/reference.ts';

// Every list that has pages is cut in the same way (rule D2.2): pages of any size partition it, filtered or not.
const paging = suite('Pages of lists');

// biome-ignore lint/suspicious/noExplicitAny: items of every kind
type Item = any;

interface Paged {
  /** Where it is asked for, with queries whose answers have several items or none. */
  path: string;
  queries: string[];
  /** The items when no limit is asked for, and the most of a page. */
  usual: number;
  most: number;
  items(json: Item): Item[];
}

const rules = Array.from({ length: 130 }, (_, index) => ({
  ...{ groupId: `V-${500 + index}`, ruleId: `SV-${500 + index}r1_rule`, version: `BIG-${500 + index}` },
  ...{
    severity: ['high', 'medium', 'low'][index % 3]!,
    title: `Rule ${index} of many`,
    ccis: ['CCI-000366'],
  },
}));
const small = Array.from({ length: 170 }, (_, index) => ({
  id: `Small_${index}`,
  title: `Small ${index} STIG`,
}));

let t: TestApp;
let alice: Caller;
let lists: Record<string, Paged>;

paging.before(async () => {
  t = await testApp([shipped(), writeBenchmarks([{ id: 'Big', title: 'Big Guide STIG', rules }, ...small])]);
  alice = await userCaller(t, { entitlements: ['regdoc', 'occ'] });
  const list = (await ask(t, 'POST', '/api/v1/lists', alice, { name: 'L' })).json.id;
  const slugs = Array.from({ length: 7 }, (_, index) => `small_${index}`);
  await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, { slugs: ['big_guide', ...slugs] });
  const of = (name: string) => (json: Item) => json[name];
  lists = {
    listStigs: {
      ...{ path: 'stigs', queries: ['', 'search=small 1', 'search=nothing-is-called-so'] },
      ...{ usual: 100, most: 150, items: of('stigs') },
    },
    listStigFindings: {
      ...{ path: 'stigs/big_guide/controls', queries: ['', 'severity=low', 'search=rule 1', 'search=zebra'] },
      ...{ usual: 50, most: 100, items: of('findings') },
    },
    getStigChangelog: {
      ...{ path: 'stigs/changelog', queries: ['', 'slug=harbor_linux_3', 'since=2026-01-01', 'slug=none'] },
      ...{ usual: 50, most: 100, items: of('changes') },
    },
    searchRules: {
      path: 'search',
      queries: 'q=rule|q="of many"|q=rule zzz|severity=low|q=the&sort=id|q=CM-6&sort=severity|q=!!!'.split(
        '|',
      ),
      ...{ usual: 20, most: 100, items: of('results') },
    },
    listControlRules: {
      ...{ path: 'control-rules/nist-800-53/CM-6', queries: ['', 'severity=high', 'stig=small_1'] },
      ...{ usual: 50, most: 100 },
      items: ({ stigs }) =>
        stigs.flatMap(({ slug, rules: own }: Item) => own.map((each: Item) => ({ slug, ...each }))),
    },
    listCcis: {
      ...{ path: 'controls/cci', queries: ['search=account', 'status=deprecated', 'search=zebra'] },
      ...{ usual: 100, most: 1000, items: of('controls') },
    },
    listRegulatoryDocuments: {
      ...{ path: 'regdoc', queries: ['', 'search=web', 'search=zebra'] },
      ...{ usual: 100, most: 150, items: of('documents') },
    },
    listRoles: {
      ...{ path: 'roles', queries: ['', 'search=web', 'family=management', 'search=zebra'] },
      ...{ usual: 100, most: 150, items: of('roles') },
    },
    listListStigs: {
      path: `lists/${list}/stigs`,
      queries: ['', 'include=findings&severity=low', 'include=findings'],
      ...{ usual: 50, most: 100, items: of('stigs') },
    },
  };
});
paging.after(() => t.db.close());

async function page({ path }: Paged, query: string, more: Record<string, string>): Promise<Item> {
  const values = new URLSearchParams(query);
  for (const [name, value] of Object.entries(more)) values.set(name, value);
  const { status, json, text } = await ask(t, 'GET', `/api/v1/${path}?${values}`, alice);
  assert.is(status, 200, `${path} ${values} ${text.slice(0, 200)}`);
  return json;
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
  for (const [name, each] of Object.entries(lists))
    for (const query of each.queries) {
      const { usual, most, items } = each;
      const whole: Item[] = [];
      for (let at = 1; ; at++) {
        const json = await page(each, query, { limit: String(most), page: String(at) });
        whole.push(...items(json));
        if (at >= json.pagination.totalPages) break;
      }
      const where = `${name} ${query}`;
      assert.is(new Set(whole.map((item) => JSON.stringify(item))).size, whole.length, `${where}: each once`);
      const is = async (limit: string | null, at: string) => {
        const json = await page(each, query, { ...(limit === null ? {} : { limit }), page: at });
        const size = limit === null ? usual : Math.min(Number(limit), most);
        const number = Math.min(Number(at), Number.MAX_SAFE_INTEGER);
        const total = whole.length;
        assert.equal(
          json.pagination,
          { page: number, limit: size, total, totalPages: Math.ceil(total / size) },
          where,
        );
        assert.equal(items(json), whole.slice((number - 1) * size, number * size), `${where} ${limit} ${at}`);
      };
      for (const limit of [null, `${most + 1}`, '9'.repeat(90)]) await is(limit, '1');
      for (const at of ['1000000', '9007199254740993', '9'.repeat(99)]) await is(null, at);
      const some = fc.integer({ min: 1, max: Math.max(2, Math.min(most, whole.length)) });
      await fc.assert(
        fc.asyncProperty(some, fc.nat(), async (limit, at) =>
          is(`${limit}`, `${1 + (at % (Math.ceil(whole.length / limit) + 1))}`),
        ),
        { numRuns: 5 },
      );
    }
});

paging.run();
