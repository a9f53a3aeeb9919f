/**
 * How much the fault tests try: all of it, or with `GAPSTONE_FAULTS=short` what fits into one or two minutes.
 * What is tried stays the same, only counts and times shrink.
 */
const isShort = process.env.GAPSTONE_FAULTS === 'short';

/** The full number, or the one of the short profile. */
export function scaled(full: number, short: number): number {
  return isShort ? short : full;
}

/** Writes a finding of a run beside its test: what was measured, or in which way a fault was made. */
export function say(text: string): void {
  process.stdout.write(`\n    ${text}\n  `);
}
