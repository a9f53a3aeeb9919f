import * as assert from 'uvu/assert';
import { runImport } from '../../../importers/run.ts';
import { createControlService } from '../../../src/catalog/controls/queries.ts';
import { cciList, oscalProfile } from '../../support/control-sources.ts';
import { suite } from '../../support/harness.ts';
import { emptyCatalog } from '../../support/prepared.ts';
import { put, scratchFolder } from '../../support/scratch.ts';
import { told } from '../../support/told.ts';

const test = suite('what controls ask');

const label = (value: string) => `[{"name": "label", "value": "${value}", "class": "sp800-53a"}]`;
const catalog = (prose = 'lamps are {{ insert: param, ac-02_odp.01 }};', choice = 'at noon') =>
  `{"catalog": {"metadata": {"title": "NIST Special Publication 800-53 Revision 5", "version": "5.1.1",
      "last-modified": "2024-02-04T00:00:00Z"},
    "groups": [{"title": "Access Control", "controls": [{"id": "ac-2", "title": "Lamps",
      "params": [
        {"id": "ac-02_odp.01", "label": "lit", "props": ${label('AC-02_ODP[01]')}},
        {"id": "ac-02_odp.02", "select": {"choice": ["${choice}"]}}],
      "parts": [
        {"id": "ac-2_smt", "name": "statement", "prose": "Keep {{ insert: param, ac-02_odp.01 }} lamps."},
        {"id": "ac-2_obj", "name": "assessment-objective", "prose": "Determine if:", "parts": [
          {"id": "ac-2_obj.d", "name": "assessment-objective", "prose": ${JSON.stringify(prose)},
            "props": ${label('AC-02d.03[01]')}, "links": [{"rel": "assessment-for", "href": "#ac-2_smt.d"}]}]},
        {"name": "assessment-method", "props": [{"name": "method", "value": "EXAMINE"}],
          "parts": [{"name": "assessment-objects","prose":"lamps\\n\\nwicks\\n \\noil"}]},
        {"name": "assessment-method", "props": [{"name": "method", "value": "GUESS"}]}]}]}]}}`;
async function filled(...texts: string[]) {
  const folder = scratchFolder();
  const db = emptyCatalog();
  const paths = texts.map((text, at) => put(folder, `${at}.${text.startsWith('{') ? 'json' : 'xml'}`, text));
  const { lines } = await runImport(db, paths);
  return { db, lines };
}

test('a record has parameters with values, objectives with their CCIs, and methods', async () => {
  const { db } = await filled(
    catalog(),
    oscalProfile('high', ['ac-2'], '5.1.1', { 'ac-02_odp.01': 'always' }),
    cciList('2025-01-01', [
      [1, [['5', 'AC-2 d 3']]],
      [2, [['5', 'AC-2 d']]],
      [3, [['5', 'AC-2 d 3 (a)']]],
      [4, [['5', 'AC-2 e']]],
      [5, [['5', 'AC-2 d 3']], 'deprecated'],
      [6, [['4', 'AC-2 d 3']]],
    ]),
  );
  const { parameters, objectives, methods, derived } = createControlService(db).one('nist-800-53', 'AC-2');
  assert.equal(told(parameters, 'id', 'label', 'text', 'choices', 'howMany'), [
    'ac-02_odp.01 AC-02_ODP[01] [Assignment: organization-defined lit]  null',
    'ac-02_odp.02  [Selection: at noon] at noon one',
  ]);
  assert.equal(
    parameters.map(({ values }) => values),
    [[{ source: 'high', value: 'always' }], []],
  );
  assert.equal(told(objectives, 'id', 'label', 'context', 'text', 'part'), [
    'ac-2_obj.d AC-02d.03[01] Determine if: lamps are [Assignment: organization-defined lit]; d 3',
  ]);
  assert.equal(told(objectives[0]!.ccis, 'cci', 'relation'), [
    'CCI-000001 equal',
    'CCI-000002 broader',
    'CCI-000003 narrower',
  ]);
  assert.equal(methods, [{ method: 'EXAMINE', objects: ['lamps', 'wicks', 'oil'] }]);
  assert.is(derived, true);
  db.close();
});

test('hostile catalogs get one line and change nothing', async () => {
  for (const text of [
    catalog('{{ insert: oil, x }}'),
    catalog('x', '{{ insert: param, ac-02_odp.02 }}'),
    catalog('a\ud800b'),
    catalog().replace('"assessment-objects","prose":"', '"assessment-objects","prose":7,"x":"'),
  ]) {
    const { db, lines } = await filled(text);
    assert.is(lines[0]!.outcome, 'rejected', text.slice(0, 80));
    assert.ok(lines[0]!.reason!.length < 300 && !lines[0]!.reason!.includes('\n'));
    assert.is(db.sqlite.prepare('SELECT count(*) FROM sources').pluck().get(), 0);
    db.close();
  }
});

test.run();
