import * as assert from 'uvu/assert';
import { suite } from './support/harness.ts';
import { runRequests } from './support/hostile/requests.ts';
import { runFiles } from './support/hostile/run-files.ts';
import { hasReferenceData } from './support/reference.ts';

// A few hundred of what `test/faults/malformed.deep.test.ts` makes ten thousand of; a failure names its seed, and
// GAPSTONE_SEED repeats it.
const malformed = suite('Malformed input');

malformed('requests: never a 5xx, every refusal in the documented form', async () => {
  const { statuses } = await runRequests(250);
  for (const status of [200, 400, 401, 404, 405]) assert.ok(statuses[status]! > 0, `some were ${status}`);
});

malformed('files and zips: each has its line, the catalog stays whole', async () => {
  const { outcomes } = await runFiles(40);
  // Of our own samples alone none is of an unknown kind.
  for (const outcome of ['imported', 'rejected', ...(hasReferenceData ? ['skipped'] : [])])
    assert.ok(outcomes[outcome]! > 0, `some were ${outcome}`);
});

malformed.run();
