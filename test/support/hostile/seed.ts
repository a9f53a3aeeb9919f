/** The seed of random cases. `npm test -- --long` takes another each time and prints it; GAPSTONE_SEED repeats a run. */
export const seed = Number(process.env.GAPSTONE_SEED ?? 1);

let state = seed;

/** A number from 0 to 1, as `Math.random`, of the series of this seed. */
export function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
