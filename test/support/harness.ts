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

/** Asserts that a promise is rejected with an error whose message fits; uvu's `throws` knows no promises. */
export async function rejects(promise: Promise<unknown>, pattern: RegExp): Promise<void> {
  const error = await promise.then(
    () => null,
    (reason: Error) => reason,
  );
  assert.instance(error, Error, 'it was not rejected');
  assert.match(error!.message, pattern);
}
