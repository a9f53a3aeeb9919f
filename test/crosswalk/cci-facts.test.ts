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

/** The question, and how many controls and CCIs were looked up for it so far, and in how many turns of the event loop. */
function counted() {
  const controls = createControlService(t.db);
  const crosswalk = createCrosswalkService(t.db);
  let looked = 0;
  const once = <T extends unknown[], R>(work: (...given: T) => R) => {
    return (...given: T) => {
      looked++;
      return work(...given);
    };
  };
  const counting = {
    ...crosswalk,
    endsOf: once(crosswalk.endsOf),
    statedEnds: (...given: Parameters<typeof crosswalk.statedEnds>) => once(crosswalk.statedEnds(...given)),
  };
  return { ask: createCciFacts(t.db, counting, controls), looked: () => looked };
}

const all = Array.from({ length: 10_000 }, (_, number) => `CCI-${String(number).padStart(6, '0')}`);

facts('all CCIs of a revision are looked up at the first question, and none at the next', async () => {
  const { ask, looked } = counted();
  for (const revision of [undefined, 'Rev 4']) {
    const before = looked();
    const [one, other] = await Promise.all([ask(all, revision), ask(['CCI-000366'], revision)]);
    const first = looked() - before;
    assert.ok(first > 1000 && first < 10_000, `${first} looked up`);
    assert.equal(other.ccis.get('CCI-000366'), one.ccis.get('CCI-000366'));
    assert.equal(other.ccis.get('CCI-000366')!.controls, ['CM-6']);
    assert.equal([...other.controls.keys()], ['CM-6']);
    for (let time = 0; time < 3; time++) await ask(all, revision);
    assert.is(looked(), before + first, `${revision}: nothing is looked up again`);
  }
  const once = looked();
  await ask(all, '4');
  assert.is(looked(), once, 'a revision in other words is the same');
});

facts('others have their turn while CCIs are looked up', async () => {
  const { ask } = counted();
  // A lookup that takes a slice of its own, so that the number of turns is that of the lookups, whatever the machine.
  const crosswalk = createCrosswalkService(t.db);
  const busy = () => {
    const end = performance.now() + 10;
    while (performance.now() < end);
  };
  let lookups = 0;
  const slow = {
    ...crosswalk,
    endsOf: (...given: Parameters<typeof crosswalk.endsOf>) => {
      if (++lookups <= 20) busy();
      return crosswalk.endsOf(...given);
    },
  };
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await createCciFacts(t.db, slow, createControlService(t.db))(['CCI-000366']);
  isOver = true;
  assert.ok(turns >= 20, `${turns} turns`);
  assert.equal((await ask(['CCI-000366'])).ccis.size, 1);
});

facts('what the catalog changed to meanwhile is looked up anew; an unknown revision is a 404', async () => {
  const { ask, looked } = counted();
  await ask(['CCI-000366']);
  const before = looked();
  const asked = ask(all);
  const decided = t.db.sqlite.prepare('UPDATE catalog SET generation = generation + 1');
  decided.run();
  assert.ok((await asked).ccis.size > 3000);
  assert.ok(looked() > before);
  await ask(['CCI-000366'], '99').then(
    () => assert.unreachable(),
    (error) => assert.equal([error.code, error.message], ['NOT_FOUND', noVersion('99')]),
  );
  const path = '/api/v1/checklists/emass';
  const checklist = { stigs: [{ rules: [{ rule_id_src: 'SV-1r1_rule', severity: 'low', ccis: all }] }] };
  const sent = (ccis: string[]) => ({
    checklists: [{ stigs: [{ rules: [{ ...checklist.stigs[0]!.rules[0]!, ccis }] }] }],
    sheet: 'test-results',
    format: 'json',
  });
  const { status, json } = await t.send('POST', path, sent(all));
  assert.equal([status, json.rows.length], [200, 10_000]);
  assertError(
    await t.send('POST', path, sent([...all, 'CCI-010000'])),
    400,
    'BAD_REQUEST',
    'checklists must name at most 10000 different CCIs, not 10001',
  );
});

facts.run();
