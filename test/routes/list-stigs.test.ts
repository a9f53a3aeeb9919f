import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';

// A list with 100 STIGs of real rules: the publisher's files (our samples where they are absent), and copies of them
// under other slugs up to 100.
const entries = suite('A list with 100 STIGs');
const size = 100;

interface Entry {
  slug: string;
  position: number;
  findingCount: number;
  catI: number;
  catII: number;
  catIII: number;
  findings?: { ruleSeverity: string; ruleId: string }[];
}

let t: TestApp;
let alice: Caller;
let path: string;
let all: Entry[];

/** Copies the current release of a STIG, findings and all, under another slug. */
function copyStig(from: number, copy: number): void {
  const { sqlite } = t.db;
  const release = 1_000_000 + copy;
  sqlite
    .prepare(
      `INSERT INTO sources SELECT ?, sha256 || '-' || ?, kind, importer_version, source, target, imported_at
         FROM sources WHERE id = (SELECT source_id FROM stig_releases WHERE id =
              (SELECT current_release_id FROM stigs WHERE id = ?))`,
    )
    .run(release, copy, from);
  const columns = (table: string, own: Record<string, string>) =>
    (sqlite.pragma(`table_info(${table})`) as { name: string }[])
      .map(({ name }) => own[name] ?? name)
      .join(', ');
  const release$ = columns('stig_printings', { id: '$release', stig_id: '$stig', source_id: '$release' });
  const finding$ = columns('findings', { id: 'NULL', release_id: '$release' });
  const current = '(SELECT current_release_id FROM stigs WHERE id = $from)';
  const values = { release, stig: 1000 + copy, from };
  sqlite
    .prepare(
      `INSERT INTO stigs SELECT $stig, slug || '_copy_' || $stig, kind, title, title_fold, $release
         FROM stigs WHERE id = $from`,
    )
    .run(values);
  sqlite
    .prepare(`INSERT INTO stig_printings SELECT ${release$} FROM stig_printings WHERE id = ${current}`)
    .run(values);
  sqlite
    .prepare(`INSERT INTO findings SELECT ${finding$} FROM findings WHERE release_id = ${current}`)
    .run(values);
}

entries.before(async () => {
  t = await testApp([hasReferenceData ? reference('xccdf') : shipped('stigs')], { newId: countingIds() });
  alice = await userCaller(t);
  const ids = t.db.sqlite
    .prepare<[], number>('SELECT id FROM stigs WHERE current_release_id IS NOT NULL ORDER BY id')
    .pluck()
    .all();
  assert.ok(ids.length > (hasReferenceData ? 20 : 1));
  await t.db.write(() => {
    for (let copy = 1; copy <= size - ids.length; copy++) copyStig(ids[copy % ids.length]!, copy);
  });
  const slugs = t.db.sqlite.prepare<[], string>('SELECT slug FROM stigs ORDER BY id').pluck().all();
  assert.is(slugs.length, size);
  path = `/api/v1/lists/${(await ask(t, 'POST', '/api/v1/lists', alice, { name: 'L' })).json.id}/stigs`;
  const added = await ask(t, 'POST', path, alice, { slugs });
  assert.equal(added.json, { success: true, added: size, total: size });
  all = (await ask(t, 'GET', `${path}?limit=100&include=findings`, alice)).json.stigs;
});

entries.after(() => t.db.close());

entries('every entry has its findings, counted by category', () => {
  assert.is(all.length, size);
  for (const entry of all) {
    const count = (severity: string) =>
      entry.findings!.filter((each) => each.ruleSeverity === severity).length;
    assert.equal(
      [entry.findingCount, entry.catI, entry.catII, entry.catIII],
      [entry.findings!.length, count('high'), count('medium'), count('low')],
      entry.slug,
    );
    assert.ok(entry.findings!.length > 0);
  }
  assert.is(
    Object.keys(all[0]!).join(),
    'slug,title,version,status,statusDate,findingCount,catI,catII,catIII,addedAt,position,notes,release,newest,state,seenVersion,findings',
  );
  const fields =
    'groupId,ruleId,ruleSeverity,ruleTitle,vulnDiscussion,fixText,checkContent,ruleIdent,ruleIdents';
  assert.is(Object.keys(all[0]!.findings![0]!).join(), fields);
});

entries('the findings are those of the catalog, in its order', async () => {
  for (const entry of all.filter((_, index) => index % 25 === 0)) {
    const { findings } = (await ask(t, 'GET', `/api/v1/stigs/${entry.slug}`, alice)).json;
    const expected = findings.map(
      ({ severity, title: _, description: __, ruleVersion: ___, ...each }: Finding) => ({
        ...each,
        ruleSeverity: severity,
      }),
    );
    assert.equal(entry.findings, expected);
  }
});

type Finding = Record<string, unknown>;

/** What a filter must leave of the list, worked out from the answer without a filter. */
function expectedFor(severities: string[]): Entry[] {
  return all
    .map((entry) => ({
      ...entry,
      findings: entry.findings!.filter((each) => severities.includes(each.ruleSeverity)),
    }))
    .filter((entry) => entry.findings.length > 0);
}

entries('with a severity, STIGs without a match are dropped, and the counts of the others stay', async () => {
  let dropped = 0;
  for (const severities of [['high'], ['medium'], ['low'], ['high', 'low'], ['high', 'medium', 'low']]) {
    const expected = expectedFor(severities);
    dropped += size - expected.length;
    const query = `${path}?include=FINDINGS&severity=${severities.join(',').toUpperCase()}&limit=100`;
    const { json } = await ask(t, 'GET', query, alice);
    assert.equal(json.list, { id: json.list.id, name: 'L', stigCount: size });
    assert.equal([json.stigs.length, json.pagination.total], [expected.length, expected.length]);
    // The counts of an entry stay whole.
    assert.equal(json.stigs, expected, query);
  }
  if (hasReferenceData) assert.ok(dropped > 0, 'some STIG of the real ones lacks a severity');
});

entries('without include=findings the severity is ignored', async () => {
  const { json } = await ask(t, 'GET', `${path}?severity=high`, alice);
  assert.equal(json.pagination, { page: 1, limit: 50, total: size, totalPages: 2 });
  assert.not.ok('findings' in json.stigs[0]);
});

entries.run();
