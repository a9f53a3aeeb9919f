import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import { type Need, readsReal } from './harness.ts';

const folder = process.env.GAPSTONE_REFERENCE_DATA ?? join(packageRoot, '..', 'shared', 'data');

const isHere = existsSync(join(folder, 'README.md'));
const isRead = process.env[readsReal] === '1';
if (isRead && !isHere && process.env.CI === 'true')
  throw new Error(`the reference data is missing: ${folder}`);

/** Whether tests read the publishers' files: they are here, and `--real` or a word is given. With `CI=true` they must be. */
export const hasReferenceData = isHere && isRead;

const bring = isHere
  ? 'Run `npm test -- --real` to include them.'
  : 'Lay the publishers’ files into ../shared/data and those of other tools into ../shared/exchange beside the checkout, ' +
    'or name the first folder in GAPSTONE_REFERENCE_DATA.';

/** What a test needs that reads them. */
export const referenceData: Need = { here: hasReferenceData, bring };

/** The path of a real file or folder of the reference data. */
export function reference(...parts: string[]): string {
  return join(folder, ...parts);
}

/** The folder of what other tools write: scan results, checklists, OSCAL of every kind; it lies beside the reference data. */
export const exchangeFolder = join(folder, '..', 'exchange');

/** Whether it is here; where the reference data is, it should be. */
export const hasExchange = existsSync(join(exchangeFolder, 'MANIFEST.tsv'));

/** What a test needs that reads them, and the reference data as well. */
export const exchangeData: Need = { here: hasReferenceData && hasExchange, bring };

/** The folder of small files that show faults of the field; it lies beside the reference data. */
export const fieldFolder = join(folder, '..', 'field');

/** What a test needs that reads them. */
export const fieldFiles: Need = {
  here: existsSync(join(fieldFolder, 'README.md')),
  bring: 'Lay the files of the field into ../shared/field beside the checkout.',
};

/** The path of a file or folder of the data that the package ships. */
export function shipped(...parts: string[]): string {
  return join(packageRoot, 'data', ...parts);
}
