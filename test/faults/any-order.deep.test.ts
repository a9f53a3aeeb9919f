import { assertAnyOrder, readReal } from '../support/any-order.ts';
import { suiteIf } from '../support/harness.ts';
import { referenceData } from '../support/reference.ts';

const test = suiteIf(referenceData, 'the real benchmarks, in any order and any runs');
if (test) {
  const all = await readReal();
  test('200 random sets, orders and splits', () => assertAnyOrder(all, 200));
  test.run();
}
