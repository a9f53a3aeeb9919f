import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { AppError } from '../../src/base/errors.ts';
import { createStigNameIndex } from '../../src/catalog/stigs/name-index.ts';
import { createStigService } from '../../src/catalog/stigs/queries.ts';
import { readPasted } from '../../src/collections/pasted.ts';
import { testApp } from '../support/app.ts';
import { ask, countingIds, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { listOf, loadPage, textOf } from '../support/pages.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { rowsOf } from '../support/tables.ts';
import { told } from '../support/told.ts';
import { type SampleBenchmark, writeXccdf } from '../support/xccdf-writer.ts';

const lists = suite('The page of a list');

const folder = scratchFolder();
const guideWords = 'Security Technical Implementation Guide';
const source = (name: string, sample: SampleBenchmark) => put(folder, `${name}.xml`, writeXccdf(sample));
const guide = (name: string, id: string, first: number, more: SampleBenchmark = {}): SampleBenchmark => ({
  ...{ id, title: `${name} ${guideWords}`, stem: id.slice(0, 4), first },
  ...{ version: 1, release: 1, date: '01 Nov 2026', ...more },
});
const severe = (first: number, severities: string[]) =>
  severities.map((severity, index) => ({
    ...{ groupId: `V-${first + index}`, ruleId: `SV-${first + index}r1_rule`, severity },
    version: `SEVE-00-00000${index}`,
  }));

const quillGuide = guide('Quill Enterprise Linux 9', 'QEL_9_STIG', 200_001, {
  date: '20 Nov 2026',
  rules: 4,
});
const slateRules = { rules: severe(210_001, ['high', 'low']) };
const slateGuide = guide('Slate Server 2025', 'SLATE_2025', 210_001, slateRules);
const undated = { rules: 3, date: null, statusDate: null };
const srg = 'Reed Router Security Requirements Guide';
const t = await testApp(
  [
    source('quill', quillGuide),
    source('slate', slateGuide),
    source('U_RD_RTR_V1R1_Manual-xccdf', guide('Reed Router', 'REED_RTR', 220_001, undated)),
    source('reed-srg', guide('Reed Router', 'REED_RTR_SRG', 230_001, { title: srg })),
    // Two that a title without its release tells from each other no more.
    source('oak-1', guide('Oak', 'OAK_ONE', 240_001)),
    source('oak-2', guide('Oak', 'OAK_TWO', 250_001)),
  ],
  { newId: countingIds() },
);
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
const bob = await sessionCaller(t, await userCaller(t, { sub: 'bob' }));
lists.after(() => t.db.close());

const make = async (name: string, visibility = 'PRIVATE') =>
  (await loadPage(t, '/systems', ann, { name, visibility })).location!;
const entries = async (home: string): Promise<Record<string, unknown>[]> =>
  (await t.get(`/api/v1${listOf(home)}/stigs`, { token: null, headers: ann })).json.stigs;

const index = createStigNameIndex(t.db);
const called = index.exactly;
const versions = (slug: string) =>
  createStigService(t.db)
    .versions(slug)
    .versions.map(({ version }) => version);
const slugsCalled = (name: string) => called(name).map(({ slug }) => slug);

lists('a STIG is called by its slug, its ids, its titles and the names of its files', () => {
  const quill = 'quill_enterprise_linux_9';
  for (const [name, slug, release = null] of rowsOf(`
    quill_enterprise_linux_9 | ${quill}
    QEL_9_STIG | ${quill}
    qel_9 | ${quill}
    Quill Enterprise Linux 9 ${guideWords} | ${quill}
    quill enterprise linux 9 stig | ${quill}
    Quill  Enterprise Linux 9 | ${quill}
    Quill Enterprise Linux 9 STIG - Ver 2, Rel 8 | ${quill} | V2R8
    Quill Enterprise Linux 9 V2R8 | ${quill} | V2R8
    QEL 9 Ver 2, Rel 8 | ${quill} | V2R8
    U_QEL_9_STIG_V2R08_Manual-xccdf.xml | ${quill} | V2R8
    U_QEL_9_V1R1_STIG.zip | ${quill} | V1R1
    Reed Router STIG | reed_rtr
    STIG
    Quill
    Quill Enterprise Linux
    quill_enterprise_linux_90
    %
    V2R8
  `)) {
    const found = called(name!).map((each) => [each.slug, each.release]);
    assert.equal(found, slug === undefined ? [] : [[slug, release]], name);
  }
  // A name that several STIGs have is that of none of them; a slug is that of one alone.
  const oaks = slugsCalled(`Oak ${guideWords}`);
  assert.is(oaks.length, 2);
  for (const slug of oaks) assert.equal(slugsCalled(slug), [slug]);
});

const read = (text: string, candidates: { slug: string; title: string }[] = []) =>
  readPasted(text, { called: index.calledOrFile, like: () => candidates, versions });

lists('whatever a pasted line says is in the entry, in the question or in the refusal', () => {
  const [quill, slate] = ['quill_enterprise_linux_9', 'slate_server_2025'];
  // In these lines → stands for a tab.
  for (const [line, ...wanted] of rowsOf(`
    1. QEL 9 V1R1 | ${quill} V1R1
    - [x] QEL_9_STIG | ${quill} -
    12→QEL 9→Version 1, Release 1→web | ${quill} V1R1 web
    QEL_9_STIG→V1→R1 | ${quill} V1R1
    QEL_9_STIG→V1R1 on the new hosts | ${quill} - V1R1 on the new hosts
    QEL 9 V1R1 - web servers | ${quill} V1R1 web servers
    QEL 9 V1R1 (current)→noted | ${quill} V1R1 (current) noted
    "QEL 9","V1R1","web, tier" | ${quill} V1R1 web, tier
    qel_9 v1r1, slate_2025 v1r1 | ${quill} V1R1 | ${slate} V1R1
    quill_enterprise_linux_9 slate_server_2025 | ${quill} - | ${slate} -
    QEL_9_STIG→first, second→ third | ${quill} - first, second third
    "QEL_9_STIG"→"the ""old"" host"→""→"and, this"→plain "word" | ${quill} - the "old" host and, this plain "word"
    Quill Enterprise Linux 9 STIG :: Version 1, Release: 1 Benchmark Date: 20 Nov 2026 | ${quill} V1R1
    D:\\stigs\\U_QEL_9_V1R1_STIG (1).zip | ${quill} V1R1
    U_QEL_9_STIG.zip | ${quill} -
    xccdf_mil.disa.stig_benchmark_QEL_9_STIG | ${quill} -
    \uFEFFＱＥＬ ９ Ｖ１Ｒ１ | ${quill} V1R1
    U_RD_RTR_V1R1_Manual-xccdf.xml | reed_rtr V1R1
  `)) {
    const { named, unclear } = read(line!.replaceAll('→', '\t'));
    const entries = named.map(({ slug, release, notes }) => [slug, release ?? '-', ...notes].join(' '));
    assert.equal([entries, unclear], [wanted, []], line);
  }
  const similar = [{ slug: quill, title: 'Quill' }];
  for (const [line, name, releases, notes = ''] of rowsOf(`
    QEL 9 1.1→noted | QEL 9 1.1 | V1R1 | noted
    U_RD_RTR_V1R7_Manual-xccdf.xml | U_RD_RTR_V1R7_Manual-xccdf.xml | -,V1R1
    Zinnia V1R1 at the gate | Zinnia V1R1 at the gate | V1R1
    QEL 9 V1R7→V1R1 | QEL 9 V1R7 V1R1 | V1R1
    Zinnia and qel_9 | Zinnia and qel_9 | -
  `)) {
    const { named, unclear } = read(line!.replaceAll('→', '\t'), similar);
    const asked = unclear.map((each) => [
      ...[each.name, each.candidates.map(({ release }) => release ?? '-').join(), each.notes],
    ]);
    assert.equal([named, asked], [[], [[name, releases, notes]]], line);
  }
  const several = read('\nQEL_9_STIG\tone\n\nqel_9\ttwo\nreed_rtr, no_such\nNo such\tlost');
  assert.equal(told(several.named, 'slug', 'notes', 'lines'), [`${quill} one,two 2,4`, 'reed_rtr  ']);
  assert.equal(told(several.unclear, 'name', 'notes'), ['no_such ', 'No such lost']);
});

lists('a first line of titles of columns is left out, and said to be', async () => {
  for (const header of ['STIG\tRelease\tNotes', '#\t"Benchmark ID"\tVersion', 'Title']) {
    const found = read(`\n${header}\nQEL_9_STIG\tV1R1\n`);
    assert.equal([found.header, found.unclear, found.named.length], [header, [], 1]);
  }
  // It is no first line, or has a cell that is no title.
  for (const text of ['QEL_9_STIG\nSTIG\tRelease', 'STIG\tV1R1\nQEL_9_STIG'])
    assert.is(read(text).unclear.length, 1, text);
  const home = await make('With titles');
  const { status, html } = await loadPage(t, `${home}/stigs`, ann, { slugs: 'STIG\tNotes\r\nQEL_9_STIG' });
  assert.is(status, 200);
  assert.match(html, '1 added. Left out as titles of columns: STIG, Notes.');
});

lists('a pasted line of any length is read', () => {
  for (const part of [',', ' ', ':', '–', '"', '.;', '\t'])
    for (const text of [`reed_rtr V1R1 x${part.repeat(100_000)}x`, `${part.repeat(100_000)}x V1R1 2 3`])
      try {
        read(text);
      } catch (error) {
        assert.instance(error, AppError);
      }
  // What is longer than 500 characters is no name of a STIG.
  const any = (name: string) => [{ slug: name, title: name, release: null }];
  for (const [length, found] of [
    [500, [1, 0]],
    [501, [0, 1]],
  ] as const) {
    const pasted = readPasted('n'.repeat(length), { called: any, like: () => [], versions });
    assert.equal([pasted.named.length, pasted.unclear.length], found, `${length}`);
  }
});

lists('a name that is pasted again and again is looked up once, and names without end are refused', () => {
  const looks = (text: string) => {
    let count = 0;
    const called = () => {
      count++;
      return [];
    };
    try {
      readPasted(text, { called, like: () => [], versions: () => [] });
    } catch (error) {
      assert.match((error as Error).message, 'Paste at most 5,000 names at once');
    }
    return count;
  };
  assert.is(looks(`${'x,y,'.repeat(100)}\n`.repeat(1000)), 3);
  const different = (line: number) => Array.from({ length: 40 }, (_, each) => `x${line}y${each}`).join(',');
  const most = looks(Array.from({ length: 1000 }, (_, line) => different(line)).join('\n'));
  assert.ok(most > 15_000 && most < 15_100, `${most}`);
});

/** Pastes into the form of a list, and gives where that led or the page that asks back. */
async function paste(home: string, slugs: string | string[], who = ann) {
  const { status, html, location } = await loadPage(t, `${home}/stigs`, who, { slugs });
  const left = /<textarea[^>]*>([^<]*)<\/textarea>/.exec(html)?.[1]?.trim();
  return { status, html, location, left, text: textOf(html) };
}
const fields = async (home: string, ...names: string[]) =>
  (await entries(home)).map((entry) => names.map((name) => entry[name]));

lists(
  'what is pasted is added with its notes; what is not found is named and stays in the form',
  async () => {
    const home = await make('Pasted');
    const quill = 'Quill Enterprise Linux 9 STIG\tTwelve hosts\r\nSlate Server 2025';
    assert.is((await paste(home, quill)).location, home);
    assert.equal(await fields(home, 'slug', 'notes', 'position'), [
      ['quill_enterprise_linux_9', 'Twelve hosts', 1],
      ['slate_server_2025', '', 2],
    ]);
    const mixed = await paste(home, 'reed_rtr\r\nNo such thing\tkept\r\nQuill\r\nOak STIG');
    assert.is(mixed.status, 400);
    const summary =
      '1 added. 2 need your confirmation: Quill, Oak STIG. 1 not in the catalog: No such thing.';
    assert.ok(mixed.text.includes(summary), mixed.text);
    assert.is(mixed.left, 'No such thing\tkept');
    const oaks = slugsCalled('Oak STIG');
    for (const slug of ['quill_enterprise_linux_9', ...oaks])
      assert.ok(mixed.html.includes(`name="slugs" value="${slug}"`), slug);
    // What is checked then is added together with what is typed.
    await paste(home, [oaks[1]!, '']);
    assert.equal((await fields(home, 'slug')).flat().slice(2), ['reed_rtr', oaks[1]]);
    assert.match((await paste(home, 'No such thing')).text, '0 added. 1 not in the catalog: No such thing.');
    assert.is((await paste(home, ' ')).status, 400);
    const long = await paste(home, `slate_2025\t${'x'.repeat(4001)}`);
    assert.match(long.text, 'notes must have at most 4000 characters');
    assert.is((await paste(home, 'slate_2025', bob)).status, 404);
  },
);

lists(
  'the notes of several lines for one STIG are joined, those of what is there stay in the form',
  async () => {
    const home = await make('Joined');
    const column =
      'QEL_9_STIG\tfirst\r\n\r\nslate_2025\tfirst\r\nQuill Enterprise Linux 9\tsecond\r\nqel_9\tfirst';
    const joined = await paste(home, column);
    assert.is(joined.status, 200);
    const title = `Quill Enterprise Linux 9 ${guideWords}`;
    assert.match(joined.text, `2 added. The notes of several lines were joined: ${title} (lines 1, 4, 5).`);
    const again = await paste(home, 'reed_rtr\nslate_2025\tnew\nqel_9');
    assert.is(again.status, 400);
    const stay = `Already in the list with other notes, which stay: Slate Server 2025 ${guideWords} (line 2).`;
    assert.match(again.text, `1 added. ${stay}`);
    assert.is(again.left, 'slate_server_2025\tnew');
    assert.equal((await fields(home, 'notes')).flat(), ['first\nsecond', 'first', '']);
    // The same column once more loses nothing, and says nothing.
    assert.is((await paste(home, column)).location, home);
  },
);

lists('a row that a page moves takes its place among the others, and no two have one position', async () => {
  const home = await make('Moved');
  await paste(home, 'qel_9\nslate_2025\nreed_rtr');
  const slugs = async () => (await fields(home, 'slug')).flat().map(String);
  const move = async (slug: string, position: number, notes = '') => {
    const form = { notes, position: String(position) };
    assert.is((await loadPage(t, `${home}/stigs/${slug}`, ann, form)).location, home);
  };
  let order = await slugs();
  for (let from = 0; from < 3; from++)
    for (let to = 0; to < 3; to++) {
      const slug = order[from]!;
      await move(slug, to + 1);
      order = order.toSpliced(from, 1).toSpliced(to, 0, slug);
      const wanted = order.map((each, at) => [each, at + 1]);
      assert.equal(await fields(home, 'slug', 'position'), wanted);
    }
  // Ties and gaps of the API, which moves nothing else; a note alone leaves them.
  const last = 2 ** 31 - 1;
  for (const [at, slug] of order.entries())
    await ask(t, 'PUT', `/api/v1${listOf(home)}/stigs/${slug}`, ann, { position: at === 0 ? 7 : last });
  order = await slugs();
  await move(order[2]!, last, 'a note alone');
  assert.equal(await fields(home, 'position'), [[7], [last], [last]]);
  await move(order[2]!, 7);
  const wanted = [order[2]!, order[0]!, order[1]!].map((slug, at) => [slug, at + 1]);
  assert.equal(await fields(home, 'slug', 'position'), wanted);
});

lists('STIGs that are checked are added to the list that is selected, or none of them', async () => {
  const home = await make('Checked');
  const list = home.split('/').at(-1)!;
  const slug = ['slate_server_2025', 'quill_enterprise_linux_9'];
  const stig = (await loadPage(t, `/stigs/${slug[0]}`, ann)).html;
  assert.match(stig, 'action="/systems/add"', 'the form of the page of a STIG posts there');
  assert.is((await loadPage(t, '/systems/add', ann, { list, slug })).location, home);
  assert.equal((await fields(home, 'slug')).flat(), slug);
  assert.is((await loadPage(t, '/systems/add', ann, { list })).status, 400);
  for (const path of ['/stigs', '/search?q=slate+server']) {
    const { html } = await loadPage(t, path, ann);
    assert.match(html, '<input type="checkbox" name="slug" value="slate_server_2025"/>');
    assert.ok(html.includes(`<option value="${list}">Checked</option>`));
    assert.not.match((await loadPage(t, path, bob)).html, 'name="slug"');
  }
});

lists('the overview says how old each release is, and where a newer one came since', async () => {
  const home = await make('Aged', 'SHARED');
  await paste(home, 'qel_9\nslate_2025\nreed_rtr');
  const before = textOf((await loadPage(t, home, ann)).html);
  const start = async (who = ann) => textOf((await loadPage(t, '/', who)).html);
  assert.match(await start(), 'Aged 3 STIGs nothing each STIG was added');
  const oldest = '9 rules in all. The oldest release is 20 days old.';
  for (const words of ['V1R1, 1 day ', 'V1R1, 20 days ', 'V1R1, no date', oldest])
    assert.ok(before.includes(words), before);
  assert.not.match(before, 'Updated: ');

  const newer = guide('Slate Server 2025', 'SLATE_2025', 210_001, {
    ...{ release: 2, date: '21 Nov 2026', rules: severe(210_001, ['high', 'high', 'medium']) },
  });
  await runImport(t.db, [source('slate-2', newer)]);
  const { html } = await loadPage(t, home, ann);
  assert.match(textOf(html), '1 STIG with a newer release than added or pinned.');
  assert.match(textOf(html), /V1R2, 0 days Change the release of Slate [^↑]*↑ Updated: V1R1 to V1R2/);
  assert.match(html, '/stigs/slate_server_2025/diff?from=V1R1&amp;to=V1R2');
  assert.is(html.match(/Updated: /g)!.length, 1);
  // The start page says what is new until one has read it; then it is new to others.
  const news = /Aged 3 STIGs 1 newer release , 1 raised to . CAT I , 1 changed, 1 added/u;
  for (const who of [ann, bob]) assert.match(await start(who), news);
  assert.is((await loadPage(t, `${home}/seen`, ann, {})).location, '/');
  assert.match(await start(), /Aged 3 STIGs nothing /);
  assert.match(await start(bob), news);
  assert.not.match(await start({}), 'Your lists');

  // A copy is made of what there is now; one that is added now too.
  const copy = (await loadPage(t, `${home}/duplicate`, bob, {})).location!;
  assert.not.match((await loadPage(t, copy, bob)).html, 'Updated: ');
  // One that sees it may change nothing, and is offered nothing.
  const seen = (await loadPage(t, home, bob)).html;
  assert.match(seen, 'Updated: ');
  assert.not.match(seen, /<textarea|Remove|Add STIGs/);
});

lists('a pasted line pins its STIG to the release that it names; what cannot be is asked back', async () => {
  const home = await make('Pinned by paste');
  // After three, what is said again, alike and otherwise.
  const { status, html, text, left } = await paste(
    home,
    `U_SLATE_2025_V1R1_Manual-xccdf.xml\tten hosts
Quill Enterprise Linux 9 STIG V1R1
reed_rtr\tV1R1\tat the door
QEL_9_STIG 1 1
quill_enterprise_linux_9 V1R7\tnewer
slate_server_2025 V1R2
No such V2R1
Oak STIG V1R1`,
  );
  assert.is(status, 400);
  assert.equal(await fields(home, 'slug', 'release', 'notes', 'position'), [
    ['slate_server_2025', 'V1R1', 'ten hosts', 1],
    ['quill_enterprise_linux_9', 'V1R1', '', 2],
    ['reed_rtr', 'V1R1', 'at the door', 3],
  ]);
  const asked = 'quill_enterprise_linux_9 V1R7, Oak STIG V1R1. 1 not in the catalog: No such V2R1.';
  assert.match(text, `3 added. 2 need your confirmation: ${asked}`);
  const stays = 'Already in the list with another release, which stays: Slate Server 2025';
  assert.match(text, `${stays} ${guideWords} (line 6).`);
  const oaks = slugsCalled('Oak STIG').map((oak) => `${oak} V1R1`);
  const quills = ['quill_enterprise_linux_9\tnewer', 'quill_enterprise_linux_9 V1R1\tnewer'];
  for (const value of [...quills, ...oaks]) assert.ok(html.includes(`name="slugs" value="${value}"`), value);
  assert.is(left, 'No such V2R1\nslate_server_2025 V1R2');

  // What the list has stays as it is, also where it is pasted again with another release.
  const again = await paste(home, 'reed_rtr\r\nslate_2025 V1R2\tless');
  assert.match(again.text, stays);
  assert.is(again.left, 'slate_server_2025 V1R2\tless');
  assert.is((await entries(home)).length, 3);
});

lists('a pinned STIG says what is newer, and takes it at one press', async () => {
  const home = await make('Outdated', 'SHARED');
  await loadPage(t, `${home}/stigs`, ann, { slugs: 'slate_2025 V1R1\tkept\r\nqel_9' });
  const { html } = await loadPage(t, home, ann);
  const news =
    /V1R1 \(pinned\), 20 days Change .* ↑ V1R2 is out: 1 raised to CAT I, 1 changed, 1 added, what/;
  assert.match(textOf(html), news);
  assert.match(html, '/stigs/slate_server_2025/diff?from=V1R1&amp;to=V1R2');
  // The start page has it too: the pinned release was never seen, and a newer one is out.
  assert.match(textOf((await loadPage(t, '/', ann)).html), 'Outdated 2 STIGs 1 newer release');
  const seen = (await loadPage(t, home, bob)).html;
  assert.match(textOf(seen), 'V1R2 is out');
  assert.not.match(seen, /Update to V1R2/);
  const entry = `${home}/stigs/slate_server_2025`;
  assert.is((await loadPage(t, entry, ann, { release: 'V1R2' })).location, home);
  const [slate] = await entries(home);
  assert.equal([slate!.release, slate!.notes, slate!.position], ['V1R2', 'kept', 1]);
  assert.not.match(textOf((await loadPage(t, home, ann)).html), 'is out');

  const form = (await loadPage(t, entry, ann)).html;
  assert.match(form, /<option value="V1R2" selected="">/);
  await loadPage(t, entry, ann, { release: '', notes: 'new', position: '1' });
  assert.equal([(await entries(home))[0]!.release, (await entries(home))[0]!.notes], [null, 'new']);
  const wrong = await loadPage(t, entry, ann, { release: 'V9R9' });
  assert.is(wrong.status, 400);
  assert.match(textOf(wrong.html), 'Version not found: V9R9');

  // From the page of a STIG: the release that it shows, where the box is ticked.
  const other = await make('From a page');
  const id = other.split('/').at(-1)!;
  await loadPage(t, '/systems/add', ann, { list: id, slug: 'slate_server_2025', release: 'V1R1' });
  assert.is((await entries(other))[0]!.release, 'V1R1');
  const shown = await loadPage(t, '/stigs/slate_server_2025?version=V1R1', ann);
  assert.match(shown.html, /name="release" value="V1R1" checked/);
});

lists('notes are edited in the row, and lead back to it in its order', async () => {
  const home = await make('Noted');
  await loadPage(t, `${home}/stigs`, ann, { slugs: 'qel_9\nslate_2025' });
  const { html } = await loadPage(t, `${home}?sort=-title`, ann);
  const next = `${home}?sort=-title#stig-slate_server_2025`;
  assert.ok(html.includes(`name="next" value="${next}"`), html);
  const entry = `${home}/stigs/slate_server_2025`;
  const form = { notes: 'One\r\n<b>two</b>', position: '7', next };
  const saved = await t.app.request(`http://here.example${entry}`, {
    ...{ method: 'POST', headers: ann, body: new URLSearchParams(form) },
  });
  assert.is(saved.headers.get('Location'), `${home}?sort=-title&done=changed#stig-slate_server_2025`);
  assert.match((await loadPage(t, home, ann)).html, 'One\n&lt;b&gt;two&lt;/b&gt;');
  const away = await loadPage(t, entry, ann, { ...form, next: '//evil.example/' });
  assert.is(away.location, home);
});

/** The slugs of a page's rows in their order. */
const order = (html: string) => [...html.matchAll(/id="stig-([\w-]+)"/g)].map(([, slug]) => slug);

lists('an overview is sorted over all its pages, what has no value last', async () => {
  const home = await make('Sorted');
  const many = Array.from({ length: 101 }, (_, index) => {
    const more = { rules: 1 + (index % 90), date: `${1 + (index % 28)} Jan 2025`, stem: `M${index}` };
    return source(`many-${index}`, guide(`Many ${index}`, `MANY_${index}`, 300_001 + index * 100, more));
  });
  await runImport(t.db, many);
  const slugs = [...Array.from({ length: 101 }, (_, index) => `MANY_${index}`), 'reed_rtr', 'qel_9'];
  await loadPage(t, `${home}/stigs`, ann, { slugs: slugs.join('\n') });
  const { json } = await t.get(`/api/v1${listOf(home)}/export`, { token: null, headers: ann });
  const all: { slug: string; title: string; findingCount: number }[] = json.stigs;
  assert.is(all.length, 103);
  const shown = async (sort: string) => {
    const pages = [1, 2].map(async (page) =>
      order((await loadPage(t, `${home}?sort=${sort}&page=${page}`, ann)).html),
    );
    return (await Promise.all(pages)).flat();
  };
  const by = (read: (row: (typeof all)[number]) => string | number) =>
    [...all].sort((a, b) => {
      const [x, y] = [read(a), read(b)];
      return x === y ? 0 : x < y ? -1 : 1;
    });
  const slugsOf = (rows: typeof all) => rows.map(({ slug }) => slug);
  assert.equal(await shown('rules'), slugsOf(by((row) => row.findingCount)));
  assert.equal(await shown('-rules'), slugsOf(by((row) => -row.findingCount)));
  assert.equal(await shown('title'), slugsOf(by((row) => row.title.toLowerCase())));
  assert.equal(await shown('position'), slugsOf(all));
  for (const sort of ['date', '-date']) assert.is((await shown(sort)).at(-1), slugsCalled('reed_rtr')[0]);
  const { html } = await loadPage(t, `${home}?sort=-rules`, ann);
  assert.is(html.match(/aria-sort=/g)!.length, 1);
  assert.match(html, /aria-sort="descending"[^>]*><a href="[^"]*\?sort=rules">Rules/);
  assert.match(html, `href="${home}?sort=-rules&amp;page=2"`);
  assert.is((await loadPage(t, `${home}?sort=DROP`, ann)).status, 400);

  const stigs = (await loadPage(t, '/stigs?search=many&sort=-rules', ann)).html;
  assert.match(textOf(stigs), /Many 89 Security.* 90 /);
  assert.match(stigs, 'href="/stigs?search=many&amp;sort=-rules&amp;page=2"');
  assert.match(stigs, '<input type="hidden" name="sort" value="-rules"/>');
});

lists.run();
