/** The seed of a run's random cases: `GAPSTONE_SEED` repeats those of another run. */
export const seed = Number(process.env.GAPSTONE_SEED ?? Date.now() % 0x7fffffff);
