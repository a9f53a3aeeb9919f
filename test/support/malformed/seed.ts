/** The seed of random cases. `npm test -- --long` takes another each time and prints it; GAPSTONE_SEED repeats a run. */
export const seed = Number(process.env.GAPSTONE_SEED ?? 1);
