import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { jobs } from '../../src/work/jobs.ts';
import { suite } from '../support/harness.ts';

const test = suite('Jobs');

test('every job that a route or a page asks is known to workers: databases in memory run any function', () => {
  const source = join(packageRoot, 'src');
  const asked = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => [
      ...readFileSync(join(source, name), 'utf8').matchAll(/\bask\(\s*([a-z]\w+),|\bjob: ([a-z]\w+),/g),
    ])
    .map(([, argument, member]) => (argument ?? member)!)
    .filter((name) => name !== 'job');
  assert.ok(asked.length > 10);
  assert.equal(
    asked.filter((name) => !Object.hasOwn(jobs, name)),
    [],
  );
});

test.run();
