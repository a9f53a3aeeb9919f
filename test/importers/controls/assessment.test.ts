import * as assert from 'uvu/assert';
import { runImport } from '../../../importers/run.ts';
import { partOf, relationOf } from '../../../src/catalog/controls/objective-part.ts';
import { createControlService } from '../../../src/catalog/controls/queries.ts';
import { createLedgerService } from '../../../src/catalog/ledger.ts';
import { createStatusService } from '../../../src/catalog/loaded-status.ts';
import { catalogDigest } from '../../../src/db/digest.ts';
import { filesToReadAgain } from '../../../src/db/read-again.ts';
import { cciList, oscalProfile } from '../../support/control-sources.ts';
import { suite } from '../../support/harness.ts';
import { emptyCatalog } from '../../support/prepared.ts';
import { put, scratchFolder } from '../../support/scratch.ts';
import { told } from '../../support/told.ts';

const test = suite('what controls ask');

const label = (value: string) => [{ name: 'label', value, class: 'sp800-53a' }];
const catalog = (prose = 'lamps are {{ insert: param, ac-02_odp.01 }};', choice = 'at noon') =>
  JSON.stringify({
    catalog: {
      metadata: {
        title: 'NIST Special Publication 800-53 Revision 5',
        version: '5.1.1',
        'last-modified': '2024-02-04T00:00:00Z',
      },
      groups: [
        {
          title: 'Access Control',
          controls: [
            {
              id: 'ac-2',
              title: 'Lamps',
              params: [
                { id: 'ac-02_odp.01', label: 'lit', props: label('AC-02_ODP[01]') },
                { id: 'ac-02_odp.02', select: { choice: [choice] } },
              ],
              parts: [
                { id: 'ac-2_smt', name: 'statement', prose: 'Keep {{ insert: param, ac-02_odp.01 }} lamps.' },
                {
                  id: 'ac-2_obj',
                  name: 'assessment-objective',
                  prose: 'Determine if:',
                  parts: [
                    {
                      ...{ id: 'ac-2_obj.d', name: 'assessment-objective', prose },
                      props: label('AC-02d.03[01]'),
                      links: [{ rel: 'assessment-for', href: '#ac-2_smt.d' }],
                    },
                  ],
                },
                {
                  name: 'assessment-method',
                  props: [{ name: 'method', value: 'EXAMINE' }],
                  parts: [{ name: 'assessment-objects', prose: 'lamps\n\nwicks\n \noil' }],
                },
                { name: 'assessment-method', props: [{ name: 'method', value: 'GUESS' }] },
              ],
            },
          ],
        },
      ],
    },
  });

async function filled(...texts: string[]) {
  const folder = scratchFolder();
  const db = emptyCatalog();
  const paths = texts.map((text, at) => put(folder, `${at}.${text.startsWith('{') ? 'json' : 'xml'}`, text));
  const { lines } = await runImport(db, paths);
  return { db, paths, lines };
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
  assert.equal(parameters, [
    {
      id: 'ac-02_odp.01',
      label: 'AC-02_ODP[01]',
      text: '[Assignment: organization-defined lit]',
      choices: [],
      howMany: null,
      values: [{ source: 'high', value: 'always' }],
    },
    {
      id: 'ac-02_odp.02',
      label: '',
      text: '[Selection: at noon]',
      choices: ['at noon'],
      howMany: 'one',
      values: [],
    },
  ]);
  assert.equal(objectives, [
    {
      id: 'ac-2_obj.d',
      label: 'AC-02d.03[01]',
      context: 'Determine if:',
      text: 'lamps are [Assignment: organization-defined lit];',
      part: 'd 3',
      ccis: [
        { cci: 'CCI-000001', relation: 'equal' },
        { cci: 'CCI-000002', relation: 'broader' },
        { cci: 'CCI-000003', relation: 'narrower' },
      ],
    },
  ]);
  assert.equal(methods, [{ method: 'EXAMINE', objects: ['lamps', 'wicks', 'oil'] }]);
  assert.is(derived, true);
  db.close();
});

test('the part of a label', () => {
  const parts = [
    ['AC-2', 'AC-02d.03[01]', 'd 3'],
    ['AC-1', 'AC-1(a)(1)[1][a]', 'a 1'],
    ['AC-2', 'AC-02', ''],
    ['AC-2(3)', 'AC-02(03)(d)', 'd'],
    ['AC-2', 'AC-2 d 3', 'd 3'],
    ['AC-2', 'AC-02(03)(d)', ''],
    ['AC-2', 'AC-20a.', ''],
    ['AC-2', 'AC-2 whole control', ''],
    ['AC-2', 'AC-2a.[01', ''],
    ['AC-2', '', ''],
  ] as const;
  for (const [control, text, part] of parts) assert.is(partOf(control, text), part, text);
  assert.is(relationOf('d 3', 'd 30'), null);
  assert.is(relationOf('d', ''), 'broader');
  assert.is(partOf('AC-2', `AC-2${'(a)'.repeat(100_000)}`), '');
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

test('a catalog and a profile of a former version are read again, and say so until then', async () => {
  const { db, paths } = await filled(
    catalog(),
    oscalProfile('high', ['ac-2'], '5.1.1', { 'ac-02_odp.01': 'always' }),
  );
  const whole = catalogDigest(db);
  // What version 5 of the importer left.
  db.sqlite.exec(`UPDATE sources SET importer_version = 5; DELETE FROM parameter_value_facts;
    UPDATE control_facts SET record = json_remove(record, '$.parameters', '$.objectives', '$.methods');
    UPDATE controls SET record_json = json_remove(record_json, '$.assessment');
    UPDATE catalog SET generation = generation + 1`);
  assert.equal(
    filesToReadAgain(db.sqlite).map(({ source }) => source),
    paths,
  );
  assert.equal(createStatusService(db).status().readAgain, paths);
  assert.is(createLedgerService(db).readAgain('controls').length, 2);
  assert.equal(createLedgerService(db).readAgain('scap'), []);
  assert.equal(createControlService(db).one('nist-800-53', 'AC-2').objectives, []);
  const { lines } = await runImport(db, paths);
  assert.equal(told(lines, 'outcome'), ['imported', 'imported']);
  assert.is(catalogDigest(db), whole);
  assert.equal(filesToReadAgain(db.sqlite), []);
  db.close();
});

test.run();
