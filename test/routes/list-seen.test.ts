import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, integrationCaller, testId, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const seen = suite('What a person has seen of a list');

const folder = scratchFolder();
const release = (name: string, number: number, date: string, severity = 'medium') => {
  const rules = [0, 1].map((index) => ({
    ...{ groupId: `V-${name.length * 1000 + index}`, version: `${name.toUpperCase()}-00-00${index}` },
    ...{ ruleId: `SV-${name.length * 1000 + index}r${number}_rule`, severity, checks: [`Look ${number}.`] },
  }));
  const title = `${name} Security Technical Implementation Guide`;
  return put(
    folder,
    `${name}-${number}.xml`,
    writeXccdf({ id: name, title, version: 1, release: number, date, rules }),
  );
};

let t: TestApp;
let ann: Caller;
let bea: Caller;
let eve: Caller;
let path: string;
let id: string;
let programs = 0;

seen.before.each(async () => {
  t = await testApp([release('Fern', 1, '01 Jan 2026'), release('Quill', 1, '01 Jan 2026')], {
    newId: countingIds(),
  });
  ann = await userCaller(t, { sub: 'ann', org: 'red' });
  bea = await userCaller(t, { sub: 'bea', org: 'red' });
  eve = await userCaller(t, { sub: 'eve', org: 'blue' });
  id = (await ask(t, 'POST', '/api/v1/lists', ann, { name: 'L', visibility: 'SHARED' })).json.id;
  path = `/api/v1/lists/${id}`;
  await ask(t, 'POST', `${path}/stigs`, ann, { slugs: ['fern', 'quill'] });
});
seen.after.each(() => t.db.close());

const mark = (at: unknown, who = ann) => ask(t, 'PUT', `${path}/seen`, who, { at });
const entriesOf = async (who = ann) => {
  const { stigs } = (await ask(t, 'GET', `${path}/stigs`, who)).json;
  return stigs.map((each: Record<string, string>) => `${each.slug} ${each.seenVersion}`).join(', ');
};
const news = async (who = ann) => {
  const { stigs } = (await ask(t, 'GET', `${path}/changes?since=seen`, who)).json;
  return stigs.map((each: Record<string, string>) => `${each.slug} ${each.from} ${each.to}`).join();
};
const seenAt = async (who = ann) => [
  (await ask(t, 'GET', path, who)).json.seenAt,
  (await ask(t, 'GET', '/api/v1/lists', who)).json.lists[0].seenAt,
];

seen('it is kept for the caller alone, and raises no revision', async () => {
  const tag = (await ask(t, 'GET', path, ann)).headers.get('ETag')!;
  assert.equal(await seenAt(), [null, null]);
  assert.is(await entriesOf(), 'fern null, quill null');
  const { status, json } = await mark('2026-11-21T13:00:00+02:00');
  const at = '2026-11-21T11:00:00.000Z';
  assert.equal([status, json], [200, { seenAt: at }]);
  assert.equal(await seenAt(), [at, at]);
  assert.is(await entriesOf(), 'fern V1R1, quill V1R1');
  assert.equal(await seenAt(bea), [null, null]);
  assert.match(await entriesOf(bea), /^fern null/);
  const revision = (each: string) => each.split('-')[0];
  assert.is(revision((await ask(t, 'GET', path, ann)).headers.get('ETag')!), revision(tag));
  const program = await integrationCaller(t, testId(900 + ++programs), [id]);
  assert.equal(await seenAt(program), [null, null]);
  assert.match(await entriesOf(program), /^fern null/);
  assert.is((await mark(at, program)).status, 403);
  assert.is((await mark(at, eve)).status, 404);
  assert.is((await mark(at, bea)).status, 200, 'who may see the list keeps what they saw');
  assert.equal((await mark(null)).json, { seenAt: null });
  assert.equal(await seenAt(), [null, null]);
  assert.equal(await seenAt(bea), [at, at]);
});

seen('a release that is imported late is new, whatever its date', async () => {
  await mark(t.clock.now.toISOString());
  assert.is(await news(), '');
  await runImport(t.db, [release('Fern', 2, '01 Feb 2026', 'high')]);
  assert.is(await news(), 'fern V1R1 V1R2');
  assert.is(await news(bea), 'fern V1R1 V1R2', 'without a mark, since it was added');
  await mark(t.clock.now.toISOString());
  assert.is(await news(), '');
  assert.is(await news(bea), 'fern V1R1 V1R2');
  const { json } = await ask(t, 'GET', `${path}/changes?since=SEEN`, bea);
  assert.equal([json.since, json.totals.severityRaised], ['seen', 2]);
});

seen('a pinned entry goes from its release, whatever was seen', async () => {
  await runImport(t.db, [release('Fern', 2, '01 Feb 2026')]);
  await ask(t, 'PUT', `${path}/stigs/fern`, ann, { release: 'V1R1' });
  await mark(t.clock.now.toISOString());
  assert.is(await entriesOf(), 'fern V1R2, quill V1R1');
  assert.is(await news(), 'fern V1R1 V1R2');
});

seen('what is no time, and a time to come, changes nothing', async () => {
  await mark('2026-11-20T00:00:00Z');
  for (const at of ['2026-11-21T12:00:01Z', '2026-11-20', undefined, '2026-13-01T00:00:00Z']) {
    const { status, json } = await mark(at);
    assert.equal([status, json.error.field], [400, '/at'], String(at));
  }
  assert.is((await seenAt())[0], '2026-11-20T00:00:00.000Z');
});

seen('what was added after it was read counts from then', async () => {
  await ask(t, 'DELETE', `${path}/stigs`, ann, { slugs: ['quill'] });
  await mark(t.clock.now.toISOString());
  await ask(t, 'POST', `${path}/stigs`, ann, { slugs: ['quill'] });
  assert.is(await entriesOf(), 'fern V1R1, quill null');
  await runImport(t.db, [release('Quill', 2, '01 Feb 2026')]);
  assert.is(await news(), 'quill V1R1 V1R2');
});

seen.run();
