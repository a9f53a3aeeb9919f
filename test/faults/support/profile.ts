import { isLong } from '../../support/harness.ts';

/** How often a fault test tries: `full` with `--long`, else `short`. */
export function scaled(full: number, short: number): number {
  return process.env[isLong] === '1' ? full : short;
}

/** Writes a finding of a run beside its test: what was measured, or in which way a fault was made. */
export function say(text: string): void {
  process.stdout.write(`\n    ${text}\n  `);
}
