import * as assert from 'uvu/assert';
import { watchCatalog } from '../../src/commands/watch-catalog.ts';
import { suite } from '../support/harness.ts';
import { until } from '../support/running.ts';

const watching = suite('The watch on the catalog');

watching('asks the first questions of each catalog once, and goes on when one fails', async () => {
  const questions: string[] = [];
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
      search: async ({ q }: { q?: string }) => {
        questions.push(`${generation} ${q}`);
        if (generation === 2) throw new Error('the catalog is being changed');
      },
    },
    answers: async (q: string) => void questions.push(`${generation} ${q}`),
  };
  const stop = watchCatalog(db, log, services as never);
  await until('two looks', () => looks > 1);
  const each = questions.map((line) => line.slice(2));
  assert.equal(
    each,
    each.filter((_, at) => at % 2 === 0).flatMap((q) => [q, q]),
  );
  assert.is(new Set(each).size, each.length / 2);
  generation = 2;
  await until('a question that fails', () => questions.length === each.length + 1);
  generation = 3;
  await until('the next catalog', () => questions.length === 2 * each.length + 1);
  assert.equal(questions.slice(each.length), [`2 ${each[0]}`, ...each.map((q) => `3 ${q}`)]);
  const reason = 'the catalog is being changed';
  assert.equal(warned, [['the search is not prepared: who asks first waits', { reason }]]);
  stop();
});

watching.run();
