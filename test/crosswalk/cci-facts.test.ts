import * as assert from 'uvu/assert';
import { createCciService } from '../../src/catalog/crosswalk/cci.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { noVersion } from '../support/words.ts';

// What CCIs stand for, by the newest revision of 800-53 and by an older one.
const facts = suite('CCI facts');

let t: TestApp;
let ask: ReturnType<typeof createCciService>['facts'];
facts.before(async () => {
  t = await testApp([shipped('controls'), shipped('mappings')]);
  ask = createCciService(t.db, createCrosswalkService(t.db)).facts;
});
facts.after(() => t.db.close());

const all = Array.from({ length: 10_000 }, (_, number) => `CCI-${String(number + 1).padStart(6, '0')}`);

facts('known CCIs have their controls, and these their texts, also those of another catalog', async () => {
  const one = ask(['CCI-000366', 'CCI-009999']);
  assert.equal([...one.ccis.keys()], ['CCI-000366']);
  assert.equal(one.ccis.get('CCI-000366')!.controls, ['CM-6']);
  assert.equal([...one.controls.keys()], ['CM-6']);
  const every = ask(all);
  assert.ok(every.ccis.size > 3000);
  assert.equal(every.ccis.get('CCI-000366'), one.ccis.get('CCI-000366'));
  const old = ask(all, 'Rev 4');
  assert.equal(ask(all, '4'), old);
  assert.not.equal(old, every);
  const [first] = [...old.ccis].find(([, { controls }]) => controls.includes('CM-6'))!;
  t.db.sqlite.exec(`UPDATE controls SET statement = 'Renamed' WHERE identifier IN ('CM-6', '${first}');
                    UPDATE catalog SET generation = generation + 1`);
  const renamed = ask([first], 'Rev 4');
  assert.is(renamed.ccis.get(first)!.definition, 'Renamed');
  assert.is(renamed.controls.get('CM-6'), 'Renamed');
});

facts('an unknown revision is a 404, and more CCIs than a sheet may have a 400', async () => {
  assert.throws(() => ask(['CCI-000366'], '99'), new RegExp(noVersion('99')));
  const sent = (ccis: string[]) =>
    t.send('POST', '/api/v1/checklists/emass', {
      checklists: [{ stigs: [{ rules: [{ rule_id_src: 'SV-1r1_rule', severity: 'low', ccis }] }] }],
      ...{ sheet: 'test-results', format: 'json' },
    });
  const { status, json } = await sent(all);
  assert.equal([status, json.rows.length], [200, 10_000]);
  const words = 'checklists must name at most 10000 different CCIs, not 10001';
  assertError(await sent([...all, 'CCI-010001']), 400, 'BAD_REQUEST', words);
});

facts.run();
