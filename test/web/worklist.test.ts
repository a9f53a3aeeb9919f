import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { testApp } from '../support/app.ts';
import { countingIds, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { readCsv } from '../support/read-exports.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { type SampleRule, writeXccdf } from '../support/xccdf-writer.ts';

// What is new to a reader, their brief, two STIGs side by side, and taking back what was removed.
const work = suite('The day of an assessor');

const folder = scratchFolder();
const rule = (number: number, title: string, more: SampleRule = {}): SampleRule => ({
  ...{ groupId: `V-${number}`, ruleId: `SV-${number}r1_rule`, version: `RULE-00-${number}`, title },
  ...{ severity: 'medium', checks: ['Look.'], ...more },
});
const guide = (name: string, release: number, rules: SampleRule[]) =>
  put(
    folder,
    `${name}-${release}.xml`,
    writeXccdf({
      ...{ id: name.replaceAll(' ', '_'), title: `${name} Security Technical Implementation Guide` },
      ...{ version: 1, release, date: `0${release} Feb 2026`, rules },
    }),
  );
const srg = (number: string, kind = 'GPOS') => ({ groupTitle: `SRG-OS-${number}-${kind}-00001` });
const old = [
  rule(1001, 'Fern Seven must lock idle sessions.', srg('000029')),
  rule(1002, 'Fern Seven must log sign-ins.', srg('000037')),
  rule(1003, 'Fern Seven must remove telnet.', srg('000095')),
  rule(1004, 'Fern Seven must show a banner.', srg('000023')),
];

const t = await testApp(
  [guide('Fern Seven', 1, old), guide('Moss', 1, [rule(3001, 'Moss must be green.')])],
  {
    newId: countingIds(),
  },
);
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
const bob = await sessionCaller(t, await userCaller(t, { sub: 'bob' }));
work.after(() => t.db.close());

const page = async (path: string, who = ann) => (await loadPage(t, path, who)).html;
const home = (await loadPage(t, '/lists', ann, { name: 'Ship', visibility: 'SHARED' })).location!;
await loadPage(t, `${home}/stigs`, ann, { slugs: 'fern_seven\tkeep\nmoss' });
const raised = old.map((each, index) => ({
  ...each,
  ...(index === 1 ? { severity: 'high', checks: ['Look twice.'], ruleId: 'SV-1002r2_rule' } : {}),
}));

work('the start page says what is new in each list until it is marked as read', async () => {
  assert.match(textOf(await page('/')), 'Ship 2 STIGs nothing each STIG was added');
  await runImport(t.db, [
    guide('Fern Seven', 2, [...raised.slice(0, 3), rule(1005, 'Fern Seven must be new.')]),
  ]);
  assert.match(
    textOf(await page('/')),
    /1 newer release , 1 raised to . CAT I , 1 changed, 1 added, 1 removed/u,
  );
  assert.ok(textOf(await page('/', bob)).includes('1 newer release'));
  assert.is((await loadPage(t, `${home}/seen`, ann, {})).location, '/');
  assert.match(textOf(await page('/')), /Ship 2 STIGs nothing /);
  assert.match(textOf(await page('/', bob)), '1 newer release', 'what one has read is new to another');
  assert.not.match(await page('/', { Cookie: '' }), 'Your lists');
});

work('a brief has the changes of a list, CAT I first, as a page and as a file', async () => {
  const text = textOf(await page(`${home}/brief`, bob));
  assert.match(text, 'Rules raised to CAT I 1');
  assert.match(text, 'V1R1, 2026-02-01');
  assert.match(text, 'V1R2, 2026-02-02');
  const places = ['V-1002 ', 'V-1004 ', 'V-1005 '].map((each) => text.lastIndexOf(each));
  assert.ok(places[0]! > 0 && places[0]! < places[1]! && places[0]! < places[2]!, String(places));
  const { digest } = (await t.get('/api/v1/catalog')).json;
  assert.match(text, `${digest.slice(0, 4)} ${digest.slice(4, 8)} ${digest.slice(8, 12)}`);
  const file = await loadPage(t, `${home}/brief/file`, bob);
  assert.match(file.headers.get('Content-Disposition')!, 'filename="Ship_changes.html"');
  assert.match(file.html, 'Change brief: Ship');
  assert.match(file.html, '<ins> twice</ins>');
  assert.not.match(file.html, /href="\//, 'it leads nowhere but into itself');
  assert.match(textOf(await page(`${home}/brief`)), 'Nothing is new since then.');
  // An approval is against a release: what is after it stays in the brief, whatever was read.
  const pin = (release: string) => loadPage(t, `${home}/stigs/fern_seven`, ann, { release });
  await pin('V1R1');
  assert.match(textOf(await page(`${home}/brief`)), 'Rules raised to CAT I 1');
  await pin('');
});

work('two STIGs stand side by side by requirement and words', async () => {
  await runImport(t.db, [
    guide('Fern Eight', 1, [
      rule(2001, 'Fern Eight must lock idle sessions.', srg('000029')),
      rule(2002, 'Fern Eight must log all sign-ins.', srg('000037')),
      rule(2003, 'Fern Eight must disable the printer.', srg('000095')),
      rule(2004, 'Fern Eight must show a banner.', srg('000999')),
      rule(2005, 'Fern Eight must glow.', srg('000888')),
    ]),
  ]);
  const html = await page('/stigs/fern_seven/beside?with=fern+eight+stig');
  assert.match(textOf(html), 'alike 2 same SRG requirement 2 only in the first 1 only in the second 2');
  const { html: csv, headers } = await loadPage(t, '/stigs/fern_seven/beside/file?with=fern_eight', ann);
  assert.match(headers.get('Content-Disposition')!, 'fern_seven_V1R2_beside_fern_eight_V1R1.csv');
  const [head, ...rows] = readCsv(csv);
  const column = (name: string) => head!.indexOf(name);
  assert.equal(
    rows.map((row) => ['likeness', 'leftGroupId', 'rightGroupId'].map((name) => row[column(name)])),
    [
      ['alike', 'V-1001', 'V-2001'],
      ['alike', 'V-1002', 'V-2002'],
      ['same SRG requirement', 'V-1003', ''],
      ['only in the first', 'V-1005', ''],
      ['same SRG requirement', '', 'V-2003'],
      ['only in the second', '', 'V-2004'],
      ['only in the second', '', 'V-2005'],
    ],
  );
  const none = await loadPage(t, '/stigs/fern_seven/beside?with=zeppelin', ann);
  assert.equal([none.status, /No STIG matches zeppelin/.test(none.html)], [404, true]);
});

/** The Undo of a page after a form: its fields, and what it says was removed. */
async function removed(path: string, form: Record<string, string>) {
  const body = new URLSearchParams(form);
  const answer = await t.app.request(`http://here.example${path}`, { method: 'POST', body, headers: ann });
  const html = await page(answer.headers.get('Location')!);
  const id = /action="\/undo"><input type="hidden" name="id" value="([^"]+)"/.exec(html)?.[1] ?? '';
  return { id, said: /Removed: ([^<]*)\./.exec(html)?.[1] ?? '' };
}
const undo = (id: string, who = ann) => loadPage(t, '/undo', who, { id, next: home });
const entry = async () =>
  (await t.get(`/api/v1${home}/stigs`, { token: null, headers: ann })).json.stigs.find(
    ({ slug }: { slug: string }) => slug === 'fern_seven',
  );

work('an entry comes back with its note, position and release; a note and a favorite do too', async () => {
  await loadPage(t, `${home}/stigs/fern_seven`, ann, { release: 'V1R1' });
  const before = await entry();
  const gone = await removed(`${home}/stigs/remove`, { slug: 'fern_seven' });
  assert.is(gone.said, 'Fern Seven Security Technical Implementation Guide');
  assert.is(await entry(), undefined);
  assert.is((await undo(gone.id, bob)).status, 404, 'another’s');
  // Added again in between, under the id that the STIG has by now.
  await loadPage(t, `${home}/stigs`, ann, { slugs: 'fern_seven' });
  t.db.sqlite.exec(`UPDATE list_stigs SET benchmark_id = 'Fern' WHERE slug = 'fern_seven'`);
  assert.is((await undo(gone.id)).location, home);
  assert.equal(await entry(), before);
  const { stigCount } = (await t.get(`/api/v1${home}`, { token: null, headers: ann })).json;
  assert.is(stigCount, 2);
  const twice = await undo(gone.id);
  assert.equal([twice.status, /Nothing to undo/.test(twice.html)], [404, true]);

  const unnote = () => removed(`${home}/stigs/fern_seven`, { notes: '', position: String(before.position) });
  const note = await unnote();
  assert.is(note.said, 'the note of Fern Seven Security Technical Implementation Guide');
  await loadPage(t, `${home}/stigs/fern_seven`, ann, { release: 'V1R2' });
  assert.equal([(await entry()).notes, (await entry()).release], ['', 'V1R2']);
  await undo(note.id);
  assert.equal([(await entry()).notes, (await entry()).release], ['keep', 'V1R2'], 'the note alone');
  const other = await unnote();
  await loadPage(t, `${home}/stigs/fern_seven`, ann, { notes: 'new', position: '1' });
  assert.equal([(await undo(other.id)).status, (await entry()).notes], [412, 'new']);

  await loadPage(t, '/favorites/stigs', ann, { slug: 'moss' });
  const star = await removed('/favorites/stigs/remove', { slug: 'moss' });
  assert.not.match(await page('/favorites'), '/stigs/moss');
  await undo(star.id);
  assert.match(await page('/favorites'), '/stigs/moss');
});

work('a host comes back to its place, whatever was written since, unless another has its name', async () => {
  const hosts = [{ hostName: 'a', stigs: ['moss'] }, { hostName: 'b' }];
  const put = (list: object[]) =>
    t.send('PUT', `/api/v1${home}/hosts`, { hosts: list }, { token: null, headers: ann });
  const kept = async () => (await t.get(`/api/v1${home}/hosts`, { token: null, headers: ann })).json.hosts;
  await put(hosts);
  const gone = await removed(`${home}/hosts/remove`, { host: 'a' });
  assert.equal([gone.said, await kept()], ['a', [{ hostName: 'b' }]]);
  await put([{ hostName: 'b', role: 'None' }, { hostName: 'c' }]);
  assert.is((await undo(gone.id)).location, home);
  assert.equal(await kept(), [hosts[0], { hostName: 'b', role: 'None' }, { hostName: 'c' }]);
  const again = await removed(`${home}/hosts/remove`, { host: 'a' });
  await put([{ hostName: 'A' }]);
  assert.is((await undo(again.id)).status, 412);
  assert.equal(await kept(), [{ hostName: 'A' }]);
  assert.is((await removed(`${home}/hosts/remove`, { host: 'nobody' })).id, '', 'nothing was removed');
});

work.run();
