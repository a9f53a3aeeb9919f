import { createHash } from 'node:crypto';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { readZip } from '../support/read-zip.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Four STIGs of four releases each, invented: a list pinned to some of them must answer as each release does alone.
const pinned = suite('A list that holds releases');

const ccis = ['CCI-000015', 'CCI-000016', 'CCI-000044', 'CCI-000054', 'CCI-000057', 'CCI-000058'];
const levels = ['high', 'medium', 'low'];

/** The same numbers in each run: a failure must be seen again. */
function numbers(seed: string): (below: number) => number {
  let count = 0;
  return (below) => createHash('sha256').update(`${seed} ${count++}`).digest().readUInt32BE(0) % below;
}

const names = ['Quill', 'Slate', 'Reed', 'Oak'];
const slugs = names.map((name) => `${name.toLowerCase()}_server`);
const folder = scratchFolder();
const sources = names.flatMap((name, stig) =>
  [1, 2, 3, 4].map((release) => {
    const any = numbers(`${name} ${release}`);
    const rules = Array.from({ length: 12 }, (_, index) => index)
      .filter(() => any(5) > 0)
      .map((index) => ({
        ...{ groupId: `V-${300_001 + 1000 * stig + index}`, version: `${name.toUpperCase()}-00-00${index}` },
        ruleId: `SV-${300_001 + 1000 * stig + index}r${release}_rule`,
        ...{ severity: levels[any(3)]!, ccis: [ccis[any(ccis.length)]!], checks: [`Look ${any(2)}.`] },
      }));
    const title = `${name} Server Security Technical Implementation Guide`;
    const date = `0${release} ${['Jan', 'Apr', 'Jul', 'Oct'][release - 1]} 2026`;
    return put(
      folder,
      `${name}-${release}.xml`,
      writeXccdf({ ...{ id: `${name}_Server`, title, version: 1, release, date, rules } }),
    );
  }),
);

let t: TestApp;
let alice: Caller;
let bob: Caller;

pinned.before(async () => {
  t = await testApp([shipped('controls'), shipped('mappings'), ...sources], { newId: countingIds() });
  alice = await userCaller(t, { sub: 'alice' });
  bob = await userCaller(t, { sub: 'bob' });
});
pinned.after(() => t.db.close());

async function make(body: object | null): Promise<string> {
  const { json } = await ask(t, 'POST', '/api/v1/lists', alice, { name: 'L', visibility: 'SHARED' });
  const path = `/api/v1/lists/${json.id}`;
  if (body !== null) assert.is((await ask(t, 'POST', `${path}/stigs`, alice, body)).status, 200);
  return path;
}

async function get(path: string) {
  const { status, json } = await ask(t, 'GET', path, alice);
  assert.is(status, 200, path);
  return json;
}

interface Entry {
  slug: string;
  version: string;
  release: string | null;
  newest: string;
  state: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  [name: string]: any;
}
const entriesOf = async (path: string) =>
  (await get(`${path}/stigs?include=findings&limit=100`)).stigs as Entry[];

pinned('a pinned list answers what each of its releases answers alone', async () => {
  for (let round = 0; round < 8; round++) {
    const any = numbers(`list ${round}`);
    const chosen = slugs.filter(() => any(4) > 0);
    if (chosen.length === 0) continue;
    const releases = Object.fromEntries(
      chosen.flatMap((slug) => (any(4) === 0 ? [] : [[slug, `V1R${1 + any(4)}`]])),
    ) as Record<string, string>;
    const counts = (slug: string) => releases[slug] ?? 'V1R4';
    const path = await make({ slugs: chosen, releases });
    const where = JSON.stringify([round, chosen, releases]);

    const entries = await entriesOf(path);
    assert.equal(
      entries.map(({ slug, version, release, newest, state }) => [slug, version, release, newest, state]),
      chosen.map((slug) => {
        const isOld = counts(slug) !== 'V1R4';
        return [slug, counts(slug), releases[slug] ?? null, 'V1R4', isOld ? 'outdated' : 'current'];
      }),
      where,
    );
    const singles = new Map<string, Entry>();
    for (const slug of chosen) {
      const single = await get(`/api/v1/stigs/${slug}?version=${counts(slug)}`);
      singles.set(slug, single);
      const entry = entries.find((each) => each.slug === slug)!;
      const rules = single.findings as { ruleId: string; severity: string; checkContent: string }[];
      assert.equal(
        entry.findings.map((rule: Record<string, string>) => [
          rule.ruleId,
          rule.ruleSeverity,
          rule.checkContent,
        ]),
        rules.map(({ ruleId, severity, checkContent }) => [ruleId, severity, checkContent]),
        where,
      );
      const of = (level: string) => rules.filter(({ severity }) => severity === level).length;
      assert.equal(
        [entry.findingCount, entry.catI, entry.catII, entry.catIII],
        [rules.length, ...levels.map(of)],
        where,
      );
    }

    const coverage = await get(`${path}/coverage`);
    const alone = await Promise.all(
      chosen.map(async (slug) => ({
        slug,
        ...(await get(`/api/v1/stigs/${slug}/coverage?version=${counts(slug)}`)),
      })),
    );
    assert.equal(
      coverage.stigs,
      coverage.stigs.map(({ slug }: Entry) => alone.find((each) => each.slug === slug)!.stigs[0]),
      where,
    );
    assert.is(coverage.stigs.length, chosen.length);
    for (const [index, control] of coverage.controls.entries()) {
      const parts = alone.map((each) => ({ slug: each.slug, ...each.controls[index].rules }));
      const sum = (name: 'total' | 'high' | 'medium' | 'low') =>
        parts.reduce((all, part) => all + part[name], 0);
      assert.equal(
        control.rules,
        { total: sum('total'), high: sum('high'), medium: sum('medium'), low: sum('low') },
        where,
      );
      const covering = parts.filter(({ total }) => total > 0).map(({ slug }) => slug);
      assert.equal([...control.stigs].sort(), covering.sort(), where);
    }

    const automation = await get(`${path}/automation`);
    for (const each of automation.stigs) {
      const single = await get(`/api/v1/stigs/${each.slug}/automation?version=${counts(each.slug)}`);
      assert.equal([each.version, each.totals], [single.version, single.totals], where);
    }

    const { stigs: changes } = await get(`${path}/changes?since=2027-01-01`);
    assert.equal(
      changes.map(({ slug, from, to, pinned: is }: Entry) => [slug, from, to, is]).sort(),
      chosen
        .filter((slug) => counts(slug) !== 'V1R4')
        .map((slug) => [slug, counts(slug), 'V1R4', true])
        .sort(),
      where,
    );
    for (const each of changes) {
      const { summary } = await get(`/api/v1/stigs/${each.slug}/diff?from=${each.from}&to=V1R4`);
      const { added, removed, changed, renumbered, unchanged } = each;
      const { classes, changed: _, ...numbers } = summary;
      assert.equal({ added, removed, renumbered, unchanged }, numbers, where);
      assert.equal(changed, classes, where);
    }

    const asked = { hosts: [{ hostName: 'h1' }], format: 'cklb' };
    const response = await t.app.request(`${path}/checklists`, {
      ...{ method: 'POST', body: JSON.stringify(asked) },
      headers: { ...alice, 'Content-Type': 'application/json' },
    });
    const zip = await readZip(new Uint8Array(await response.arrayBuffer()));
    assert.is(zip.size, chosen.length, where);
    const held = [...zip.values()].map((bytes) => JSON.parse(bytes.toString()).stigs[0]);
    assert.equal(
      held.map(({ rules }) => rules.map((rule: { rule_id_src: string }) => rule.rule_id_src)).sort(),
      chosen
        .map((slug) => singles.get(slug)!.findings.map(({ ruleId }: { ruleId: string }) => ruleId))
        .sort(),
      where,
    );

    const { stigs: exported } = await get(`${path}/export?format=json`);
    assert.equal(
      exported.map(({ slug, version, release }: Entry) => [slug, version, release]),
      chosen.map((slug) => [slug, counts(slug), releases[slug] ?? null]),
    );
  }
});

pinned('copies and restored lists keep their releases', async () => {
  const path = await make({ slugs: [slugs[0], slugs[1]], releases: { quill_server: 'v1r2' } });
  const releasesOf = async (list: string) => (await entriesOf(list)).map(({ release }) => release);
  assert.equal(await releasesOf(path), ['V1R2', null]);
  const copy = (await ask(t, 'POST', `${path}/duplicate`, alice)).json.id;
  assert.equal(await releasesOf(`/api/v1/lists/${copy}`), ['V1R2', null]);
  await ask(t, 'DELETE', path, alice);
  await ask(t, 'POST', `${path}/restore`, alice);
  assert.equal(await releasesOf(path), ['V1R2', null]);
});

pinned('adding what the list has is ignored, its release too; PUT changes it', async () => {
  const path = await make({ slugs: ['quill_server'], releases: { quill_server: 'V1R2' } });
  const again = { slugs: ['quill_server'], releases: { quill_server: 'V1R3' } };
  assert.is((await ask(t, 'POST', `${path}/stigs`, alice, again)).json.added, 0);
  assert.is((await entriesOf(path))[0]!.version, 'V1R2');
  const put = (body: object, who = alice) => ask(t, 'PUT', `${path}/stigs/quill_server`, who, body);
  assert.is((await put({ release: 'V1R3' })).json.release, 'V1R3');
  assert.is((await put({ notes: 'n' })).json.release, 'V1R3');
  assert.is((await put({ release: null })).json.release, null);
  assert.is((await put({ release: 'V1R1' }, bob)).status, 403);
  const [entry] = await entriesOf(path);
  assert.equal([entry!.version, entry!.release, entry!.state, entry!.notes], ['V1R4', null, 'current', 'n']);
});

pinned('a release that is not there changes nothing', async () => {
  const path = await make(null);
  const revision = async () => (await ask(t, 'GET', path, alice)).headers.get('ETag');
  const before = await revision();
  const many = Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [`s${index}`, 'V1R1']));
  const wrong: [releases: unknown, field: string, message: string][] = [
    [{ quill_server: 'V9R9' }, '/quill_server', 'Version not found: V9R9 of quill_server'],
    [{ oak_server: 'V1R1' }, '/oak_server', 'releases names a STIG that is not in slugs: oak_server'],
    [{ quill_server: 7 }, '/quill_server', ''],
    [['V1R1'], '', ''],
    [{ 'a/~b': 'V1R1' }, '/a~1~0b', 'releases names a STIG that is not in slugs: a/~b'],
    [many, '', 'releases must be an object of versions by slug, at most 5,000'],
  ];
  for (const [releases, field, message] of wrong) {
    const body = { slugs: slugs.slice(0, 2), releases };
    const { status, json } = await ask(t, 'POST', `${path}/stigs`, alice, body);
    assert.equal([status, json.error.field], [400, `/releases${field}`]);
    if (message !== '') assert.is(json.error.message, message);
  }
  assert.is(await revision(), before);
  assert.equal(await entriesOf(path), []);
  // A name that the catalog lacks is told as before, with a release or without.
  const { json } = await ask(t, 'POST', `${path}/stigs`, alice, {
    ...{ slugs: ['no_such', 'quill_server'], releases: { no_such: 'V1R1', QUILL_SERVER: 'V1R1' } },
  });
  assert.equal([json.added, json.notFound], [1, ['no_such']]);
  assert.is((await entriesOf(path))[0]!.release, 'V1R1');
  const { status, json: refused } = await ask(t, 'PUT', `${path}/stigs/quill_server`, alice, {
    release: 'V9R9',
  });
  assert.equal([status, refused.error.field], [400, '/release']);
});

pinned('search and control-rules name the pinned entries', async () => {
  const path = await make({ slugs: ['quill_server', 'oak_server'], releases: { oak_server: 'V1R2' } });
  const id = path.split('/').at(-1)!;
  const named = [{ slug: 'oak_server', version: 'V1R2' }];
  assert.equal((await get(`/api/v1/search?q=look&list=${id}`)).pinned, named);
  assert.equal((await get(`/api/v1/control-rules/nist-800-53/AC-2?list=${id}`)).pinned, named);
  assert.is((await get('/api/v1/search?q=look')).pinned, undefined);
  assert.is((await get('/api/v1/control-rules/nist-800-53/AC-2')).pinned, undefined);
});

pinned('a pinned release that the catalog lost is gone; the STIG is not', async () => {
  const path = await make({ slugs: ['quill_server'], releases: { quill_server: 'V1R2' } });
  t.db.sqlite
    .prepare('UPDATE list_stigs SET "release" = \'V0R1\' WHERE list_id = ?')
    .run(path.split('/').at(-1));
  const [entry] = await entriesOf(path);
  assert.equal(
    [entry!.version, entry!.release, entry!.newest, entry!.state, entry!.findings],
    ['', 'V0R1', 'V1R4', 'gone', []],
  );
  assert.equal((await get(`${path}/changes?since=2020-01-01`)).stigs, []);
  const [covered] = (await get(`${path}/coverage`)).stigs;
  assert.equal([covered.version, covered.rules], [null, 0]);
  const asked = await ask(t, 'POST', `${path}/checklists`, alice, {
    hosts: [{ hostName: 'h' }],
    format: 'ckl',
  });
  assert.is(asked.status, 400);
});

pinned.run();
