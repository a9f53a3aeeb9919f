import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { createStigNameIndex } from '../../src/catalog/stigs/name-index.ts';
import { createStigService } from '../../src/catalog/stigs/queries.ts';
import { readPasted } from '../../src/site/lists/list-adding.ts';
import { testApp } from '../support/app.ts';
import { ask, countingIds, sessionCaller, userCaller } from '../support/callers.ts';
import { effortOf } from '../support/effort.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { type SampleBenchmark, writeXccdf } from '../support/xccdf-writer.ts';

const lists = suite('The page of a list');

const folder = scratchFolder();
const source = (name: string, sample: SampleBenchmark) => put(folder, `${name}.xml`, writeXccdf(sample));
const guide = (name: string, id: string, first: number, more: SampleBenchmark = {}): SampleBenchmark => ({
  ...{ id, title: `${name} Security Technical Implementation Guide`, stem: id.slice(0, 4), first },
  ...{ version: 1, release: 1, date: '01 Nov 2026', ...more },
});
const severe = (first: number, severities: string[]) =>
  severities.map((severity, index) => ({
    ...{ groupId: `V-${first + index}`, ruleId: `SV-${first + index}r1_rule`, severity },
    version: `SEVE-00-00000${index}`,
  }));

const t = await testApp(
  [
    source(
      'quill',
      guide('Quill Enterprise Linux 9', 'QEL_9_STIG', 200_001, { date: '20 Nov 2026', rules: 4 }),
    ),
    source(
      'slate',
      guide('Slate Server 2025', 'SLATE_2025', 210_001, { rules: severe(210_001, ['high', 'low']) }),
    ),
    source(
      'U_RD_RTR_V1R1_Manual-xccdf',
      guide('Reed Router', 'REED_RTR', 220_001, { rules: 3, date: null, statusDate: null }),
    ),
    source('reed-srg', {
      ...guide('Reed Router', 'REED_RTR_SRG', 230_001),
      title: 'Reed Router Security Requirements Guide',
    }),
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
  (await loadPage(t, '/lists', ann, { name, visibility })).location!;
const entries = async (home: string) =>
  (await t.get(`/api/v1${home}/stigs`, { token: null, headers: ann })).json.stigs as Record<
    string,
    unknown
  >[];

const index = createStigNameIndex(t.db);
const called = index.exactly;
const versions = (slug: string) =>
  createStigService(t.db)
    .versions(slug)
    .versions.map(({ version }) => version);
const slugsCalled = (name: string) => called(name).map(({ slug }) => slug);

lists('a STIG is called by its slug, its ids, its titles and the names of its files', () => {
  for (const name of [
    'quill_enterprise_linux_9',
    'QEL_9_STIG',
    'qel_9',
    'Quill Enterprise Linux 9 Security Technical Implementation Guide',
    'quill enterprise linux 9 stig',
    '  Quill  Enterprise Linux 9 ',
    'Quill Enterprise Linux 9 STIG - Ver 2, Rel 8',
    'Quill Enterprise Linux 9 V2R8',
    'U_QEL_9_STIG_V1R1_Manual-xccdf.xml',
    'U_QEL_9_V1R1_STIG.zip',
  ])
    assert.equal(slugsCalled(name), ['quill_enterprise_linux_9'], name);
  for (const name of [
    '',
    ' ',
    'STIG',
    'Quill',
    'Quill Enterprise Linux',
    'quill_enterprise_linux_90',
    '%',
    'V2R8',
  ])
    assert.equal(slugsCalled(name), [], name);
  assert.is(slugsCalled('Reed Router STIG').length, 1);
  assert.is(slugsCalled('Reed Router SRG').length, 1);
  assert.not.equal(slugsCalled('Reed Router STIG'), slugsCalled('Reed Router SRG'));
});

lists('each way to name a STIG gives one answer, with the release that the text states', () => {
  const stig = index.ofSlug('quill_enterprise_linux_9')!;
  assert.is(stig.title, 'Quill Enterprise Linux 9 Security Technical Implementation Guide');
  assert.equal(index.namesOf(stig.slug, ['qel_9_Stig', 'QEL_9_STIG', 'none']), ['qel_9_Stig', 'QEL_9_STIG']);
  assert.is(stig.release, null);
  assert.equal(index.ofSlug('QEL_9_Stig'), stig);
  assert.equal(index.ofBenchmarks(['qel_9_STIG', 'QEL_9_STIG', 'none']), [stig]);
  assert.equal(index.exactly('quill_enterprise_linux_9'), [stig]);
  for (const text of [
    'Quill Enterprise Linux 9 V2R8',
    'U_QEL_9_STIG_V2R08_Manual-xccdf.xml',
    'QEL 9 Ver 2, Rel 8',
  ])
    assert.equal(index.exactly(text), [{ ...stig, release: 'V2R8' }], text);
  assert.equal(index.said('qel9 v2r8')[0], { ...stig, release: 'V2R8' });
  assert.equal(index.said('qel9')[0], stig);
  assert.is(index.ofSlug('no_such'), null);
  assert.is(index.slugOf('No_Such'), 'No_Such');
});

lists('a name that several STIGs have is that of none of them', () => {
  const found = slugsCalled('Oak Security Technical Implementation Guide');
  assert.is(found.length, 2);
  // A slug is that of one alone, whatever title it is made from.
  for (const slug of found) assert.equal(slugsCalled(slug), [slug]);
});

lists('a pasted column is read line by line, with the notes of the next', async () => {
  const like = () => [];
  const { named, unclear } = await readPasted(
    [
      'QEL_9_STIG\tfirst, second\t third',
      '"Slate Server 2025 Security Technical Implementation Guide"',
      '',
      'reed_rtr, no_such, slate_2025',
      'quill_enterprise_linux_9 slate_server_2025',
      'No such\tlost',
    ].join('\n'),
    { called, like, versions },
  );
  assert.equal(
    named.map(({ slug, notes, lines }) => [slug, notes, lines]),
    [
      ['quill_enterprise_linux_9', ['first, second third'], [1]],
      ['slate_server_2025', [], []],
      [slugsCalled('reed_rtr')[0], [], []],
    ],
  );
  assert.equal(unclear, [
    { name: 'no_such', notes: '', candidates: [] },
    { name: 'No such', notes: 'lost', candidates: [] },
  ]);
});

lists('whatever a pasted line says is in the entry, in the question or in the refusal', async () => {
  const [quill, slate] = ['quill_enterprise_linux_9', 'slate_server_2025'];
  const lines: [line: string, named: [slug: string, release: string | null, notes?: string][]][] = [
    ['1. QEL 9 V1R1', [[quill, 'V1R1']]],
    ['- [x] QEL_9_STIG', [[quill, null]]],
    ['12\tQEL 9\tVersion 1, Release 1\tweb', [[quill, 'V1R1', 'web']]],
    ['QEL_9_STIG\tV1\tR1', [[quill, 'V1R1']]],
    ['QEL_9_STIG\tV1R1 on the new hosts', [[quill, null, 'V1R1 on the new hosts']]],
    ['QEL 9 V1R1 - web servers', [[quill, 'V1R1', 'web servers']]],
    ['QEL 9 V1R1 (current)\tnoted', [[quill, 'V1R1', '(current) noted']]],
    ['"QEL 9","V1R1","web, tier"', [[quill, 'V1R1', 'web, tier']]],
    [
      'qel_9 v1r1, slate_2025 v1r1',
      [
        [quill, 'V1R1'],
        [slate, 'V1R1'],
      ],
    ],
    ['Quill Enterprise Linux 9 STIG :: Version 1, Release: 1 Benchmark Date: 20 Nov 2026', [[quill, 'V1R1']]],
    ['D:\\stigs\\U_QEL_9_V1R1_STIG (1).zip', [[quill, 'V1R1']]],
    ['U_QEL_9_STIG.zip', [[quill, null]]],
    ['xccdf_mil.disa.stig_benchmark_QEL_9_STIG', [[quill, null]]],
    ['\uFEFFＱＥＬ ９ Ｖ１Ｒ１', [[quill, 'V1R1']]],
    // The name of the file that was imported, which is none of its STIG; and one of another release.
    ['U_RD_RTR_V1R1_Manual-xccdf.xml', [['reed_rtr', 'V1R1']]],
  ];
  const read = (text: string) =>
    readPasted(text, { called: index.calledOrFile, like: () => [{ slug: quill, title: 'Quill' }], versions });
  for (const [line, wanted] of lines) {
    const { named, unclear } = await read(line);
    assert.equal(
      [named.map(({ slug, release, notes }) => [slug, release, ...notes]), unclear],
      [wanted, []],
      line,
    );
  }
  const asked: [line: string, name: string, notes: string, releases: (string | null)[]][] = [
    ['QEL 9 1.1\tnoted', 'QEL 9 1.1', 'noted', ['V1R1']],
    ['U_RD_RTR_V1R7_Manual-xccdf.xml', 'U_RD_RTR_V1R7_Manual-xccdf.xml', '', [null, 'V1R1']],
    ['Zinnia V1R1 at the gate', 'Zinnia V1R1 at the gate', '', ['V1R1']],
    ['QEL 9 V1R7\tV1R1', 'QEL 9 V1R7 V1R1', '', ['V1R1']],
    ['Zinnia and qel_9', 'Zinnia and qel_9', '', [null]],
  ];
  for (const [line, name, notes, releases] of asked) {
    const { named, unclear } = await read(line);
    assert.equal(named, [], line);
    assert.equal(
      unclear.map((each) => [each.name, each.notes, each.candidates.map(({ release }) => release)]),
      [[name, notes, releases]],
      line,
    );
  }
});

lists('a first line of titles of columns is left out, and said to be', async () => {
  const read = (text: string) => readPasted(text, { called, like: () => [], versions });
  for (const header of ['STIG\tRelease\tNotes', '#\t"Benchmark ID"\tVersion', 'Title']) {
    const found = await read(`\n${header}\nQEL_9_STIG\tV1R1\n`);
    assert.equal(
      [found.header, found.unclear, found.named.map(({ slug, lines }) => [slug, lines])],
      [header, [], [['quill_enterprise_linux_9', [3]]]],
    );
  }
  // It is no first line, or has a cell that is no title.
  for (const text of ['QEL_9_STIG\nSTIG\tRelease', 'STIG\tV1R1\nQEL_9_STIG'])
    assert.equal((await read(text)).unclear.length, 1, text);
  const home = await make('With titles');
  const { status, html } = await loadPage(t, `${home}/stigs`, ann, { slugs: 'STIG\tNotes\r\nQEL_9_STIG' });
  assert.is(status, 200);
  assert.match(html, '1 added. Left out as titles of columns: STIG, Notes.');
});

lists('each cell of a pasted line loses the quotation marks of a spreadsheet', async () => {
  const line = '"QEL_9_STIG"\t"the ""old"" host"\t""\t"and, this"\tplain "word"';
  const { named } = await readPasted(line, { called, like: () => [], versions });
  assert.equal(named[0]!.notes, ['the "old" host and, this plain "word"']);
});

lists(
  'what is pasted is added with its notes; what is not found is named and stays in the form',
  async () => {
    const home = await make('Pasted');
    const slugs = 'Quill Enterprise Linux 9 STIG\tTwelve hosts\r\nSlate Server 2025';
    assert.is((await loadPage(t, `${home}/stigs`, ann, { slugs })).location, home);
    assert.equal(
      (await entries(home)).map(({ slug, notes, position }) => [slug, notes, position]),
      [
        ['quill_enterprise_linux_9', 'Twelve hosts', 1],
        ['slate_server_2025', '', 2],
      ],
    );

    const mixed = { slugs: 'reed_rtr\r\nNo such thing\tkept\r\nQuill\r\nOak STIG' };
    const { status, html } = await loadPage(t, `${home}/stigs`, ann, mixed);
    assert.is(status, 400);
    const text = textOf(html);
    const summary =
      '1 added. 2 need your confirmation: Quill, Oak STIG. 1 not in the catalog: No such thing.';
    assert.ok(text.includes(summary), text);
    assert.match(html, />No such thing\tkept<\/textarea>/);
    assert.match(html, /value="quill_enterprise_linux_9"/);
    const oaks = slugsCalled('Oak STIG');
    for (const slug of oaks) assert.ok(html.includes(`name="slugs" value="${slug}"`), slug);
    assert.is((await entries(home)).length, 3);

    // What is checked then is added together with what is typed.
    await loadPage(t, `${home}/stigs`, ann, { slugs: [oaks[1]!, ''] });
    assert.is((await entries(home)).at(-1)!.slug, oaks[1]);

    const none = await loadPage(t, `${home}/stigs`, ann, { slugs: 'No such thing' });
    assert.match(textOf(none.html), '0 added. 1 not in the catalog: No such thing.');
    const empty = await loadPage(t, `${home}/stigs`, ann, { slugs: ' ' });
    assert.is(empty.status, 400);
    const long = await loadPage(t, `${home}/stigs`, ann, { slugs: `slate_2025\t${'x'.repeat(4001)}` });
    assert.match(textOf(long.html), 'notes must have at most 4000 characters');
    assert.is((await loadPage(t, `${home}/stigs`, bob, { slugs: 'slate_2025' })).status, 404);
  },
);

lists(
  'the notes of several lines for one STIG are joined, and those of what is there stay in the form',
  async () => {
    const home = await make('Joined');
    const slugs =
      'QEL_9_STIG\tfirst\r\n\r\nslate_2025\tfirst\r\nQuill Enterprise Linux 9\tsecond\r\nqel_9\tfirst';
    const joined = await loadPage(t, `${home}/stigs`, ann, { slugs });
    assert.is(joined.status, 200);
    const title = 'Quill Enterprise Linux 9 Security Technical Implementation Guide';
    const summary = `2 added. The notes of several lines were joined: ${title} (lines 1, 4, 5).`;
    assert.ok(textOf(joined.html).includes(summary), textOf(joined.html));
    const notesIn = async () => (await entries(home)).map(({ notes }) => notes);
    assert.equal(await notesIn(), ['first\nsecond', 'first']);

    const again = await loadPage(t, `${home}/stigs`, ann, { slugs: 'reed_rtr\nslate_2025\tnew\nqel_9' });
    assert.is(again.status, 400);
    const stay = '1 added. Already in the list with other notes, which stay: ';
    assert.ok(textOf(again.html).includes(`${stay}Slate Server 2025`), textOf(again.html));
    assert.ok(textOf(again.html).includes('(line 2).'), textOf(again.html));
    assert.match(again.html, />slate_server_2025\tnew<\/textarea>/);
    assert.equal(await notesIn(), ['first\nsecond', 'first', '']);
    // The same column once more loses nothing, and says nothing.
    assert.is((await loadPage(t, `${home}/stigs`, ann, { slugs })).location, home);
  },
);

lists('a row that a page moves takes its place among the others, and no two have one position', async () => {
  const home = await make('Moved');
  const api = `/api/v1${home}/stigs`;
  await loadPage(t, `${home}/stigs`, ann, { slugs: 'qel_9\nslate_2025\nreed_rtr' });
  let order = (await entries(home)).map(({ slug }) => String(slug));
  const place = (slug: string, position: number) => ask(t, 'PUT', `${api}/${slug}`, ann, { position });
  const move = async (slug: string, position: string | number, notes = '') => {
    const form = { notes, position: String(position) };
    assert.is((await loadPage(t, `${home}/stigs/${slug}`, ann, form)).location, home);
  };
  for (let from = 0; from < 3; from++)
    for (let to = 0; to < 3; to++) {
      const slug = order[from]!;
      await move(slug, to + 1);
      order = order.toSpliced(from, 1).toSpliced(to, 0, slug);
      const found = await entries(home);
      assert.equal(
        found.map((each) => [each.slug, each.position]),
        order.map((each, at) => [each, at + 1]),
        `${from} to ${to}`,
      );
    }
  // Ties and gaps of the API, which moves nothing else; a note alone leaves them.
  for (const [at, slug] of order.entries()) await place(slug, at === 0 ? 7 : 2 ** 31 - 1);
  order = (await entries(home)).map(({ slug }) => String(slug));
  await move(order[2]!, 2 ** 31 - 1, 'a note alone');
  assert.equal(
    (await entries(home)).map((each) => each.position),
    [7, 2 ** 31 - 1, 2 ** 31 - 1],
  );
  await move(order[2]!, 7);
  assert.equal(
    (await entries(home)).map((each) => [each.slug, each.position]),
    [order[2]!, order[0]!, order[1]!].map((slug, at) => [slug, at + 1]),
  );
});

lists('STIGs that are checked are added to the list that is selected, or none of them', async () => {
  const home = await make('Checked');
  const list = home.split('/').at(-1)!;
  const { html } = await loadPage(t, '/stigs', ann);
  assert.match(html, /<form method="post" action="\/lists\/add">/);
  assert.is(html.match(/<input type="checkbox" name="slug"/g)!.length, 6);
  const slug = ['slate_server_2025', 'quill_enterprise_linux_9'];
  assert.is((await loadPage(t, '/lists/add', ann, { list, slug })).location, home);
  assert.equal(
    (await entries(home)).map((each) => each.slug),
    slug,
  );
  assert.is((await loadPage(t, '/lists/add', ann, { list })).status, 400);
  assert.not.match((await loadPage(t, '/stigs', bob)).html, /type="checkbox"/);
  const found = await loadPage(t, '/search?q=slate+server', ann);
  assert.match(found.html, '<input type="checkbox" name="slug" value="slate_server_2025"/>');
  assert.ok(found.html.includes(`<option value="${list}">Checked</option>`));
  assert.not.match((await loadPage(t, '/search?q=slate+server', bob)).html, 'name="slug"');
});

lists('the overview says how old each release is, and where a newer one came since', async () => {
  const home = await make('Aged', 'SHARED');
  await loadPage(t, `${home}/stigs`, ann, { slugs: 'qel_9\nslate_2025\nreed_rtr' });
  const before = textOf((await loadPage(t, home, ann)).html);
  assert.ok(before.includes('V1R1, 1 day '), before);
  assert.ok(before.includes('V1R1, 20 days '), before);
  assert.ok(before.includes('V1R1, no date'), before);
  assert.ok(before.includes('9 rules in all. The oldest release is 20 days old.'), before);
  assert.not.match(before, 'Updated: ');

  const newer = guide('Slate Server 2025', 'SLATE_2025', 210_001, {
    ...{ release: 2, date: '21 Nov 2026', rules: severe(210_001, ['high', 'high', 'medium']) },
  });
  await runImport(t.db, [source('slate-2', newer)]);
  const { html } = await loadPage(t, home, ann);
  const after = textOf(html);
  assert.ok(after.includes('1 STIG with a newer release than added or pinned.'), after);
  assert.ok(
    after.includes(
      'V1R2, 0 days Change the release of Slate Server 2025 Security Technical Implementation Guide ↑ Updated: V1R1 to V1R2',
    ),
    after,
  );
  assert.match(html, '/stigs/slate_server_2025/diff?from=V1R1&amp;to=V1R2');
  assert.is(html.match(/Updated: /g)!.length, 1);

  // A copy is made of what there is now; one that is added now too.
  const copy = (await loadPage(t, `${home}/duplicate`, bob, {})).location!;
  assert.not.match((await loadPage(t, copy, bob)).html, 'Updated: ');
  // One that sees it may change nothing, and is offered nothing.
  const seen = (await loadPage(t, home, bob)).html;
  assert.match(seen, 'Updated: ');
  assert.not.match(seen, /<textarea|Remove|Add STIGs/);

  const { text } = await t.get(`/api/v1${home}/export?format=csv`, { token: null, headers: ann });
  assert.match(text.split('\r\n')[0]!, /,position,release,newest,state,releaseDate,addedVersion,notes$/);
  assert.match(text, /^slate_server_2025,.*,2,,V1R2,current,2026-11-21,V1R1,$/m);
});

lists('a pasted line pins its STIG to the release that it names; what cannot be is asked back', async () => {
  const home = await make('Pinned by paste');
  const of = async () =>
    (await entries(home)).map(({ slug, release, notes, position }) => [slug, release, notes, position]);
  const pasted = [
    'U_SLATE_2025_V1R1_Manual-xccdf.xml\tten hosts',
    'Quill Enterprise Linux 9 STIG V1R1',
    'reed_rtr\tV1R1\tat the door',
    // Said again, alike and otherwise.
    'QEL_9_STIG 1 1',
    'quill_enterprise_linux_9 V1R7\tnewer',
    'slate_server_2025 V1R2',
    'No such V2R1',
    'Oak STIG V1R1',
  ].join('\r\n');
  const { status, html } = await loadPage(t, `${home}/stigs`, ann, { slugs: pasted });
  assert.is(status, 400);
  assert.equal(await of(), [
    ['slate_server_2025', 'V1R1', 'ten hosts', 1],
    ['quill_enterprise_linux_9', 'V1R1', '', 2],
    [slugsCalled('reed_rtr')[0], 'V1R1', 'at the door', 3],
  ]);
  const text = textOf(html);
  assert.ok(
    text.includes(
      '3 added. 2 need your confirmation: quill_enterprise_linux_9 V1R7, Oak STIG V1R1. 1 not in the catalog: No such V2R1. ' +
        'Already in the list with another release, which stays: Slate Server 2025 Security Technical Implementation Guide (line 6).',
    ),
    text,
  );
  for (const value of ['quill_enterprise_linux_9\tnewer', 'quill_enterprise_linux_9 V1R1\tnewer'])
    assert.ok(html.includes(`name="slugs" value="${value}"`), value);
  for (const oak of slugsCalled('Oak STIG')) assert.ok(html.includes(`value="${oak} V1R1"`), oak);
  assert.match(html, />No such V2R1\nslate_server_2025 V1R2<\/textarea>/);

  // What the list has stays as it is, also where it is pasted again with another release.
  const again = await loadPage(t, `${home}/stigs`, ann, { slugs: 'reed_rtr\r\nslate_2025 V1R2\tless' });
  assert.match(textOf(again.html), 'with another release, which stays: Slate Server 2025');
  assert.match(again.html, />slate_server_2025 V1R2\tless<\/textarea>/);
  assert.is((await of()).length, 3);
});

lists('a pinned STIG says what is newer, and takes it at one press', async () => {
  const home = await make('Outdated', 'SHARED');
  await loadPage(t, `${home}/stigs`, ann, { slugs: 'slate_2025 V1R1\tkept\r\nqel_9' });
  const { html } = await loadPage(t, home, ann);
  assert.match(
    textOf(html),
    /V1R1 \(pinned\), 20 days Change .* ↑ V1R2 is out: 1 raised to CAT I, 1 changed, 1 added, what changed/,
  );
  assert.match(html, '/stigs/slate_server_2025/diff?from=V1R1&amp;to=V1R2');
  const seen = (await loadPage(t, home, bob)).html;
  assert.match(textOf(seen), 'V1R2 is out');
  assert.not.match(seen, /Take V1R2/);
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

  // From the page of the STIG: the release that it shows, where the box is ticked.
  const other = await make('From a page');
  const list = other.split('/').at(-1)!;
  await loadPage(t, '/lists/add', ann, { list, slug: 'slate_server_2025', release: 'V1R1' });
  assert.is((await entries(other))[0]!.release, 'V1R1');
  assert.match(
    (await loadPage(t, '/stigs/slate_server_2025?version=V1R1', ann)).html,
    /name="release" value="V1R1" checked/,
  );
});

lists('what has no release for two years, or a later one by its title, says so', async () => {
  await runImport(t.db, [
    source('ash-5', guide('Ash OS 5.4', 'ASH_5_4', 260_001, { date: '20 Nov 2024' })),
    source('ash-10', guide('Ash OS 10.0', 'ASH_10_0', 270_001)),
  ]);
  const home = await make('Old');
  await loadPage(t, `${home}/stigs`, ann, { slugs: 'ash_os_5_4\r\nash_os_10_0' });
  const text = textOf((await loadPage(t, home, ann)).html);
  assert.match(text, /2 years .*No release for 2 years By its title, Ash OS 10\.0 .*comes after it/);
  assert.is(text.match(/comes after it/g)!.length, 1);
  assert.is(text.match(/No release for/g)!.length, 1);
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
  const many = Array.from({ length: 101 }, (_, index) =>
    source(
      `many-${index}`,
      guide(`Many ${index}`, `MANY_${index}`, 300_001 + index * 100, {
        ...{ rules: 1 + (index % 90), date: `${1 + (index % 28)} Jan 2025`, stem: `M${index}` },
      }),
    ),
  );
  await runImport(t.db, many);
  const slugs = [...Array.from({ length: 101 }, (_, index) => `MANY_${index}`), 'reed_rtr', 'qel_9'];
  await loadPage(t, `${home}/stigs`, ann, { slugs: slugs.join('\n') });
  const all = await entriesOf(home);
  assert.is(all.length, 103);
  const shown = async (sort: string) => {
    const pages = [1, 2].map(async (page) =>
      order((await loadPage(t, `${home}?sort=${sort}&page=${page}`, ann)).html),
    );
    return (await Promise.all(pages)).flat();
  };
  const by = (read: (row: Entry) => string | number) =>
    [...all].sort((a, b) => {
      const [x, y] = [read(a), read(b)];
      return x === y ? 0 : x < y ? -1 : 1;
    });
  const slugsOf = (rows: Entry[]) => rows.map(({ slug }) => slug);
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

  const stigs = await loadPage(t, '/stigs?search=many&sort=-rules', ann);
  assert.match(textOf(stigs.html), /Many 89 Security.* 90 /);
  assert.match(stigs.html, 'href="/stigs?search=many&amp;sort=-rules&amp;page=2"');
  assert.match(stigs.html, '<input type="hidden" name="sort" value="-rules"/>');
});

interface Entry {
  slug: string;
  title: string;
  findingCount: number;
}

async function entriesOf(home: string): Promise<Entry[]> {
  const { json } = await t.get(`/api/v1${home}/export`, { token: null, headers: ann });
  return json.stigs;
}

lists('lists are sorted by name, size and time', async () => {
  const names = async (sort: string) => {
    const { html } = await loadPage(t, `/lists?sort=${sort}`, ann);
    return [...html.matchAll(/<a href="\/lists\/[0-9a-f-]{36}">([^<]*)<\/a>/g)].map(([, name]) => name!);
  };
  const byName = await names('name');
  assert.ok(byName.length > 4);
  assert.equal(byName, [...byName].sort());
  assert.equal(await names('-name'), byName.toReversed());
  assert.is((await names('-size'))[0], 'Sorted');
  assert.equal(await names(''), await names('-created'));
});

lists('the parts of a list have addresses of their own, and say which is shown', async () => {
  const home = await make('Parts', 'SHARED');
  for (const [path, label] of [
    [home, 'Overview'],
    [`${home}/checklists`, 'Checklists'],
    [`${home}/settings`, 'Sharing and settings'],
  ]) {
    const { html } = await loadPage(t, path!, ann);
    const tabs = /<nav class="tabs".*?<\/nav>/s.exec(html)![0];
    assert.match(tabs, `<a href="${path}" aria-current="page">${label}</a>`);
    assert.is(tabs.match(/aria-current/g)!.length, 1);
    for (const [, href] of tabs.matchAll(/href="([^"]*)"/g))
      assert.is((await loadPage(t, href!, ann)).status, 200, href);
  }
  const seen = await loadPage(t, `${home}/settings`, bob);
  assert.is(seen.status, 200);
  assert.match(textOf(seen.html), 'Only its creator may change this list.');
  assert.not.match(seen.html, /name="visibility"|Delete list/);
});

lists('a pasted line costs its length, and a long one of many names is read', async () => {
  const index = createStigNameIndex(t.db);
  const lookup = { called: index.exactly, like: () => [], versions: () => [] };
  for (const part of [',', ' ', ':', '–', '"', '.;', '\t'])
    for (const text of [`reed_rtr V1R1 x${part.repeat(100_000)}x`, `${part.repeat(100_000)}x V1R1 2 3`])
      assert.ok((await effortOf(() => readPasted(text, lookup).catch(() => null))) < 250, text.slice(0, 20));
  const long = Array.from({ length: 100 }, () => 'QEL_9_STIG, SLATE_2025').join(', ');
  const { named, unclear } = await readPasted(long, lookup);
  assert.equal(
    named.map(({ title }) => title.split(' ')[0]),
    ['Quill', 'Slate'],
  );
  assert.equal(unclear, []);
});

lists.run();
