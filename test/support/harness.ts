import './defer.ts';

import { suite as uvuSuite } from 'uvu';
import { watchFetch } from './watched.ts';

watchFetch();

/** How many suites were made; the runner compares it with how many ran, to catch a forgotten `.run()`. */
export const made = { suites: 0 };

/** A uvu suite that the runner knows of. Every test file makes its suites with this, and runs each. */
export function suite(name: string): ReturnType<typeof uvuSuite> {
  made.suites++;
  return uvuSuite(name);
}
