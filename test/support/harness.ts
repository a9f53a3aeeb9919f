import './defer.ts';

import { suite as uvuSuite } from 'uvu';
import * as assert from 'uvu/assert';
import { watchFetch } from './watched.ts';

watchFetch();

/** How many suites were made; the runner compares it with how many ran, to catch a forgotten `.run()`. */
export const made = { suites: 0 };

/** A uvu suite that the runner knows of. Every test file makes its suites with this, and runs each. */
export function suite(name: string): ReturnType<typeof uvuSuite> {
  made.suites++;
  return uvuSuite(name);
}

/** The variable that names the folder of the imported catalogs (`preparedCatalog`). */
export const preparedFolder = 'GAPSTONE_TEST_PREPARED';

/** The variable that is set where tests read the publishers' files, if they are here. */
export const readsReal = 'GAPSTONE_TEST_REAL';

/** The variable that is set with --deep. */
export const isDeep = 'GAPSTONE_TEST_DEEP';

/** The variable that is set with --long: deep tests try all that they can. */
export const isLong = 'GAPSTONE_TEST_LONG';

/** The variable that is set where tests start the bundle in `dist`; otherwise they start the sources. */
export const isBundled = 'GAPSTONE_TEST_BUNDLE';

/** What some tests need and not every machine has; `bring` says in a sentence how to bring it. */
export interface Need {
  here: boolean;
  bring: string;
}

/** The suites and tests that were left out because what they need is not here: the runner counts and names them. */
export const leftOut: { name: string; bring: string; of: 'suite' | 'test' }[] = [];

/** A suite of what needs something; null where that is not here, and the name is counted as skipped. */
export function suiteIf({ here, bring }: Need, name: string): ReturnType<typeof suite> | null {
  if (here) return suite(name);
  leftOut.push({ name, bring, of: 'suite' });
  return null;
}

/** What registers those tests of a suite that need something; where that is not here, each is counted as skipped. */
export function testIf(
  { here, bring }: Need,
  test: ReturnType<typeof suite>,
): (name: string, run: () => void | Promise<void>) => void {
  if (here) return test;
  return (name, run) => {
    test.skip(name, run);
    leftOut.push({ name, bring, of: 'test' });
  };
}

/** Asserts that a promise is rejected with an error whose message fits; uvu's `throws` knows no promises. */
export async function rejects(promise: Promise<unknown>, pattern: RegExp): Promise<void> {
  const error = await promise.then(
    () => null,
    (reason: Error) => reason,
  );
  assert.instance(error, Error, 'it was not rejected');
  assert.match(error!.message, pattern);
}
