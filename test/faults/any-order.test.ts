import { assertAnyOrder, readReal } from '../support/any-order.ts';
import { suite } from '../support/harness.ts';
import { hasReferenceData } from '../support/reference.ts';

if (hasReferenceData) {
  const test = suite('the real benchmarks, in any order and any runs');
  const all = await readReal();
  test('200 random sets, orders and splits', () => assertAnyOrder(all, 200));
  test.run();
}
