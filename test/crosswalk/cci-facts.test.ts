import * as assert from 'uvu/assert';
import { createControlService } from '../../src/catalog/controls/queries.ts';
import { createCciFacts } from '../../src/catalog/crosswalk/cci-facts.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { noVersion } from '../support/words.ts';

// What CCIs stand for, looked up once for each state of the catalog, however many ask.
const facts = suite('CCI facts');

let t: TestApp;
facts.before(async () => {
  t = await testApp([shipped('controls'), shipped('mappings')]);
});
facts.after(() => t.db.close());

/** The question, and how many controls and CCIs were looked up for it so far. */
function counted() {
  const crosswalk = createCrosswalkService(t.db);
  let looked = 0;
  const counting = {
    ...crosswalk,
    endsOf: (...given: Parameters<typeof crosswalk.endsOf>) => {
      looked++;
      return crosswalk.endsOf(...given);
    },
  };
  return { ask: createCciFacts(t.db, counting, createControlService(t.db)), looked: () => looked };
}

const all = Array.from({ length: 10_000 }, (_, number) => `CCI-${String(number + 1).padStart(6, '0')}`);

facts(
  'all CCIs are looked up at the first question, none at the next, and anew of another catalog',
  async () => {
    const { ask, looked } = counted();
    const [one, other] = [ask(all), ask(['CCI-000366'])];
    const first = looked();
    assert.ok(first > 1000 && first < 10_000, `${first} looked up`);
    assert.equal(other.ccis.get('CCI-000366'), one.ccis.get('CCI-000366'));
    assert.equal(other.ccis.get('CCI-000366')!.controls, ['CM-6']);
    assert.equal([...other.controls.keys()], ['CM-6']);
    const old = ask(all, 'Rev 4');
    assert.ok(ask(all).ccis.size > 3000);
    assert.equal(ask(all, '4'), old);
    assert.is(looked(), first, 'nothing is looked up again');
    t.db.sqlite.exec('UPDATE catalog SET generation = generation + 1');
    ask(['CCI-000366']);
    assert.ok(looked() > first);
  },
);

facts('an unknown revision is a 404, and more CCIs than a sheet may have a 400', async () => {
  assert.throws(() => counted().ask(['CCI-000366'], '99'), new RegExp(noVersion('99')));
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
