import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { readOscalAssessments } from '../support/assessment-reader.ts';
import { read80053, readBaseline, sortedBy } from '../support/control-oracle.ts';
import { suiteIf } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { benchmarkFiles, benchmarkPaths } from '../support/real-files.ts';
import { reference, referenceData } from '../support/reference.ts';
import { told } from '../support/told.ts';
import { readBenchmark, versionString } from '../support/xccdf-reader.ts';
import { partsOf, readSheet } from '../support/xlsx-reader.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Json = any;

const wordsOf = (parameter: Json): string =>
  (parameter.props ?? []).find((prop: Json) => prop.name === 'alt-label')?.value ?? parameter.label ?? '';

/** The words of a text after its control, by reading sign by sign; null where it is of another control. */
function partAfter(control: string, text: string): string[] | null {
  const squeezed = text.replaceAll(/\s/g, '').toUpperCase();
  const plain = squeezed.replaceAll(/([-(])0+(?=\d)/g, '$1');
  if (!plain.startsWith(control)) return null;
  const rest = plain.slice(control.length);
  if (!control.includes('(') && /^\(?\d/.test(rest)) return null;
  // NIST prints `PE-03(01)02]`: a label that cannot be read is of the whole control.
  if (rest.split('[').length !== rest.split(']').length) return [];
  // Blanks part words, so that `a 1` and `a(1)` are the same.
  const spelled = text.toLowerCase().replace(/^\s*[a-z]{2}\s*-\s*\d+\s*/, '');
  const words: string[] = [];
  let depth = 0;
  let word = '';
  const close = () => {
    if (word !== '') words.push(/^\d/.test(word) ? String(Number(word)) : word);
    word = '';
  };
  for (const sign of control.includes('(') ? spelled.replace(/^\(\s*\d+\s*\)/, '') : spelled) {
    if (sign === '[') depth++;
    if (depth === 0 && /[a-z0-9]/.test(sign)) {
      if (word !== '' && /\d/.test(word) !== /\d/.test(sign)) close();
      word += sign;
    } else close();
    if (sign === ']') depth--;
  }
  close();
  return words;
}

const starts = (words: string[], beginning: string[]) => beginning.every((word, at) => words[at] === word);

/** The references of CCIs that are not deprecated to a revision, by control. */
function referencesTo(revision: 4 | 5) {
  const text = readFileSync(reference('cci', 'U_CCI_List.xml'), 'utf8');
  const found: { cci: string; index: string }[] = [];
  for (const [, cci, body] of text.matchAll(/<cci_item id="([^"]+)">([\s\S]*?)<\/cci_item>/g)) {
    if (/<status>\s*deprecated/i.test(body!)) continue;
    for (const [, version, index] of body!.matchAll(/<reference [^>]*version="(\d)"[^>]*index="([^"]*)"/g))
      if (Number(version) === revision) found.push({ cci: cci!, index: index! });
  }
  return found;
}

function expectedCcis(control: string, label: string, stated: { cci: string; index: string }[]) {
  const part = partAfter(control, label) ?? [];
  const ranks = new Map<string, number>();
  for (const { cci, index } of stated)
    for (const each of index.split(/[,;]/)) {
      const words = partAfter(control, each);
      if (words === null) continue;
      const rank = [
        starts(part, words) && starts(words, part),
        starts(part, words),
        starts(words, part),
      ].indexOf(true);
      if (rank >= 0) ranks.set(cci, Math.min(rank, ranks.get(cci) ?? 3));
    }
  return sortedBy(ranks, ([cci, rank]) => `${rank}${cci}`).map(([cci, rank]) => ({
    cci,
    relation: ['equal', 'broader', 'narrower'][rank],
  }));
}

const real = suiteIf(referenceData, 'worksheets: real files');
if (real) {
  const app = await testApp([
    ...benchmarkPaths,
    ...['oscal', 'sp800-171', 'dod-8500', 'cci'].map((folder) => reference(folder)),
  ]);
  const released = new Map<string, ReturnType<typeof readBenchmark>>();
  for (const { text } of await benchmarkFiles()) {
    const benchmark = readBenchmark(text);
    released.set(`${benchmark.id} ${versionString(benchmark)}`, benchmark);
  }
  const rulesOf = async (slug: string) => {
    const { benchmarkId, version } = (await app.get(`/api/v1/stigs/${slug}`)).json;
    return released.get(`${benchmarkId} ${version}`)!.rules;
  };
  const idOf = (identifier: string) => identifier.toLowerCase().replace('(', '.').replace(')', '');

  for (const [revision, baselines] of [
    [5, [null, 'privacy']],
    [4, ['moderate']],
  ] as const)
    real(`every objective of Rev ${revision} stands once, in order, with its CCIs and rules`, async () => {
      const slug = 'red_hat_enterprise_linux_9';
      const rules = await rulesOf(slug);
      const file = reference('oscal', `NIST_SP-800-53_rev${revision}_catalog-min.json`);
      const read = readOscalAssessments(JSON.parse(readFileSync(file, 'utf8')), wordsOf);
      const all = referencesTo(revision);
      const active = read80053(revision).filter((each) => !each.withdrawn);
      let equal = 0;
      for (const name of baselines) {
        const members = name === null ? null : readBaseline(revision, name);
        const expected = active
          .map(({ identifier }) => identifier)
          .filter((identifier) => members?.has(identifier) ?? true);
        const query = name === null ? '' : `&baseline=${name}`;
        const { json } = await app.get(`/api/v1/stigs/${slug}/worksheet?revision=${revision}${query}`);
        assert.equal(told(json.controls, 'identifier'), expected);
        let objectives = 0;
        for (const control of json.controls) {
          const { identifier } = control;
          const stated = read.get(idOf(identifier))!;
          assert.equal(control.methods, stated.methods, identifier);
          assert.equal(
            control.objectives.map(({ id, label, context, text }: Json) => ({ id, label, context, text })),
            stated.objectives.map(({ link: _, ...each }) => each),
            identifier,
          );
          objectives += stated.objectives.length;
          const near = all.filter(({ index }) => index.includes(identifier.split('(')[0]!));
          for (const { label, ccis, rules: shown } of control.objectives) {
            assert.equal(ccis, expectedCcis(identifier, label, near), label);
            const named = new Set(ccis.map(({ cci }: Json) => cci));
            equal += ccis.filter(({ relation }: Json) => relation === 'equal').length;
            const addressing = rules.filter((rule) => rule.ccis.some((cci) => named.has(cci)));
            assert.equal(told(shown, 'ruleId').sort(), told(addressing, 'ruleId').sort(), label);
          }
        }
        assert.equal([json.totals.controls, json.totals.objectives], [expected.length, objectives]);
      }
      assert.ok(equal > 500, `${equal}`);
    });

  real('a list answers as its pinned releases do, and files have a row for each objective', async () => {
    const { id } = (await app.send('POST', '/api/v1/lists', { name: 'Worksheet' })).json;
    const releases = {
      ...{ kubernetes: 'V1R1', ms_sql_server_2016_instance: 'V3R5' },
      red_hat_enterprise_linux_9: 'V2R3',
    };
    await app.send('POST', `/api/v1/lists/${id}/stigs`, { slugs: Object.keys(releases), releases });
    const path = `/api/v1/lists/${id}/worksheet`;
    const { json } = await app.get(`${path}?baseline=moderate&family=ac`);
    const apart = await Promise.all(
      Object.entries(releases).map(
        async ([slug, version]) =>
          (await app.get(`/api/v1/stigs/${slug}/worksheet?baseline=moderate&family=AC&version=${version}`))
            .json,
      ),
    );
    for (const [at, control] of json.controls.entries()) {
      assert.is(control.family, 'Access Control');
      for (const [place, objective] of control.objectives.entries()) {
        const key = (rule: Json) => `${rule.slug} ${rule.ruleId} ${rule.automation}`;
        assert.equal(
          objective.rules.map(key).sort(),
          apart.flatMap((each) => each.controls[at].objectives[place].rules.map(key)).sort(),
        );
      }
    }
    const rows = readCsv((await app.get(`${path}?baseline=moderate&family=ac&format=csv`)).text);
    const objectives = json.controls.flatMap((control: Json) => control.objectives);
    assert.is(rows.length, objectives.length + 1);
    assert.is(
      rows[0]!.join(),
      'identifier,title,family,label,part,context,objective,examine,interview,test,ccis,rules,result,evidence,assessor,date',
    );
    const headers = { Authorization: `Bearer ${await app.token()}` };
    const xlsx = await app.app.request(`${path}?baseline=moderate&family=ac&format=xlsx`, { headers });
    const bytes = new Uint8Array(await xlsx.arrayBuffer());
    assert.equal(readSheet(bytes).rows, rows);
    const parts = await partsOf(bytes);
    assert.match(parts.get('xl/worksheets/sheet1.xml')!, /state="frozen".*<autoFilter /s);
    assert.match(parts.get('xl/styles.xml')!, /wrapText="1"/);
  });

  real.after(() => app.db.close());
  real.run();
}
