import { parse } from 'csv-parse/sync';
import * as assert from 'uvu/assert';
import { zipOf as writeZip } from '../../src/base/zip.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { testApp } from '../support/app.ts';
import { sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { formOnPage, loadPage, textOf } from '../support/pages.ts';
import { readZip } from '../support/read-zip.ts';
import { shipped } from '../support/reference.ts';
import { writeResults } from '../support/results-writer.ts';
import { readCkl, readCklb } from '../support/stig-manager.ts';
import { noStig } from '../support/words.ts';

// Several old checklists at once: one zip with one report.
const several = suite('Several checklists upgraded at once');

const t = await testApp([shipped('stigs')]);
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
several.after(() => t.db.close());

/** The checklist of V1R1 of Harbor Linux 3, every rule answered. */
async function old(hostName: string, format = 'cklb'): Promise<string> {
  const path = `/api/v1/stigs/harbor_linux_3/download?version=V1R1&hostName=${hostName}&format=${format}`;
  const { text } = await t.get(path);
  if (format === 'ckl') return text.replaceAll('Not_Reviewed', 'NotAFinding');
  const checklist = JSON.parse(text) as Cklb;
  for (const rule of checklist.stigs[0]!.rules) {
    rule.status = 'open';
    rule.finding_details = `=seen on ${hostName}`;
  }
  return JSON.stringify(checklist);
}

function formOf(files: [name: string, text: string][], fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const [name, text] of files) form.append('file', new File([text], name));
  return form;
}

async function zipOf(form: FormData): Promise<Map<string, Buffer>> {
  const init = { method: 'POST', body: form, headers: ann };
  const answer = await t.app.request('http://here.example/checklists/upgrade', init);
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.is(answer.headers.get('Content-Type'), 'application/zip', textOf(bytes.toString()).slice(0, 300));
  assert.match(answer.headers.get('Content-Disposition')!, 'filename="upgraded_checklists.zip"');
  return readZip(bytes);
}

const reportOf = (files: Map<string, Buffer>): Record<string, string>[] =>
  parse(files.get('upgrade-report.csv')!, { columns: true });

for (const format of ['cklb', 'ckl'] as const) {
  several(
    `${format}: previewed by file, then one zip in which each is what the API makes of it`,
    async () => {
      const sources: [string, string][] = [
        ['first.cklb', await old('web01')],
        ['second.ckl', await old('web02', 'ckl')],
        ['../twin.cklb', await old('web01')],
      ];
      const preview = await loadPage(
        t,
        '/checklists/upgrade',
        ann,
        formOf(sources, { format, onChange: 'reset' }),
      );
      assert.is(preview.status, 200);
      assert.match(textOf(preview.html), '3 of 3 checklists upgraded');
      for (const [name] of sources) assert.match(textOf(preview.html), name);
      const files = await zipOf(formOnPage(preview.html));
      const wanted = [
        'web01_harbor_linux_3_V1R2',
        'web02_harbor_linux_3_V1R2',
        'web01_harbor_linux_3_V1R2-2',
      ];
      assert.equal([...files.keys()], ['upgrade-report.csv', ...wanted.map((name) => `${name}.${format}`)]);
      const report = reportOf(files);
      for (const [index, [file, checklist]] of sources.entries()) {
        const api = await t.send('POST', '/api/v1/checklists/upgrade', {
          ...{ slug: 'harbor_linux_3', checklist, format, onChange: 'reset' },
        });
        const name = `${wanted[index]}.${format}`;
        const text = files.get(name)!.toString();
        assert.is(text, format === 'ckl' ? api.json.checklist : JSON.stringify(api.json.checklist));
        (format === 'ckl' ? readCkl : readCklb)(text);
        const own = report.filter((line) => line.file === file);
        assert.ok(own.every((line) => line.upgradedFile === name));
        const { rules, notCarried } = api.json.report;
        assert.equal(
          own.map((line) => [line.outcome, line.ruleId]),
          [
            ...rules.map((rule: { outcome: string; ruleId: string }) => [rule.outcome, rule.ruleId]),
            ...notCarried.map((each: { ruleId?: string }) => ['not-carried', each.ruleId ?? '']),
          ],
        );
      }
      const reset = report.find((line) => line.outcome === 'reset' && line.file === 'first.cklb')!;
      // Formulas are escaped, as in every csv.
      assert.equal([reset.lostStatus, reset.lostDetails], ['open', "'=seen on web01"]);
      assert.ok(report.some((line) => line.outcome === 'not-carried' && line.lostStatus === 'open'));
    },
  );
}

several('a STIG under another benchmark id is found by its title, else by its rules', async () => {
  for (const change of [
    { stig_id: 'Renamed_By_A_Tool' },
    { stig_id: 'Renamed_By_A_Tool', stig_name: 'Ours' },
    { stig_id: '', stig_name: '' },
  ]) {
    const checklist = JSON.parse(await old('web04')) as Cklb;
    Object.assign(checklist.stigs[0]!, change);
    const preview = await loadPage(
      t,
      '/checklists/upgrade',
      ann,
      formOf([
        ['a.cklb', JSON.stringify(checklist)],
        ['b.cklb', '{'],
      ]),
    );
    assert.match(textOf(preview.html), '1 of 2 checklists upgraded', JSON.stringify(change));
    const files = await zipOf(formOnPage(preview.html));
    assert.equal([...files.keys()], ['upgrade-report.csv', 'web04_harbor_linux_3_V1R2.cklb']);
  }
});

several('what cannot be upgraded is told, and keeps no other from it', async () => {
  const foreign = JSON.parse(await old('web03')) as Cklb;
  Object.assign(foreign.stigs[0]!, { stig_id: 'Nobody_Knows', stig_name: 'Nobody knows' });
  for (const [at, rule] of foreign.stigs[0]!.rules.entries())
    Object.assign(rule, { group_id: `V-99${at}`, rule_id_src: `SV-99${at}r1_rule` });
  const sources: [string, string][] = [
    ['good.cklb', await old('web01')],
    ['broken.cklb', '{'],
    ['foreign.cklb', JSON.stringify(foreign)],
    ['<b>.txt', 'x'],
    ['scan.xml', '<TestResult xmlns="http://checklists.nist.gov/xccdf/1.2" id="t"/>'],
  ];
  const preview = await loadPage(t, '/checklists/upgrade', ann, formOf(sources));
  const text = textOf(preview.html);
  assert.match(text, '1 of 5 checklists upgraded');
  assert.match(text, 'checklist: the text is not valid JSON');
  assert.match(text, 'Nobody_Knows is not in the catalog, and stays as it was');
  assert.match(text, '<b>.txt');
  assert.not.match(preview.html, '<b>.txt');
  const files = await zipOf(formOnPage(preview.html));
  assert.equal([...files.keys()], ['upgrade-report.csv', 'web01_harbor_linux_3_V1R2.cklb']);
  const refused = reportOf(files).filter(({ outcome }) => outcome === 'not-upgraded');
  assert.equal(
    refused.map(({ file }) => file),
    ['broken.cklb', 'foreign.cklb', '<b>.txt', 'scan.xml'],
  );
  // Named by hand, a checklist of another id is of the STIG that shares its rules.
  const named = await loadPage(t, '/checklists/upgrade', ann, formOf(sources, { slug: 'harbor_linux_3' }));
  assert.match(textOf(named.html), '2 of 5 checklists upgraded');
  const none = await loadPage(t, '/checklists/upgrade', ann, formOf(sources.slice(1, 3)));
  assert.match(textOf(none.html), '0 of 2 checklists upgraded');
  assert.not.match(none.html, 'Download checklists and report');
});

several('a checklist of several STIGs has each of them upgraded', async () => {
  const both = JSON.parse(await old('web01')) as Cklb;
  const other = await t.get('/api/v1/stigs/lantern_web_server_2/download');
  both.stigs.push(...(JSON.parse(other.text) as Cklb).stigs);
  const single = await old('');
  const files = await zipOf(
    formOf(
      [
        ['both.cklb', JSON.stringify(both)],
        ['no host.cklb', single],
      ],
      { as: 'file' },
    ),
  );
  assert.equal([...files.keys()].slice(1), ['web01.cklb', 'no host.cklb']);
  const made = JSON.parse(files.get('web01.cklb')!.toString()) as Cklb;
  assert.is(made.stigs.length, 2);
  assert.ok(made.stigs.every((stig) => stig.rules.every((rule) => rule.stig_uuid === stig.uuid)));
  const stigs = new Set(reportOf(files).map(({ file, stig }) => `${file} ${stig}`));
  assert.is(stigs.size, 3);
});

several('several files are inspected at once, and one that cannot be read says why', async () => {
  const results = writeResults([{ id: 'SV-900001r100090_rule', result: 'fail' }], { target: 'web02' });
  const files: [string, string][] = [
    ['a.cklb', await old('web01')],
    ['b.xml', results],
    ['c.cklb', '{}'],
  ];
  const { status, html } = await loadPage(t, '/checklists/inspect', ann, formOf(files));
  assert.is(status, 200);
  const text = textOf(html);
  assert.match(text, 'a.cklb: Harbor Linux 3 V1R1 Current release V1R2 Rules 14');
  assert.match(text, 'b.xml: Harbor Linux 3 V1R2');
  assert.match(html, /<p class="problem">c\.cklb: [^<]+/);
  // The files go on to the preview of their upgrade.
  const sent = [...html.matchAll(/name="checklistName" value="([^"]*)"/g)].map(([, name]) => name);
  assert.equal(
    sent,
    files.map(([name]) => name),
  );
});

several('what makes no sense for several is refused in words', async () => {
  const two: [string, string][] = [
    ['a.cklb', '{}'],
    ['b.cklb', '{}'],
  ];
  for (const [fields, message] of [
    [{ hostName: 'web01' }, 'Several checklists keep their own host names: leave the host name empty'],
    [{ version: 'V1R1' }, 'Choose the STIG that the release is of, or leave the release empty'],
    [{ slug: 'no_such_stig' }, noStig('no_such_stig')],
  ] as [Record<string, string>, string][]) {
    const valid: [string, string][] = fields.slug === undefined ? two : [['a.cklb', await old('a')], ...two];
    const refused = await loadPage(t, '/checklists/upgrade', ann, formOf(valid, fields));
    assert.is(refused.status, 400);
    assert.match(textOf(refused.html), message);
  }
  const many = Array.from({ length: 101 }, (_, index): [string, string] => [`${index}.cklb`, '{}']);
  const refused = await loadPage(t, '/checklists/upgrade', ann, formOf(many));
  assert.match(textOf(refused.html), 'Choose at most 100 checklists at once');
});

several(
  'each STIG of one checklist is upgraded, also where two entries spell one STIG differently',
  async () => {
    const checklist = JSON.parse(await old('twice')) as Cklb;
    const [first] = checklist.stigs;
    checklist.stigs = ['harbor_linux_3_stig', 'Harbor_Linux_3_STIG', 'Harbor_Linux_3_STIG'].map(
      (stig_id, at) => {
        const rules = first!.rules.map((rule) => ({ ...rule, comments: `entry ${at}` }));
        return { ...first!, stig_id, rules };
      },
    );
    const sources: [string, string][] = [
      ['twice.cklb', JSON.stringify(checklist)],
      ['other.cklb', await old('other')],
    ];
    const form = formOf(sources, { format: 'cklb', onChange: 'keep' });
    const files = await zipOf(formOnPage((await loadPage(t, '/checklists/upgrade', ann, form)).html));
    const { stigs } = JSON.parse(files.get('twice.cklb')!.toString()) as Cklb;
    assert.equal(
      stigs.map(({ release_info: info, rules }) => [/^Release: \d+/.exec(info)![0], rules[0]!.comments]),
      [0, 1, 2].map((at) => ['Release: 2', `entry ${at}`]),
    );
  },
);

several('a zip stands for its checklists, and a hostile one is refused', async () => {
  const zip = async (files: Record<string, string>) =>
    Buffer.from(
      await writeZip(Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) }))),
    ).toString('latin1');
  const send = (bytes: string) => {
    const form = formOf([]);
    form.append('file', new File([Buffer.from(bytes, 'latin1')], 'all.zip'));
    return loadPage(t, '/checklists/upgrade', ann, form);
  };
  const sources = {
    'a/web01.cklb': await old('web01'),
    'b.ckl': await old('web02', 'ckl'),
    'notes.txt': 'x',
  };
  const both = await send(await zip(sources));
  assert.match(textOf(both.html), '2 of 2 checklists upgraded');
  const files = await zipOf(formOnPage(both.html));
  assert.equal([...files.keys()].slice(1), [
    'web01_harbor_linux_3_V1R2.cklb',
    'web02_harbor_linux_3_V1R2.cklb',
  ]);
  const one = await send(await zip({ 'web01.cklb': sources['a/web01.cklb'] }));
  assert.match(textOf(one.html), 'V1R1 to V1R2');
  for (const [bytes, message] of [
    [await zip({ 'notes.txt': 'x' }), 'all.zip has no checklist (.ckl, .cklb) and no scan results (.xml)'],
    [(await zip(sources)).slice(0, -30), 'all.zip: the zip cannot be opened'],
    [await zip({ 'big.cklb': ' '.repeat(60 * 1024 * 1024) }), 'compressed more than 200:1'],
  ] as const) {
    const refused = await send(bytes);
    assert.is(refused.status, 400, message);
    assert.match(textOf(refused.html), message);
  }
});

several('scan results of several hosts become a checklist for each', async () => {
  const rules = (JSON.parse(await old('x')) as Cklb).stigs[0]!.rules;
  const results = (target: string) =>
    writeResults([{ id: rules[0]!.rule_id_src, result: 'fail' }], { target });
  const sources: [string, string][] = [
    ['1.xml', results('web01')],
    ['2.xml', results('web02')],
  ];
  const preview = await loadPage(t, '/checklists/results', ann, formOf(sources));
  assert.match(textOf(preview.html), '2 of 2 checklists made');
  assert.match(textOf(preview.html), /web01 Open fail/);
  const files = await zipOf(formOnPage(preview.html));
  const made = [...files.keys()].slice(1);
  assert.equal(
    made.map((name) => name.slice(0, 5)),
    ['web01', 'web02'],
  );
  const api = await t.send('POST', '/api/v1/checklists/from-results?download=true', {
    results: results('web02'),
  });
  assert.is(files.get(made[1]!)!.toString(), api.text, 'the very file of the API');
});

several('a report is filtered by severity and outcome, and ordered, with its files', async () => {
  const preview = await loadPage(t, '/checklists/upgrade', ann, formOf([['a.cklb', await old('web01')]]));
  const rulesOf = (html: string) =>
    [...html.split('class="cards review"')[1]!.matchAll(/<tr role="row"><td.*?<\/tr>/gs)].map(([row]) =>
      textOf(row),
    );
  const api = await t.send('POST', '/api/v1/checklists/upgrade', {
    ...{ slug: 'harbor_linux_3', checklist: await old('web01') },
  });
  const { rules } = api.json.report as { rules: { outcome: string; groupId: string; ruleVersion: string }[] };
  const seen = async (fields: [string, string][]) => {
    const form = formOnPage(preview.html);
    form.set('view', 'report');
    for (const [name, value] of fields) form.append(name, value);
    const { status, html } = await loadPage(t, '/checklists/upgrade', ann, form);
    assert.is(status, 200);
    return rulesOf(html);
  };
  const idsOf = (kind: (outcome: string) => boolean) =>
    rules
      .filter(({ outcome }) => kind(outcome))
      .map(({ ruleVersion }) => ruleVersion)
      .sort();
  const shown = (lines: string[]) => lines.map((line) => /\bHARB-\S+/.exec(line)![0]);
  assert.equal(
    shown(rulesOf(preview.html)).sort(),
    idsOf((outcome) => outcome !== 'carried'),
  );
  assert.equal(
    shown(
      await seen([
        ['kind', 'carried'],
        ['order', 'id'],
      ]),
    ),
    idsOf((outcome) => outcome === 'carried'),
  );
  const all = [...new Set(rules.map(({ outcome }) => outcome))].map((kind): [string, string] => [
    'kind',
    kind,
  ]);
  const first = (await seen(all)).map((line) =>
    ['CAT I ', 'CAT II ', 'CAT III '].findIndex((word) => line.includes(word)),
  );
  assert.equal(
    first,
    first.toSorted((a, b) => a - b),
    'CAT I first',
  );
  assert.is(first.length, rules.length);
  const high = await seen([...all, ['severity', 'high']]);
  assert.is(high.length, first.filter((rank) => rank === 0).length);
  assert.is(
    (await seen([...all, ['severity', 'urgent']])).length,
    rules.length,
    'an unknown word is no filter',
  );
});

several.run();
