import * as assert from 'uvu/assert';
import { type ImportResult, runImport } from '../../../importers/run.ts';
import { createRoleCollectionService } from '../../../src/collections/catalog-collections.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { ask, type Caller, testId, userCaller } from '../../support/callers.ts';
import { suite } from '../../support/harness.ts';
import { putRelease, type Release, sampleRelease, tableText } from '../../support/onet.ts';
import { shipped } from '../../support/reference.ts';
import { put, scratchFolder } from '../../support/scratch.ts';
import { told } from '../../support/told.ts';
import { makeZip } from '../../support/zip.ts';

const onet = suite('O*NET releases');

const folder = scratchFolder();
const path = putRelease(folder, 'release', sampleRelease());

let t: TestApp;
let alice: Caller;

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const get = async (url: string): Promise<any> => (await ask(t, 'GET', url, alice)).json;
const lineOf = ({ lines }: ImportResult) => lines.find((line) => line.kind === 'onet')!;

/** Everything about roles that the database answers from. */
function served({ db }: TestApp): unknown {
  const rows = (table: string) => db.sqlite.prepare(`SELECT * FROM ${table}`).all();
  return [rows('occupations'), rows('role_mappings'), rows('work_roles')];
}

onet.before.each(async () => {
  t = await testApp([shipped('stigs'), path]);
  alice = await userCaller(t, { entitlements: ['occ'] });
});

onet.after.each(() => t.db.close());

onet('a release is read as it is', async () => {
  const role = await get('/api/v1/roles/15-1244.00');
  const { tasks, technologySkills, skills, abilities, workActivities, education, stigMappings, ...head } =
    role;
  assert.is(
    JSON.stringify(head),
    '{"occupationCode":"15-1244.00","title":"Harbor Administrators","occupationFamily":"Computer and Mathematical",' +
      '"jobZone":4,"taskCount":2,"technologySkillCount":1,"stigMappingCount":2,' +
      '"description":"Keep the machines of a harbor running.","jobZoneName":"A Lot"}',
  );
  assert.equal(told(tasks, 'taskId', 'statement', 'taskType'), [
    '1 Start the pumps. Core',
    '2 Stop the "pumps", and lock the door. null',
  ]);
  assert.equal(technologySkills, [
    { title: 'Operating system software', example: 'Linux', hotTechnology: true, inDemand: true },
  ]);
  assert.equal(told([...skills, ...abilities, ...workActivities], 'elementId', 'name', 'scaleId', 'value'), [
    '2.A.1.a Reading IM 3',
    '2.A.1.a Reading LV 4.12',
    '2.B.1.a Talking LV 3.5',
    '1.A.1 Hearing IM 2',
    '4.A.1 Looking IM 2.25',
  ]);
  assert.equal(told(education, 'elementId', 'name', 'scaleId', 'category', 'categoryDescription', 'value'), [
    '2.D.1 Schooling RL 6 Harbor school 60',
    '2.D.1 Schooling RL 10  40',
  ]);
  assert.equal(told(stigMappings, 'stigSlug'), ['harbor_linux_3', 'lantern_web_server_2']);
  assert.equal((await get('/api/v1/roles/15-1299.99')).jobZone, null);
});

onet('a folder, a zip, LF or CRLF, any file names: one source, the same rows', async () => {
  const release = sampleRelease();
  const zip = makeZip([
    ...Object.entries(release).map(([name, rows]) => ({ name: `deep/db/${name}`, data: tableText(rows) })),
    { name: 'deep/other.txt', data: 'a text' },
  ]);
  const renamed = Object.fromEntries(Object.values(release).map((rows, index) => [`${index}.dat`, rows]));
  const sources = [
    putRelease(folder, 'unix', release, '\n'),
    putRelease(folder, 'renamed', renamed),
    put(folder, 'release.zip', zip),
  ];
  for (const source of sources) {
    const other = await testApp([shipped('stigs')]);
    const result = await runImport(other.db, [source]);
    const lines = result.lines.filter((line) => line.kind === 'onet');
    assert.is(lines.length, 1, source);
    assert.is(lines[0]!.outcome, 'imported');
    assert.equal(Object.values(lines[0]!.counts).join(), '3,2,3,3,3,1,1,2');
    assert.equal(served(other), served(t), source);
    if (source.endsWith('.zip')) {
      assert.is(lines[0]!.source, `${source}!/deep/db`);
      assert.equal(result.lines.filter((line) => line.outcome === 'skipped').length, 1);
      const again = lineOf(await runImport(t.db, [source]));
      assert.is(again.outcome, 'unchanged', 'the folder had the same files');
    }
    other.db.close();
  }
});

onet('releases without In Demand load; nothing is in demand then', async () => {
  const release = sampleRelease();
  release['Technology Skills.txt'] = release['Technology Skills.txt']!.map((row) => row.slice(0, 5));
  const other = await testApp([putRelease(folder, 'old', release)]);
  const role = await ask(other, 'GET', '/api/v1/roles/15-1244.00', alice);
  assert.equal(role.json.technologySkills[0].inDemand, false);
  other.db.close();
});

onet('releases since 30.3 with software skills give the same rows', async () => {
  const release = sampleRelease();
  const skills = release['Technology Skills.txt']!;
  delete release['Technology Skills.txt'];
  release['Software Skills.txt'] = skills.map(([code, example, , title, hot, demand], index) =>
    index === 0
      ? ['O*NET-SOC Code', 'Workplace Example', 'Element ID', 'Element Name', 'Hot Technology', 'In Demand']
      : [code!, example!, '2.E.7.a', title!, hot!, demand!],
  );
  release['Essential Skills.txt'] = release['Skills.txt']!;
  delete release['Skills.txt'];
  const other = await testApp([shipped('stigs'), putRelease(folder, 'software', release)]);
  const { lines } = await runImport(other.db, [`${folder}/software`]);
  assert.equal(lineOf({ lines } as ImportResult).outcome, 'unchanged');
  assert.equal(served(other), served(t));
  other.db.close();
});

onet('n/a in place of a zone or a value says nothing, and blank lines at the end do no harm', async () => {
  const release = sampleRelease();
  release['Job Zones.txt']![1]![1] = 'n/a';
  release['Skills.txt']![1]![4] = 'n/a';
  release['Education, Training, and Experience.txt']![2]![5] = 'N/A';
  const text = `\ufeff${tableText(release['Task Statements.txt']!)}\r\n\r\n`;
  putRelease(folder, 'blank', release);
  put(folder, 'blank/Task Statements.txt', text);
  const other = await testApp([`${folder}/blank`]);
  const role = (await ask(other, 'GET', '/api/v1/roles/15-1244.00', alice)).json;
  assert.equal([role.jobZone, role.jobZoneName, role.taskCount], [null, null, 2]);
  assert.equal(told(role.skills, 'name'), ['Reading', 'Reading']);
  assert.is(role.education.length, 1);
  other.db.close();
});

onet('the ledger says which printing is fuller and which release newer', async () => {
  const numbered = (number: string): Release => ({
    ...sampleRelease(),
    'Read Me.txt': [[`O*NET ${number} Database`]],
  });
  const less: Release = numbered('29.2');
  less['Task Statements.txt']!.pop();
  const full = putRelease(folder, 'full', numbered('29.2'));
  const other = await testApp([full]);
  const reason = async (name: string, release: Release) =>
    lineOf(await runImport(other.db, [putRelease(folder, name, release)])).reason;
  assert.is(
    await reason('less', less),
    'another printing of O*NET 29.2 is kept, which states more: 3 occupations and 17 statements on them, this one 3 and 16',
  );
  assert.is(await reason('before', numbered('29.1')), 'O*NET 29.2 is kept, which is newer');
  const undated = numbered('30.0');
  for (const [file, rows] of Object.entries(undated))
    undated[file] = rows.map((row) => row.map((cell) => cell.replace('08/2024', 'n/a')));
  assert.is(
    await reason('undated', undated),
    'O*NET 29.2 is kept: its newest rows are of 2024-08, this one has no dated rows',
  );
  delete less['Job Zones.txt'];
  const first = await testApp([]);
  const { warnings } = lineOf(await runImport(first.db, [putRelease(folder, 'poor', less)]));
  assert.match(warnings.join('; '), /the release has no table of job zones/);
  assert.is(lineOf(await runImport(first.db, [full])).outcome, 'imported', 'the fuller one comes later');
  assert.equal(served(first), served(other));
  first.db.close();
  const renamed = numbered('29.2');
  renamed['Occupation Data.txt']![1]![1] = 'Renamed';
  const result = await runImport(other.db, [putRelease(folder, 'renamed29', renamed)]);
  assert.ok(
    [null, 'another printing of O*NET 29.2 is kept, which states as much'].includes(lineOf(result).reason),
  );
  other.db.close();
});

onet('the next release removes, adds and renames; collections keep what they hold', async () => {
  const owner = { kind: 'user', subject: 'alice', email: null, organization: null, expiresAt: 0 } as const;
  const fields = { name: 'C', description: '', tags: [], color: '', visibility: 'PRIVATE' as const };
  const service = createRoleCollectionService(
    t.db,
    () => t.clock.now,
    () => testId(1),
  );
  const codes = ['15-1299.99', '15-1244.00'];
  const id = await service.create({ ...owner, entitlements: new Set<never>() }, fields, codes);
  const before = await get(`/api/v1/role-collections/${id}/export`);
  const next = sampleRelease();
  next['Occupation Data.txt'] = [
    ['O*NET-SOC Code', 'Title', 'Description'],
    ['15-1244.00', 'Port Administrators', 'The same, renamed.'],
    ['15-1252.00', 'Crane Programmers', 'New.'],
  ];
  for (const [file, rows] of Object.entries(next)) {
    if (rows[0]![0] === 'O*NET-SOC Code')
      next[file] = rows
        .filter((row, index) => index === 0 || /^15-12[45]/.test(row[0]!))
        .map((row) => row.map((cell) => cell.replace('08/2024', '02/2026')));
  }
  const newer = putRelease(folder, 'next', next);
  assert.is(lineOf(await runImport(t.db, [newer])).outcome, 'imported');
  const roles = await get('/api/v1/roles');
  assert.equal(told(roles.roles, 'occupationCode', 'title'), [
    '15-1244.00 Port Administrators',
    '15-1252.00 Crane Programmers',
  ]);
  assert.is((await ask(t, 'GET', '/api/v1/roles/15-1299.99', alice)).status, 404);
  const after = await get(`/api/v1/role-collections/${id}/export`);
  assert.equal(after.roles[0], { ...before.roles[0], stigMappingCount: 0 }, 'gone, shown as last known');
  assert.is(after.roles[1].title, 'Port Administrators');
  assert.is((await get('/api/v1/role-collections')).collections[0].roleCount, 2);

  const older = lineOf(await runImport(t.db, [path]));
  assert.is(older.outcome, 'superseded');
  assert.is(older.reason, 'O*NET is kept: its newest rows are of 2026-02, those of this one are of 2024-08');
  assert.equal(await get('/api/v1/roles'), roles);
});

// Table, row (-1: the last), column, the cell to put there (none cuts the row off there), and what is told.
const broken = String.raw`
  Occupation Data    | 0  | 1 | Titel      | no table has the columns O\*NET-SOC Code, Title, Description \(Occupation Data\.txt, line 1;
  Technology Skills  | 0  | 0 | Code       | ^Technology Skills\.txt, line 1: the column O\*NET-SOC Code is missing$
  Task Statements    | 0  | 0 | SOC        | ^Task Statements\.txt, line 1: the column O\*NET-SOC Code is missing$
  Task Statements    | 0  | 2 | Tusk       | ^Task Statements\.txt, line 1: the column Task is missing$
  Technology Skills  | 2  | 3 |            | ^Technology Skills\.txt, line 3: 3 cells, the header has 6$
  Skills             | -1 | 0 | 99-9999.00 | ^Skills\.txt, line 9: unknown occupation "99-9999\.00"$
  Occupation Data    | 2  | 0 | 15-1299    | ^Occupation Data\.txt, line 3: "15-1299" is not an occupation code$
  Occupation Data    | 2  | 0 | 15-1244.00 | ^Occupation Data\.txt, line 3: the occupation 15-1244\.00 occurs twice$
  Skills             | 1  | 4 | 1e9        | ^Skills\.txt, line 2: "1e9" is not a number$
  Job Zones          | 1  | 1 | four       | ^Job Zones\.txt, line 2: "four" is not a job zone$
  Task Statements    | 1  | 2 | a\0b       | ^Task Statements\.txt, line 2: characters that cannot be stored$`;

onet('what is wrong is named with file and line, and leaves the previous data whole', async () => {
  const before = served(t);
  for (const [index, line] of broken.trim().split('\n').entries()) {
    const [table, row, column, cell, reason] = line.split('|').map((each) => each.trim()) as string[];
    const release = sampleRelease();
    const cells = release[`${table}.txt`]!.at(Number(row))!;
    if (cell === '') cells.splice(Number(column));
    else cells[Number(column)] = cell!.replace('\\0', '\0');
    const { outcome, reason: said } = lineOf(
      await runImport(t.db, [putRelease(folder, `broken${index}`, release)]),
    );
    assert.is(outcome, 'rejected', line);
    assert.match(said!, new RegExp(reason!));
  }
  assert.equal(served(t), before);
});

onet('a damaged file in a zip spoils the release: what it lacks nobody knows', async () => {
  const entries = Object.entries(sampleRelease()).map(([name, rows]) => ({ name, data: tableText(rows) }));
  const zip = makeZip(entries.map((entry, index) => (index === 4 ? { ...entry, crc: 1 } : entry)));
  const before = served(t);
  const { lines, summary } = await runImport(t.db, [put(folder, 'damaged.zip', zip)]);
  assert.is(summary.rejected, 2);
  assert.match(lines.at(-1)!.reason!, /cannot be read, so the source is incomplete/);
  assert.equal(served(t), before);
});

onet.run();
