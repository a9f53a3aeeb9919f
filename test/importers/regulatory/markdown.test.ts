import * as assert from 'uvu/assert';
import { runImport } from '../../../importers/run.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { ask, userCaller } from '../../support/callers.ts';
import { suite } from '../../support/harness.ts';
import { put, scratchFolder } from '../../support/scratch.ts';
import { told } from '../../support/told.ts';

const markdown = suite('Regulatory documents in Markdown');

const folder = scratchFolder();
let t: TestApp;
let count = 0;

markdown.before.each(async () => {
  t = await testApp();
});

markdown.after.each(() => t.db.close());

const load = async (text: string) => (await runImport(t.db, [put(folder, `${++count}.md`, text)])).lines[0]!;

async function get(id: string) {
  const caller = await userCaller(t, { entitlements: ['regdoc'] });
  return (await ask(t, 'GET', `/api/v1/regdoc/${id}`, caller)).json;
}

const document = (head: string, body = '# One\n\nAll must act.\n') => `---\n${head}\n---\n${body}`;

const broken: [string, string, RegExp][] = [
  ['a head that does not parse', 'title: A\nlist: [1, 2', /^the head, line [34]: /],
  ['a tab for an indentation', 'title: A\nnav:\n\t- a', /^the head, line 4: /],
  ['two titles', 'title: A\ntitle: B', /^the head, line 3: title occurs twice with different values$/],
  ['a date that is none', 'title: A\npublished: soon', /^the head, line 3: "soon" is not a date$/],
];

/** Signposts as `page tag`, items as `actionId text`. */
async function read(body: string, title = `A${count}`) {
  await load(document(`title: ${title}`, body));
  const { signposts, actionableItems } = await get(title.toLowerCase());
  return {
    tags: signposts.map((each: { page: number; tag: string }) => `${each.page} ${each.tag}`),
    items: actionableItems.map((each: { actionId: string; text: string }) => `${each.actionId} ${each.text}`),
    first: signposts[0]?.inferenceText,
    actionableItems,
  };
}

markdown('headings are found in every form, without what only a site needs of them', async () => {
  const { tags, items } = await read(`# Keepers {#keepers}
Keepers must climb.
## Lamps ## {#lamps .unnumbered}
Under the line
==============
Lamps must burn.

And *another*
---
Wicks must be trimmed.

A sentence must stay one.
---
<h3 id="x">In <b>HTML</b></h3>
<p>Horns shall sound.</p>`);
  assert.equal(tags, ['1 Keepers', '2 Lamps', '3 Under the line', '4 And another', '5 In HTML']);
  assert.is(
    items.join(' | '),
    'A-001-01 Keepers must climb. | A-003-01 Lamps must burn. | A-004-01 Wicks must be trimmed. | ' +
      'A-004-02 A sentence must stay one. | A-005-01 Horns shall sound.',
  );
});

markdown('definitions, footnotes, tables, tasks and links by label are told apart', async () => {
  const { items, first } = await read(`# One
Piers follow [the book][1], [Harbor Rules] and [none][2].

Lamp lit
: A flag. Piers **SHALL** look at it.
: If it is dark, piers **SHALL** light it.

| Fog | Horn \\| bell must sound. |

| Fog | Bell |
|-----|------|
| Reefs | Bells must sound, and shall be heard. |

Boats must float[^1].
[^1]: Hulls must be tight.
[^2]: Masts must stand&#x2014;all.

- [ ] Ropes must hold.
• Sails must be dry.

[1]: https://example.org/must "It must be no item"
[harbor rules]: <https://example.org/shall>
\`\`\`must not\`\`\`
Oars must be read.

[Note]: All must row.

~~~
must not be read
\`\`\`
must not be read either
~~~
Nets must be read too.

>\`\`\`
code in a quotation must not be read
\`\`\`
Hooks must be read.

\`\`\`
\`\`\`text
an example of code must not be read
\`\`\`  ${''}
Knots must be read.`);
  assert.is(first, 'Piers follow the book, Harbor Rules and [none][2].');
  assert.is(
    items.map((each: string) => each.slice(9)).join(' | '),
    'Piers SHALL look at it. | If it is dark, piers SHALL light it. | Boats must float. | Hulls must be tight. | ' +
      'Masts must stand—all. | Ropes must hold. | Sails must be dry. | must not Oars must be read. | ' +
      '[Note]: All must row. | Nets must be read too. | Hooks must be read. | Knots must be read.',
  );
});

markdown('a table is no duty, unless it puts a paragraph beside a picture', async () => {
  const { items, first } = await read(`# One
AAL | Bells
----|----
one | must ring

<table>
  <tr>

    <td>Boats</td>
    <td>All must float.<br>They shall be dry.</td>
  </tr></table>
<table><tr><td><img src="a.png"></td>
  <td>Ropes <i>must</i> hold.</td></tr></table>

Sails must be dry.`);
  assert.equal(items, ['A-001-01 Ropes must hold.', 'A-001-02 Sails must be dry.']);
  assert.is(first, 'Ropes must hold.');
});

markdown('indented code is no item, a paragraph that continues an item keeps its introduction', async () => {
  const { actionableItems } = await read(`# One
Within 30 days, update the following at the [registry](https://example.org/)[^1]:

1. The contact must be reached.

   A second contact should be named.

       must not be read
2. All must
be listed in:
   a. the first book;
   b. the second book.

Done.

    - must not be read

<pre>must not be read

nor must this</pre>

[^1]: The registry must be asked.`);
  const within = 'Within 30 days, update the following at the registry:';
  assert.equal(told(actionableItems, 'originText', 'timingOrTrigger'), [
    `${within} The contact must be reached. true`,
    `${within} A second contact should be named. true`,
    `${within} All must be listed in: true`,
    `${within} All must be listed in: the first book; true`,
    `${within} All must be listed in: the second book. true`,
    'The registry must be asked. false',
  ]);
  assert.is(actionableItems[3].text, 'the first book;');
});

markdown('a reference to what is no character is a blank, never a replacement character', async () => {
  const { items } = await read(
    '# One\nPiers&#0;must&#xD800;\0be&#x110000;kept&#11;dry&#8212;all of &#65;&#xfffe;them&#&#0;0;.',
  );
  assert.equal(items, ['A-001-01 Piers must be kept dry\u2014all of A them&# 0;.']);
});

markdown('lists of HTML hand down their introductions, with a colon or without', async () => {
  const { actionableItems } = await read(`# One
<div class="text-left">
\t<ol>
\t\t<li>If a lamp is dark:</li>
\t\t\t<ol><li>The keeper SHALL light it.</li>
\t\t\t<li>SHALL have the following wicks
\t\t\t\t<ul><li>one of wool;</li></ul>
\t\t\t</li></ol>
\t\t<li>Piers &amp; **boats** SHALL be kept.</li>
\t</ol>
</div>`);
  assert.equal(told(actionableItems, 'text', 'applicationConditions'), [
    'The keeper SHALL light it. If a lamp is dark',
    'SHALL have the following wicks If a lamp is dark',
    'one of wool; If a lamp is dark',
    'Piers & boats SHALL be kept. ',
  ]);
});

markdown('an informative appendix obliges nobody, nor does a section that says more before it', async () => {
  const obligations = async (says: string) =>
    (
      await read(`# One\n\n${says}\n\nLamps must burn.\n\n## Below\n\nWicks must.\n\n# Two\n\nBoats must.\n`)
    ).actionableItems.map((each: { obligation: boolean }) => each.obligation);
  assert.is((await obligations('*This appendix is informative.*')).join(), 'false,false,true');
  assert.is(
    (await obligations('_This adds to Section 4. This section is informative._')).join(),
    'false,false,true',
  );
  for (const says of ['- Section 1 is short. This section is informative.', '*This appendix is normative.*'])
    assert.is((await obligations(says)).join(), 'true,true,true');
});

markdown('what an introduction says of time and conditions holds for the list below it', async () => {
  const { actionableItems } = await read(`# Required Actions
By 5 pm on Friday, April 23, 2021, except on islands, all piers must:

1. Count the lamps. Old ones should go.
2. If a lamp is dark, do this:

   > i. Light it within an hour.

Later:

* Rest.`);
  assert.equal(
    actionableItems.map((each: Record<string, unknown>) =>
      [each.text, each.timingOrTrigger, each.applicationConditions, each.exemptConditions].join(' | '),
    ),
    [
      'Count the lamps. | true |  | except on islands',
      'Old ones should go. | false |  | ',
      'If a lamp is dark, do this: | true | If a lamp is dark | except on islands',
      'Light it within an hour. | true | If a lamp is dark | except on islands',
      'Rest. | false |  | ',
    ],
  );
});

markdown('the publisher is known by the address, or by the title', async () => {
  const publisherId = async (head: string) => {
    await load(document(head));
    return (await get(head.slice(7).split('\n')[0]!.toLowerCase().replaceAll(' ', '-'))).publisherId;
  };
  assert.is(await publisherId('title: A\nredirect_to: https://www.cisa.gov/a'), 'cisa');
  assert.is(await publisherId('title: B\nsourceUrl: https://csrc.nist.gov/pubs/sp/800/39/final'), 'nist');
  assert.is(await publisherId('title: C\nsourceUrl: https://cisa.gov.example.org/'), '');
  assert.is(await publisherId('title: Emergency Directive 99-01 Supplement'), 'cisa');
  assert.is(await publisherId('title: Emergency Directive 99-02\nsourceUrl: https://example.org/'), '');
  assert.is(await publisherId('title: Emergency Directive 99-03\npublisher: Harbor Board'), 'harbor-board');
});

markdown('what may be required is no duty, and an hour goes on with its zone', async () => {
  const { items } = await read(
    '# One\n\nLamps may be required later. Boats may also be required to wait. Report by 5 p.m. ET as is required. All must by 6 p.m. Piers must too.\n',
  );
  assert.equal(
    items.map((each: string) => each.slice(9)),
    ['Report by 5 p.m. ET as is required.', 'All must by 6 p.m.', 'Piers must too.'],
  );
});

markdown('a date alone may be emphasized, and no other line is one; a key may be repeated', async () => {
  const emphasized = document('title: A\nlayout: x\nlayout: x', '**April 11, 2024**\n\n# One\n\nYou must.\n');
  assert.equal((await load(emphasized)).warnings, ['the head states layout twice with the same value']);
  assert.is((await get('a')).published, '2024-04-11');
  const without = 'On May 21, 2015 it began.\n\nMay 32, 2015\n\n# One\n\nYou must.\n';
  assert.equal((await load(document('title: B', without))).warnings, [
    'no line contains only a date: the date of publication is unknown',
  ]);
  assert.is((await get('b')).published, null);
});

markdown('a head without an end is named', async () => {
  const line = await load('---\nlayout: base\ntitle: Directive 9\n\n### It moved\n\nYou must look.\n');
  assert.equal([line.kind, line.outcome], ['regdoc-markdown', 'rejected']);
  assert.is(line.reason, 'the head, line 1: it does not end with a line of three hyphens');
});

markdown(
  'what is wrong in a head is named with its line, and leaves the previous document whole',
  async () => {
    await load(document('title: A'));
    const before = await get('a');
    for (const [name, head, reason] of broken) {
      const line = await load(document(head));
      assert.equal([line.kind, line.outcome], ['regdoc-markdown', 'rejected'], name);
      assert.match(line.reason!, reason);
    }
    assert.equal(await get('a'), before);
    // Aliases do not multiply: a head is read without expanding any.
    const layers = Array.from({ length: 30 }, (_, i) => `a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`);
    await load(document(['title: B', 'a-1: &a-1 [x]', ...layers].join('\n')));
  },
);

const nested = Array.from(
  { length: 100 },
  (_, depth) => `${' '.repeat(depth)}- If ${'very '.repeat(800)}hot, all must:\n`,
).join('');

markdown('what items repeat is bounded', async () => {
  for (const body of [
    `# One\n\n${'All must act. '.repeat(3000)}\n`,
    `# ${'One '.repeat(20_000)}\n\n${'- All must act.\n'.repeat(1000)}`,
    `# One\n\n${nested}${`${' '.repeat(100)}- row.\n`.repeat(100)}`,
  ])
    assert.is(
      (await load(document('title: A', body))).reason,
      'the actionable items repeat more than 32000000 characters of paragraphs, headings and introductions',
    );
});

markdown('what is not a document is skipped', async () => {
  for (const text of [
    '# A readme\n\nYou must read it.\n',
    '<a name="x"></a>\n\n<div></div>\n\n## 4 A part\n\nYou must.\n',
    document('title: Overview\nsection: 4'),
    document('title: Passwords\nsection: A'),
    document('title: Terms\nnavOrder: 12'),
    '---\nkind: Pod\n---\n# x\n',
    '---\nnotes: a text',
    document('title: A', 'No heading, though it must have one.\n'),
    document('title: ""'),
  ]) {
    const line = await load(text);
    assert.equal([line.outcome, line.kind], ['skipped', 'other'], text);
  }
});

const cover = `<div>
# Harbor Publication 12-1

# Rules for Ropes

### Volume One

https://doi.org/10.6028/HP.12-1

June 2020
</div>

### Abstract
Ropes shall not be counted here.`;

const parts: [string, string][] = [
  ['cover.md', cover],
  [
    'sec2_ropes.md',
    '## 2 <a name="r"></a>Ropes\n\nRopes SHALL hold [10 tons](#x) e.g. twice. Knots **should** hold too.\n',
  ],
  ['sec10_end.md', '## 10 End\n\nAll ropes must be coiled daily.\n'],
  ['sec1_begin.md', '## 1 Begin\n\nNothing here.\n'],
  ['appA.md', '## A Knots\n\nA bowline must be known.\n'],
  ['README.md', '# Readme\n\nYou must not read this.\n'],
  ['terms.md', '## Terms\n\nA rope is long.\n'],
  ['errata.md', '# Errata\n\nYou must not read this either.\n'],
  ['sec2_ropes.ja.md', '## 2 Ropes\n\nA translation must not be read.\n'],
];

async function isTheDocument(): Promise<void> {
  const rope = await get('HP.12-1');
  assert.is(rope.title, 'Harbor Publication 12-1, Rules for Ropes: Volume One');
  assert.is(rope.published, '2020-06-01');
  assert.is(rope.sourceUrl, 'https://doi.org/10.6028/HP.12-1');
  assert.is(
    rope.signposts.map((each: { tag: string; page: number }) => `${each.page} ${each.tag}`).join(),
    '1 1 Begin,2 2 Ropes,3 10 End,4 A Knots,5 Terms',
  );
  assert.equal(told(rope.actionableItems, 'text', 'obligation'), [
    'Ropes SHALL hold 10 tons e.g. twice. true',
    'Knots should hold too. false',
    'All ropes must be coiled daily. true',
    'A bowline must be known. true',
  ]);
}

markdown('a folder with a cover and sections is one document, sections in number order', async () => {
  for (const [name, text] of parts) put(folder, `ropes/${name}`, text);
  const { lines } = await runImport(t.db, [`${folder}/ropes`]);
  assert.is(lines.length, 1);
  assert.is(lines[0]!.source, `${folder}/ropes`);
  assert.equal(lines[0]!.warnings, [
    'translations are left out: sec2_ropes.ja.md',
    'not stored: the file README.md (1)',
    'not stored: the file errata.md (1)',
    'the date in cover.md has no day: the first of the month is used',
  ]);
  await isTheDocument();
});

markdown('the sections of such a folder may have heads of their own, which are passed over', async () => {
  for (const [name, text] of parts)
    put(folder, `headed/${name}`, `---\nlayout: default\ntitle: "Must: not"\nsection: 1\n---\n${text}`);
  const { lines } = await runImport(t.db, [`${folder}/headed`]);
  assert.is(lines.length, 1);
  await isTheDocument();
});

markdown('a section that begins with a rule has no head, whatever rules stand far below', async () => {
  const far = `---\n# One\n\nThe first must stay.\n\n${'A boat floats.\n\n'.repeat(5000)}`;
  put(folder, 'ruled/cover.md', '# Boats\n\nMay 21, 2015\n');
  put(folder, 'ruled/sec1.md', `${far}---\nNote: what follows\n---\n\nThe last must stay.\n`);
  const { lines } = await runImport(t.db, [`${folder}/ruled`]);
  assert.is(lines[0]!.outcome, 'imported');
  const { actionableItems } = await get('boats');
  assert.equal(told(actionableItems, 'text'), ['The first must stay.', 'The last must stay.']);
});

markdown('the head of a cover gives the title where no heading does; code ends with its file', async () => {
  put(
    folder,
    'plain/cover.md',
    '---\nlayout: cover\ntitle: "Rules for Oars"\n---\n\n### Volume One\n\nJune 2020\n',
  );
  put(folder, 'plain/sec1.md', '# One\n\nOars must float.\n\n```\nmust not be read\n<!-- nor this\n');
  put(folder, 'plain/sec2.md', '# Two\n\nBoats must float.\n\n-->\n');
  await runImport(t.db, [`${folder}/plain`]);
  const { title, published, actionableItems } = await get('rules-for-oars');
  assert.equal([title, published], ['Rules for Oars', '2020-06-01']);
  assert.equal(told(actionableItems, 'text'), ['Oars must float.', 'Boats must float.']);
});

markdown('a cover without a title rejects the document', async () => {
  put(folder, 'bad/cover.md', 'No heading\n');
  put(folder, 'bad/sec1.md', '# x\n');
  const { lines } = await runImport(t.db, [`${folder}/bad`]);
  assert.equal([lines[0]!.kind, lines[0]!.outcome], ['regdoc-markdown', 'rejected']);
});

markdown('what would take a parser for hours is refused, and nothing is stored', async () => {
  for (const [body, reason] of [
    ['*_'.repeat(10_000), 'has too many marks in one run of lines'],
    ['*_  \n'.repeat(10_000), 'has too many marks in one run of lines'],
    ['a\n\n'.repeat(50_000), 'has more than 80000 lines and marks'],
    ['- '.repeat(20_000), 'nests more than 60 levels deep (line 4)'],
    ['>'.repeat(20_000), 'nests more than 60 levels deep (line 4)'],
    [`${'>'.repeat(50)}a\n${'a\n'.repeat(30_000)}`, 'has too many lines in nested lists and quotations'],
    ['[a]: b\n"c\n'.repeat(8000), 'has too many marks in one run of lines'],
  ] as const) {
    const line = await load(document('title: A', `# One\n\n${body} x must\n`));
    assert.equal([line.outcome, line.reason], ['rejected', `the Markdown ${reason}`]);
  }
  assert.is((await get('a')).error?.code, 'NOT_FOUND');
});

markdown('hostile text is read, or refused by its bounds', async () => {
  const bodies = [
    `# ${'['.repeat(50_000)}\n\n${'](('.repeat(50_000)} must\n`,
    `# a\n\n${'<a '.repeat(50_000)} must\n`,
    `# a\n\n${'must if '.repeat(30_000)}.\n`,
    `# a\n\n${'within by before at least '.repeat(20_000)} shall\n`,
    `# a\n\n${'&amp'.repeat(50_000)} ![${'!['.repeat(30_000)} must\n`,
    `# a\n\n${'"A." '.repeat(60_000)} must.\n`,
    `# a\n\n<!-- ${'<!-- '.repeat(50_000)} must\n`,
    `# a\n\n${'[a]['.repeat(50_000)} must\n\n[a]: b\n`,
    `# ${'{#a'.repeat(50_000)}\n\n${'`'.repeat(100_000)} must\n<h1>${'<h1>'.repeat(30_000)}\n`,
    `# a${'#'.repeat(100_000)} b ${'#'.repeat(100_000)} c\n`,
    `# a\n\n${'- x:\n  '.repeat(1000)}- must\n`,
  ];
  const outcomes: string[] = [];
  for (const body of bodies) {
    const { outcome, reason } = await load(document('title: A', body));
    outcomes.push(reason?.match(/80000 lines|one run of lines/)?.[0] ?? outcome);
  }
  const expected = `80000 lines, one run of lines, imported, imported, 80000 lines, imported, 80000 lines, 80000 lines,
    80000 lines, 80000 lines, imported`;
  assert.equal(outcomes, expected.split(/,\s+/));
});

markdown.run();
