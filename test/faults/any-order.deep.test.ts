import { assertAnyOrder, readReal } from '../support/any-order.ts';
import { suiteIf } from '../support/harness.ts';
import { referenceData } from '../support/reference.ts';
import { scaled } from './support/profile.ts';

const test = suiteIf(referenceData, 'the real benchmarks, in any order and any runs');
if (test) {
  const all = await readReal();
  test('random sets, orders and splits', () => assertAnyOrder(all, scaled(200, 8)));
  test.run();
}
