import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';

/**
 * Asserts that a text equals the golden file of that name in test/golden, byte for byte. After an intended change of
 * the output run the tests once with GAPSTONE_UPDATE_GOLDEN=1, which writes the files anew, and read the difference
 * before it is committed. Golden files are made from our own samples in `data/` only.
 */
export function assertGolden(name: string, actual: string): void {
  const file = join(packageRoot, 'test', 'golden', name);
  if (process.env.GAPSTONE_UPDATE_GOLDEN === '1') {
    assert.is.not(process.env.CI, 'true', 'GAPSTONE_UPDATE_GOLDEN=1 has no place in CI');
    writeFileSync(file, actual);
  }
  assert.ok(existsSync(file), `test/golden/${name} is missing: make it with GAPSTONE_UPDATE_GOLDEN=1`);
  const expected = readFileSync(file, 'utf8');
  if (actual === expected) return;
  const length = Math.max(actual.length, expected.length);
  let at = 0;
  while (at < length && actual[at] === expected[at]) at++;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 80));
  assert.unreachable(`test/golden/${name} differs at ${at}: ${around(expected)} became ${around(actual)}`);
}
