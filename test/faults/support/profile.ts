import { isLong, type Need } from '../../support/harness.ts';

/** What tests need that take minutes. */
export const longRun: Need = { here: process.env[isLong] === '1', bring: 'Run the tests with --long.' };

/** How often a fault test tries: `full` with `--long`, else `short`. */
export function scaled(full: number, short: number): number {
  return longRun.here ? full : short;
}

/** Writes a finding of a run beside its test: what was measured, or in which way a fault was made. */
export function say(text: string): void {
  process.stdout.write(`\n    ${text}\n  `);
}
