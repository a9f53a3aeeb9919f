import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { sha256 } from '../../src/base/ids.ts';
import { createExplainService } from '../../src/catalog/crosswalk/explain.ts';
import type { MappingStatus } from '../../src/catalog/crosswalk/graph.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import type { Database } from '../../src/db/database.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { readBaseline } from '../support/control-oracle.ts';
import { controlsIn, type OracleCci, readCcis, readRev5 } from '../support/crosswalk-oracle.ts';
import { suiteIf } from '../support/harness.ts';
import { oscalProblems, valuesOf } from '../support/oscal.ts';
import { everything as allCatalogs, emptyCatalog } from '../support/prepared.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { exchangeData, exchangeFolder, reference, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { linesOf } from '../support/tables.ts';
import { told } from '../support/told.ts';
import { readBenchmark } from '../support/xccdf-reader.ts';

// OSCAL out, of everything real that is here (rules D30.1 and D31); test/export/oscal.test.ts has the invented sources.
const real = suiteIf(exchangeData, 'OSCAL of the real files');
if (real) {
  let made: Promise<TestApp> | undefined;
  const csf = 'nist-cybersecurity-framework';
  /** Everything that is shipped, the real files, the baselines of FedRAMP, and what CSF 2.0 relates to and requires. */
  const everything = () => {
    const invented = put(scratchFolder(), 'csf.json', JSON.stringify(csfMapping()));
    const profile = put(scratchFolder(), 'harbor.json', JSON.stringify(csfProfile()));
    const more = [join(exchangeFolder, 'oscal', 'fedramp-rev5'), invented, profile];
    made ??= allCatalogs().then((db) => testApp(more, { db }));
    return made;
  };
  const frameworks = ['nist-800-53', 'nist-800-171', 'dod-8500', 'cci', csf];
  const metadata = (title: string) => ({ title, version: '1', 'last-modified': '2026-01-01T00:00:00Z' });
  const relationships = ['equivalent-to', 'equal-to', 'subset-of', 'superset-of', 'intersects-with'];

  /** The subcategories of CSF 2.0, by a reading of our own; those of 1.1 have no examples. */
  const subcategories = () => {
    const text = readFileSync(reference('oscal', 'NIST_CSF_v2.0_catalog.xml'), 'utf8');
    const ids = [...text.matchAll(/<control id="([^"]+)" class="subcategory">([\s\S]*?)<\/control>/g)];
    return ids.filter(([, , body]) => /"example"|"risk-party"/.test(body!)).map(([, id]) => id!);
  };

  /** Two controls of 800-53 for each subcategory, with every relationship. */
  function csfMapping() {
    const controls = readRev5().active.map(idOf);
    const maps = subcategories().map((id, index) => ({
      uuid: `${index}`,
      relationship: relationships[index % relationships.length],
      sources: [{ type: 'control', 'id-ref': id }],
      targets: [7, 11].map((step) => ({ type: 'control', 'id-ref': controls[(index * step) % 1000] })),
      props: [{ name: 'reference', value: `section ${index}` }],
    }));
    const catalogs = {
      'source-resource': { href: 'csf.xml' },
      'target-resource': { href: 'sp800-53r5.json' },
    };
    return { 'mapping-collection': { metadata: metadata('CSF'), mappings: [{ ...catalogs, maps }] } };
  }

  const csfProfile = () => {
    const ids = ['GV.OC-01', 'GV.OC-02', 'PR.AA-01', 'ID.GV-01'];
    const imports = [{ href: 'csf.xml', 'include-controls': [{ 'with-ids': ids }] }];
    return { profile: { metadata: metadata('Harbor Profile'), imports } };
  };
  const versionsOf = ({ db }: TestApp, framework: string) =>
    db.sqlite
      .prepare('SELECT version FROM framework_versions WHERE framework = ?')
      .pluck()
      .all(framework) as string[];
  /** Every column of the controls of a version as they are served, in order. */
  const served = (db: Database, framework: string, version: string) =>
    db.sqlite
      .prepare('SELECT * FROM controls WHERE framework = ? AND version = ? ORDER BY ordinal')
      .all(framework, version);
  const withoutAssessment = (row: unknown) => {
    const { assessment: _, ...record } = JSON.parse((row as { record_json: string }).record_json);
    return { ...(row as object), record_json: JSON.stringify(record) };
  };
  const exportOf = async ({ get }: TestApp, framework: string, query: Record<string, string>) => {
    const answer = await get(`/api/v1/controls/${framework}/export?${new URLSearchParams(query)}`);
    assert.is(answer.status, 200, answer.text.slice(0, 200));
    return answer;
  };

  /** The active controls of NIST's file, and those that only the shipped facts of Release 5.2.0 have. */
  const activeControls = () => {
    const facts = readFileSync(shipped('controls', 'nist-800-53_rev5.csv'), 'utf8');
    const rows = facts.matchAll(/^nist-800-53,[^,]*,([^,]+),.*,active,[^,]*,[^,]*$/gm);
    return new Set([...readRev5().active, ...[...rows].map((row) => row[1]!)]);
  };
  const idOf = (control: string) => control.toLowerCase().replace('(', '.').replace(')', '');
  /** The active controls that CCIs address, each with the references that say so, by a reading of our own (rule D7.1 (a)). */
  const addressedBy = (ccis: OracleCci[], active: Set<string>) => {
    const addressed = new Map<string, Map<string, string[]>>();
    for (const { id, deprecated, references } of ccis) {
      const revision = references.some((each) => each[0] === '5') ? '5' : '4';
      const controls = new Map<string, string[]>();
      for (const [stated, index] of deprecated ? [] : references)
        for (const control of stated === revision ? controlsIn(index) : [])
          if (active.has(control)) controls.set(control, [...(controls.get(control) ?? []), index.trim()]);
      if (controls.size > 0) addressed.set(id, controls);
    }
    return addressed;
  };

  real("FedRAMP's baselines are named, counted and filtered as their profiles list them", async () => {
    const app = await everything();
    const { baselines } = (await app.get('/api/v1/controls/nist-800-53/baselines')).json;
    assert.equal(
      told(baselines, 'name', 'controls'),
      linesOf(`
        low 149
        moderate 287
        high 370
        privacy 96
        fedramp-rev-5-high-baseline 410
        fedramp-rev-5-low-baseline 156
        fedramp-rev-5-moderate-baseline 323
        fedramp-rev-5-tailored-low-impact-software-as-a-service-li-saas-baseline 156
      `),
    );
    assert.is(baselines[4].source, 'FedRAMP_rev5_HIGH-baseline_profile.json');
    assert.is(baselines[4].title, 'FedRAMP Rev 5 High Baseline');
    for (const [at, name] of [
      [0, 'low'],
      [3, 'privacy'],
    ] as const)
      assert.is(baselines[at].controls, readBaseline(5, name).size);
    const listed = (await app.get('/api/v1/controls/nist-800-53?baseline=FedRAMP-rev-5-HIGH-baseline')).json;
    assert.is(listed.total, 410);
    // What an answer says of a control are NIST's baselines alone.
    const words = new Set(listed.controls.flatMap((each: { baselines: string[] }) => each.baselines));
    assert.equal(words, new Set(['low', 'moderate', 'high', 'privacy']));
    const both = (await app.get('/api/v1/controls/nist-800-53?baseline=fedramp-rev-5-low-baseline,high'))
      .json;
    const file = join(exchangeFolder, 'oscal', 'fedramp-rev5', 'FedRAMP_rev5_LOW-baseline_profile.json');
    const low = JSON.parse(readFileSync(file, 'utf8')).profile.imports[0]['include-controls'][0]['with-ids'];
    const either = new Set([...low, ...[...readBaseline(5, 'high')].map(idOf)]);
    assert.is(both.total, either.size, 'of either');
    const old = (await app.get('/api/v1/controls/nist-800-53/baselines?version=Rev%204')).json.baselines;
    assert.is(told(old, 'name').join(), 'low,moderate,high');
  });

  real(
    'what is exported is valid and imports again to the same, every framework as OSCAL and as csv',
    async () => {
      const app = await everything();
      const folder = scratchFolder();
      const [files, csvs]: [string[], string[]] = [[], []];
      for (const framework of frameworks)
        for (const version of versionsOf(app, framework)) {
          const name = `${framework} ${version}`.replaceAll(' ', '_');
          const csv = await exportOf(app, framework, { version, format: 'csv' });
          csvs.push(put(folder, `${name}.csv`, csv.text));
          const { text, json } = await exportOf(app, framework, { version });
          assert.equal(oscalProblems(json), [], name);
          files.push(put(folder, `${name}.json`, text));
          const path = `/api/v1/controls/${framework}/baselines?${new URLSearchParams({ version })}`;
          for (const { name: baseline, controls } of (await app.get(path)).json.baselines) {
            const profile = await exportOf(app, framework, { version, baseline });
            assert.equal(oscalProblems(profile.json), [], baseline);
            const ids = profile.json.profile.imports[0]['include-controls'][0]['with-ids'];
            assert.is(ids.length, controls, baseline);
            const file = put(folder, `${name}_${baseline}.json`, profile.text);
            files.push(file);
            // A csv holds NIST's baselines; those of other names travel as profiles.
            if (baseline.includes('-')) csvs.push(file);
          }
        }
      for (const [index, from] of frameworks.entries())
        for (const to of frameworks.slice(index))
          for (const [format, own] of [
            ['oscal', files],
            ['csv', csvs],
          ] as const) {
            const query = new URLSearchParams({ from, to, format });
            const { status, text, json } = await app.get(`/api/v1/crosswalk/export?${query}`);
            if (status !== 200) continue;
            if (format === 'oscal') assert.equal(oscalProblems(json), [], `${from} ${to}`);
            own.push(put(folder, `${from} ${to}.${format}`, text));
          }
      for (const sources of [files, csvs]) {
        const again = emptyCatalog();
        const { lines } = await runImport(again, sources);
        for (const { source, outcome, reason, warnings } of lines) {
          assert.match(outcome, /^(imported|superseded)$/, source);
          // Of two frameworks also what leads to a withdrawn control.
          assert.equal([reason, source.includes(' ') ? [] : warnings], [null, []], source);
        }
        for (const framework of frameworks)
          for (const version of versionsOf(app, framework)) {
            const [before, after] = [served(app.db, framework, version), served(again, framework, version)];
            assert.is(after.length, before.length, `${framework} ${version}`);
            // What controls ask is in OSCAL alone (rule D37.4).
            for (const [index, row] of before.entries())
              assert.equal(after[index], sources === csvs ? withoutAssessment(row) : row);
          }
        sameAnswers(app.db, again, sources === files);
        again.close();
      }
    },
  );

  /** The crosswalk of a catalog that was made of the exports of another answers as that does. */
  function sameAnswers(db: Database, fresh: Database, isOscal: boolean): void {
    const [ask, again] = [db, fresh].map((each) => createCrosswalkService(each, () => 0));
    let answered = 0;
    for (const [at, { framework, identifier }] of ask!.graph().nodes.entries()) {
      if (at % 7 > 0) continue;
      const statuses = new Set([['auto'], ['verified'], ['auto', 'verified']][at % 3] as MappingStatus[]);
      const to = frameworks[at % 5]!;
      const question = { framework, identifier, to, maxHops: 1 + (at % 4), statuses };
      const asked = at % 2 === 0 ? question : { ...question, version: 'Rev 4' };
      const { paths } = ask!.resolve(asked);
      if (paths.length > 0) answered++;
      assert.equal(again!.resolve(asked).paths, paths, JSON.stringify(asked));
    }
    assert.ok(answered > 100, `${answered} have paths`);
    const question = { framework: csf, identifier: 'GV.OC-01', to: 'nist-800-53', maxHops: 1 };
    const { paths } = again!.resolve({ ...question, statuses: new Set(['auto'] as const) });
    const [first] = paths.map(createExplainService(fresh, again!).withEvidence());
    const [evidence] = first!.controls[1]!.evidence as { reference: string; relationship?: string }[];
    const expected = ['section 0', isOscal ? 'equivalent-to' : undefined];
    assert.equal([evidence!.reference, evidence!.relationship], expected);
  }

  real(
    'the maps of a CCI have the references of the list, to the letter, and its gaps are the rest',
    async () => {
      const app = await everything();
      const { json } = await app.get('/api/v1/crosswalk/export?from=cci&to=nist-800-53');
      const [mapping, ...others] = json['mapping-collection'].mappings;
      assert.equal(others, []);
      const active = activeControls();
      const expected = addressedBy(readCcis(), active);
      const stated = new Map<string, string[]>();
      for (const { sources, targets, props } of mapping.maps)
        stated.set(`${sources[0]['id-ref']} ${targets[0]['id-ref']}`, valuesOf(props, 'reference'));
      for (const [cci, controls] of expected)
        for (const [control, references] of controls) {
          const pair = `${cci.toLowerCase()} ${idOf(control)}`;
          assert.equal(new Set(stated.get(pair)), new Set(references), pair);
        }
      const pairs = [...expected.values()].reduce((sum, { size }) => sum + size, 0);
      assert.equal([stated.size, pairs], [4088, 4088]);
      const gaps = mapping['source-gap-summary']['unmapped-controls'][0]['with-ids'] as string[];
      const unmapped = readCcis().filter(({ id, deprecated }) => !deprecated && !expected.has(id));
      assert.equal(gaps, unmapped.map(({ id }) => id.toLowerCase()).sort());
    },
  );

  real('every third release has its rules, and the controls that its CCIs address', async () => {
    const app = await everything();
    const addressed = addressedBy(readCcis(), activeControls());
    const revisions = new Map(readCcis().map((each) => [each.id, each.references]));
    const releases = app.db.sqlite
      .prepare(
        `SELECT s.slug, r.version, r.benchmark_id AS id, p.sha256 FROM stigs AS s JOIN stig_releases AS r ON r.stig_id = s.id
           JOIN sources AS p ON p.id = r.source_id`,
      )
      .all() as { slug: string; version: string; id: string; sha256: string }[];
    const texts = new Map((await benchmarkFiles()).map(({ bytes, text }) => [sha256(bytes), text]));
    let compared = 0;
    for (const [index, { slug, version, sha256 }] of releases.entries()) {
      if (index % 3 > 0) continue;
      const { json } = await app.get(`/api/v1/stigs/${slug}/download?format=oscal&version=${version}`);
      assert.equal(oscalProblems(json), [], `${slug} ${version}`);
      const text = texts.get(sha256);
      if (text === undefined) continue;
      compared++;
      const [component] = json['component-definition'].components;
      const { rules } = readBenchmark(text);
      const ids = told(rules, 'ruleId');
      assert.equal(valuesOf(component.props, 'Rule_Id'), ids);
      const expected = new Map<string, Set<string>>();
      const carriedOver = new Map<string, Set<string>>();
      for (const { ruleId, ccis } of rules)
        for (const cci of ccis)
          for (const control of addressed.get(cci)?.keys() ?? []) {
            const id = idOf(control);
            expected.set(id, (expected.get(id) ?? new Set()).add(ruleId));
            if (revisions.get(cci)!.some(([revision]) => revision === '5')) continue;
            carriedOver.set(id, (carriedOver.get(id) ?? new Set()).add(cci));
          }
      const [implementation] = component['control-implementations'] ?? [];
      const stated = implementation?.['implemented-requirements'] ?? [];
      assert.equal(new Set(told(stated, 'control-id')), new Set(expected.keys()));
      for (const { 'control-id': id, props } of stated) {
        assert.equal(new Set(valuesOf(props, 'Rule_Id')), expected.get(id), `${slug} ${version} ${id}`);
        assert.equal(new Set(valuesOf(props, 'rev-4-reference')), carriedOver.get(id) ?? new Set(), id);
      }
      const mapped = new Set([...expected.values()].flatMap((each) => [...each]));
      const unmapped = ids.filter((rule) => !mapped.has(rule));
      assert.equal(valuesOf(component.props, 'unmapped'), unmapped);
    }
    assert.ok(compared > 11, `${compared} releases compared`);
  });

  real.run();
}
