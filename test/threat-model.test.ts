import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { suite } from './support/harness.ts';

const threats = suite('The threat model');

const rows = readFileSync(join(packageRoot, 'docs', 'security.md'), 'utf8')
  .split('\n')
  .map((line) => /^\| ([A-Z]\d) \|(.*)\|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, id, rest]) => ({ id: id!, cells: rest!.split(' | ') }));

threats('docs/security.md has every row of it once, each with what happens and a test that is there', () => {
  const counts: Record<string, number> = {
    ...{
      X: 8,
      Z: 4,
      I: 8,
      D: 6,
      A: 4,
      B: 9,
      H: 6,
      P: 5,
      C: 3,
      E: 6,
      K: 3,
      T: 2,
      O: 3,
      S: 1,
      M: 2,
      L: 3,
      U: 1,
      Y: 6,
      R: 3,
      W: 4,
      G: 4,
      N: 9,
    },
  };
  const wanted = Object.entries(counts).flatMap(([letter, count]) =>
    Array.from({ length: count }, (_, index) => `${letter}${index + 1}`),
  );
  assert.equal(
    rows.map(({ id }) => id),
    wanted,
  );
  for (const { id, cells } of rows) {
    assert.is(cells.length, 3, id);
    const tests = [...cells[2]!.matchAll(/`(test\/[^`]+)`/g)].map((match) => match[1]!);
    assert.ok(tests.length > 0, `${id} names no test`);
    for (const test of tests) assert.ok(existsSync(join(packageRoot, test)), `${id}: there is no ${test}`);
  }
});

threats.run();
