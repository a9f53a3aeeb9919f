import fc, { type IAsyncProperty, type IProperty, type Parameters } from 'fast-check';
import { isDeep, isLong } from './harness.ts';
import { seed } from './hostile/seed.ts';

// What tests get that import fast-check (support/loader.mjs): the same cases in each run, more of them with --deep, and
// many with --long.
const factor = process.env[isLong] === '1' ? 10 : process.env[isDeep] === '1' ? 2 : 1;

export * from 'fast-check';

export function assert<T>(property: IProperty<T> | IAsyncProperty<T>, given: Parameters<T> = {}) {
  return fc.assert(property as IProperty<T>, { seed, ...given, numRuns: (given.numRuns ?? 100) * factor });
}

const withSeed = { ...fc, assert };
// biome-ignore lint/style/noDefaultExport: it stands in the place of a package that has one
export default withSeed;
