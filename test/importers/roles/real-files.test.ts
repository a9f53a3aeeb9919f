import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../../support/app.ts';
import { ask, type Caller, userCaller } from '../../support/callers.ts';
import { suite, testIf } from '../../support/harness.ts';
import { hasReferenceData, reference, referenceData, shipped } from '../../support/reference.ts';
import { rowsOf } from '../../support/tables.ts';

// The publishers' own files: counts, codes and hashes; no text of theirs.
const real = suite('Roles and documents from the real files');

const sources = () => ['xccdf', 'onet', 'nice', 'regulatory'].map((folder) => reference(folder));

let t: TestApp;
let alice: Caller;

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const get = async (path: string): Promise<any> => (await ask(t, 'GET', path, alice)).json;

async function all(path: string, name: string) {
  const rows: Record<string, unknown>[] = [];
  for (let page = 1; ; page++) {
    const answer = await get(`${path}?limit=150&page=${page}`);
    rows.push(...answer[name]);
    if (page >= answer.pagination.totalPages) return rows;
  }
}

real.before(async () => {
  if (!hasReferenceData) return;
  t = await testApp(sources());
  alice = await userCaller(t, { entitlements: ['regdoc', 'occ'] });
});

real.after(() => t?.db.close());

/** Registers a test that needs the real files. */
const onReal = testIf(referenceData, real);

real('what is shipped answers something for every sample STIG', async () => {
  const own = await testApp([shipped()]);
  const counts = own.db.sqlite
    .prepare(
      'SELECT s.slug, count(*) AS rows FROM role_mappings JOIN stigs AS s ON s.id = stig_id GROUP BY 1',
    )
    .all();
  assert.equal(counts, [
    { slug: 'harbor_linux_3', rows: 3 },
    { slug: 'lantern_web_server_2', rows: 4 },
  ]);
  assert.is(own.db.sqlite.prepare('SELECT count(*) FROM occupations').pluck().get(), 29);
  assert.is(own.db.sqlite.prepare('SELECT count(*) FROM documents').pluck().get(), 2);
  own.db.close();
});

onReal('O*NET 29.2 gives 1,016 occupations, 923 with a job zone', async () => {
  const roles = await all('/api/v1/roles', 'roles');
  assert.is(roles.length, 1016);
  assert.is(new Set(roles.map((role) => role.occupationCode)).size, 1016);
  assert.is(roles.filter((role) => role.jobZone !== null).length, 923);
  const sum = (name: string) => roles.reduce((total, role) => total + (role[name] as number), 0);
  const lines = (file: string) =>
    readFileSync(reference('onet', 'db_29_2_text', file), 'utf8')
      .trimEnd()
      .split('\n').length - 1;
  assert.is(sum('taskCount'), lines('Task Statements.txt'));
  assert.is(sum('technologySkillCount'), lines('Technology Skills.txt'));
  assert.is(sum('stigMappingCount'), t.db.sqlite.prepare('SELECT count(*) FROM role_mappings').pluck().get());
  assert.ok(roles.every((role) => role.occupationFamily !== ''));
});

onReal('NICE gives 41 work roles in 5 categories, titles trimmed, categories in title case', () => {
  const roles = t.db.sqlite
    .prepare<[], Record<string, string>>('SELECT * FROM work_roles ORDER BY work_role_id')
    .all();
  assert.is(roles.length, 41);
  assert.equal([...new Set(roles.map((role) => `${role.category_code} ${role.category_name}`))].sort(), [
    'DD Design and Development',
    'IN Investigation',
    'IO Implementation and Operation',
    'OG Oversight and Governance',
    'PD Protection and Defense',
  ]);
  assert.ok(roles.every((role) => role.name === role.name!.trim() && !role.name!.includes('\u00a0')));
});

onReal('16 directives and 3 volumes of 800-63, each dated, with items', async () => {
  const documents = await all('/api/v1/regdoc', 'documents');
  assert.is(documents.length, 19);
  const of = (publisherId: string) => documents.filter((each) => each.publisherId === publisherId);
  assert.is(of('cisa').length, 16);
  assert.is(of('nist').length, 3);
  for (const each of documents) {
    assert.ok((each.signpostCount as number) > 0, each.documentId as string);
    assert.ok((each.actionableItemCount as number) > 0, each.documentId as string);
    assert.match(each.published as string, /^20\d\d-\d\d-\d\d$/);
    const record = await get(`/api/v1/regdoc/${each.documentId}`);
    assert.is(record.signposts.length, each.signpostCount);
    assert.is(record.actionableItems.length, each.actionableItemCount);
    assert.ok(record.actionableItems.some((item: { obligation: boolean }) => item.obligation));
  }
  const numbers = of('nist').map((each) => `${each.documentId} ${each.published}`);
  assert.equal(numbers, [
    'NIST.SP.800-63-3 2017-06-01',
    'NIST.SP.800-63a 2017-06-01',
    'NIST.SP.800-63b 2017-06-01',
  ]);
  const directive = of('cisa').find((each) => each.documentId === 'emergency-directive-21-01')!;
  assert.is(directive.published, '2020-12-13');
  const sections = (await get('/api/v1/regdoc/NIST.SP.800-63b')).signposts.map(
    (each: { tag: string }) => /^\d+/.exec(each.tag)?.[0],
  );
  const numbered = sections.filter((each: string | undefined) => each !== undefined).map(Number);
  assert.equal(
    numbered,
    [...numbered].sort((a, b) => a - b),
    'sections stand in number order, not in that of file names',
  );
});

/** The class of each STIG, by a role that only this class has. */
const roles = `
  red_hat_enterprise_linux_9                | 15-1244.00 15-1212.00 15-1299.05
  apache_tomcat_application_sever_9         | 15-1244.00 15-1299.01 15-1212.00 15-1254.00
  apple_ios_12                              | 15-1244.00 15-1232.00 15-1212.00
  application_security_and_development      | 15-1252.00 15-1253.00 15-1299.05 15-1212.00
  cisco_ios_xe_router_rtr                   | 15-1244.00 15-1241.00 15-1212.00 15-1231.00
  google_chrome_current_windows             | 15-1244.00 15-1232.00 15-1212.00
  ibm_z_os_racf                             | 15-1244.00 15-1212.00 15-1211.00
  kubernetes                                | 15-1244.00 15-1299.08 15-1212.00 15-1252.00
  mdm_server_policy                         | 11-3021.00 15-1212.00 15-1299.09
  ms_sql_server_2016_instance               | 15-1242.00 15-1243.00 15-1212.00`;

onReal('every STIG has a class, and its occupations', () => {
  const { sqlite } = t.db;
  const unmapped = sqlite.prepare(
    'SELECT slug FROM stigs WHERE id NOT IN (SELECT stig_id FROM role_mappings)',
  );
  assert.equal(unmapped.all(), []);
  const codes = sqlite
    .prepare<[string], string>(
      `SELECT m.occupation_code FROM role_mappings AS m JOIN stigs AS s ON s.id = m.stig_id
        WHERE s.slug = ? ORDER BY m.relevance_rank`,
    )
    .pluck();
  for (const [slug, expected] of rowsOf(roles)) assert.is(codes.all(slug!).join(' '), expected, slug);
});

real.run();
