import * as assert from 'uvu/assert';
import { watchCatalog } from '../../src/commands/watch-catalog.ts';
import { suite } from '../support/harness.ts';
import { until } from '../support/running.ts';

const watching = suite('The watch on the catalog');

watching('prepares the search of each catalog once, and goes on when it fails', async () => {
  const prepared: string[] = [];
  let [generation, looks] = [1, 0];
  const db = {
    generation: () => generation,
    renewCatalog: () => {
      looks++;
      return false;
    },
  };
  const warned: unknown[] = [];
  const warn = (...line: unknown[]) => warned.push(line);
  const log = { info: assert.unreachable, warn, error: assert.unreachable };
  const services = {
    search: {
      prepare: async () => {
        prepared.push(`${generation} search`);
        if (generation === 2) throw new Error('the catalog is being changed');
      },
    },
    answers: async () => void prepared.push(`${generation} ids`),
  };
  const stop = watchCatalog(db, log, services as never);
  await until('two looks', () => looks > 1);
  generation = 2;
  await until('a search that fails', () => prepared.length === 4);
  generation = 3;
  await until('the next catalog', () => prepared.length === 6);
  const each = [1, 2, 3].flatMap((number) => [`${number} ids`, `${number} search`]);
  assert.equal(prepared, each);
  const reason = 'the catalog is being changed';
  assert.equal(warned, [['the search is not prepared: the first question waits', { reason }]]);
  stop();
});

watching.run();
