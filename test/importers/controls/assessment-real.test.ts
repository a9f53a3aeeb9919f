import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../../importers/run.ts';
import { createControlService } from '../../../src/catalog/controls/queries.ts';
import type { ShownControl } from '../../../src/catalog/controls/schema.ts';
import type { Database } from '../../../src/db/database.ts';
import {
  oscalXmlAsJson,
  type ReadAssessment,
  readCprtAssessments,
  readOscalAssessments,
} from '../../support/assessment-reader.ts';
import { suiteIf } from '../../support/harness.ts';
import { emptyCatalog } from '../../support/prepared.ts';
import { exchangeData, exchangeFolder, reference, referenceData } from '../../support/reference.ts';

// biome-ignore lint/suspicious/noExplicitAny: published files of every shape
type Json = any;

const files = suiteIf(referenceData, 'what controls ask, in the real files');

const oscal = (name: string) => reference('oscal', name);
const cprt = (revision: number) => reference('sp800-171', `sp_800_171_${revision}_0_0`, 'framework.json');
const json = (path: string): Json => JSON.parse(readFileSync(path, 'utf8'));

/** `alt-label` is the wording of the publication. */
const words80053 = (parameter: Json): string =>
  (parameter.props ?? []).find((prop: Json) => prop.name === 'alt-label')?.value ?? parameter.label ?? '';
const words800171 = (parameter: Json): string =>
  (parameter.usage ?? '').replaceAll(/\s+/g, ' ').trim() || (parameter.label ?? '').trim();

async function imported(...paths: string[]): Promise<Database> {
  const db = emptyCatalog();
  const { lines } = await runImport(db, paths);
  for (const line of lines) assert.is(line.outcome, 'imported', `${line.source}: ${line.reason}`);
  return db;
}

const counted = (read: Map<string, ReadAssessment>) => {
  const all = [...read.values()];
  const methods = all.flatMap((each) => each.methods);
  return {
    parameters: all.flatMap((each) => each.parameters).length,
    objectives: all.flatMap((each) => each.objectives).length,
    methods: methods.length,
    objects: methods.flatMap((each) => each.objects).length,
  };
};

/** The words of a link such as `SR-03.01.01.c.02`: `c 2`. */
const linked = (link: string | null) =>
  (link ?? '')
    .split('.')
    .slice(3)
    .map((each) => each.replace(/^0/, ''))
    .join(' ');

function compare(
  db: Database,
  framework: 'nist-800-53' | 'nist-800-171',
  version: string,
  read: Map<string, ReadAssessment>,
) {
  const controls = createControlService(db);
  for (const [id, expected] of read) {
    // Before version 1.0.1 a requirement of 800-171 has its statement in a control below it.
    if (id.includes('SR-')) continue;
    const record: ShownControl = controls.one(framework, id.replace('SP_800_171_', ''), version);
    assert.equal(
      record.parameters,
      expected.parameters.map((each) => ({ ...each, values: [] })),
      id,
    );
    assert.equal(
      record.objectives.map(({ id, label, context, text }) => ({ id, label, context, text })),
      expected.objectives.map(({ link: _, ...each }) => each),
      id,
    );
    assert.equal(record.methods, expected.methods, id);
    if (framework === 'nist-800-171')
      assert.equal(
        record.objectives.map(({ part }) => part),
        expected.objectives.map(({ link }) => linked(link)),
        id,
      );
  }
}

files?.('SP 800-53 Rev 5 and Rev 4', async () => {
  const rev5 = oscal('NIST_SP-800-53_rev5_catalog-min.json');
  const rev4 = oscal('NIST_SP-800-53_rev4_catalog-min.json');
  using db = await imported(rev5, rev4);
  const read5 = readOscalAssessments(json(rev5), words80053);
  const read4 = readOscalAssessments(json(rev4), words80053);
  assert.equal(counted(read5), { parameters: 1590, objectives: 2737, methods: 2910, objects: 14_008 });
  compare(db, 'nist-800-53', 'Rev 5', read5);
  compare(db, 'nist-800-53', 'Rev 4', read4);
});

files?.('SP 800-171 Rev 2 and Rev 3, from CPRT and from OSCAL', async () => {
  const catalog = oscal('NIST_SP800-171_rev3_catalog.xml');
  const fromOscal = readOscalAssessments(oscalXmlAsJson(catalog), words800171);
  const fromCprt = readCprtAssessments(json(cprt(3)), 3);
  assert.is(counted(fromOscal).objectives, 422);
  assert.equal(counted(fromCprt), {
    parameters: 88,
    objectives: 422,
    methods: 281,
    objects: counted(fromOscal).objects,
  });
  {
    using db = await imported(catalog);
    compare(db, 'nist-800-171', 'Rev 3', fromOscal);
  }
  using db = await imported(catalog, cprt(3), cprt(2));
  compare(db, 'nist-800-171', 'Rev 3', fromCprt);
  const rev2 = readCprtAssessments(json(cprt(2)), 2);
  assert.is(counted(rev2).objectives, 320);
  const controls = createControlService(db);
  for (const [id, { objectives }] of rev2)
    assert.equal(
      controls
        .one('nist-800-171', id.replaceAll(/(?<=^|\.)0/g, ''), 'Rev 2')
        .objectives.map(({ id, label, text }) => ({ id, label, text })),
      objectives.map(({ id, label, text }) => ({ id, label, text })),
    );
});

const profiles = suiteIf(exchangeData, 'the values of real profiles');

profiles?.('every parameter that FedRAMP sets shows the value of each baseline', async () => {
  const folder = join(exchangeFolder, 'oscal', 'fedramp-rev5');
  const names = ['LOW', 'MODERATE', 'HIGH', 'LI-SaaS'].map(
    (name) => `FedRAMP_rev5_${name}-baseline_profile.json`,
  );
  using db = await imported(
    oscal('NIST_SP-800-53_rev5_catalog-min.json'),
    ...names.map((name) => join(folder, name)),
  );
  const controls = createControlService(db);
  const shown = new Map<string, number>();
  const byParameter = new Map<string, string[]>();
  const list = controls.exported('nist-800-53');
  for (const { identifier, status } of list.controls) {
    if (status !== 'active') continue;
    for (const { id, values } of controls.one('nist-800-53', identifier).parameters)
      byParameter.set(
        id,
        values.map(({ source, value }) => `${source}: ${value}`),
      );
  }
  const { baselines } = controls.baselines('nist-800-53', undefined);
  for (const name of names) {
    const { profile } = json(join(folder, name));
    const baseline = baselines.find(({ title }) => title === profile.metadata.title.replaceAll(/\s+/g, ' '))!;
    for (const { 'param-id': id, constraints = [], values } of profile.modify['set-parameters']) {
      const value = (values ?? constraints.map((each: Json) => each.description))
        .join('; ')
        .replaceAll('\\*', '*')
        .replaceAll(/\s+/g, ' ')
        .trim();
      if (!byParameter.has(id)) continue;
      // One value inserts a parameter, which is served as its statement shows it.
      const [before, after] = `${baseline.name}: ${value}`.split(/\{\{.*\}\}/) as [string, string?];
      const isServed = (each: string) =>
        after === undefined ? each === before : each.startsWith(`${before}[`) && each.endsWith(`]${after}`);
      assert.ok(byParameter.get(id)!.some(isServed), `${id} of ${name}: ${value}`);
      shown.set(baseline.name, (shown.get(baseline.name) ?? 0) + 1);
    }
  }
  const stated = [...byParameter.values()].flat().length;
  assert.is(
    [...shown.values()].reduce((sum, each) => sum + each, 0),
    stated,
  );
  assert.ok(stated > 800, `${stated}`);
});

files?.run();
profiles?.run();
