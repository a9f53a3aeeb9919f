import { isDeepStrictEqual as dequal } from 'node:util';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from './app.ts';
import { benchmarkPaths } from './real-files.ts';
import { hasReferenceData, reference, shipped } from './reference.ts';

/** Everything about controls that the package ships. */
export const shippedControls = [shipped('controls'), shipped('mappings')];

/** Every real file about controls, or what is shipped where the real files are not here. */
export const controlFolders = hasReferenceData
  ? ['oscal', 'sp800-171', 'dod-8500', 'cci', 'cci-2025-01-23'].map((folder) => reference(folder))
  : shippedControls;

/** Every real benchmark and every real file about controls, with the synonyms of the search; or what is shipped. */
export const stigsAndControls = [...benchmarkPaths, ...controlFolders, shipped('search')];

let shared: Promise<TestApp> | undefined;

/** One application over `controlFolders` for all the tests that only read it. */
export function sharedControls(): Promise<TestApp> {
  shared ??= testApp(controlFolders);
  return shared;
}

/** Asserts that two long lists are equal; names the first place where they differ instead of printing both. */
export function assertSameList(actual: unknown[], expected: unknown[], what: string): void {
  const differ = Array.from({ length: Math.max(actual.length, expected.length) }).findIndex(
    (_, index) => !dequal(actual[index], expected[index]),
  );
  if (differ >= 0) assert.equal(actual[differ], expected[differ], `${what}, item ${differ}`);
  assert.is(actual.length, expected.length, what);
}
