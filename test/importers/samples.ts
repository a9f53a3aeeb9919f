import {
  cciList,
  controlsCsv,
  mappingsCsv,
  oscalCatalog,
  oscalProfile,
  type SampleControl,
} from '../support/control-sources.ts';
import { scapRules, writeScap } from '../support/scap-writer.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Small sources of many kinds, which contradict one another; any-order.test.ts imports them in every way.

// A catalog of each kind of source, some of which contradict one another.
export const rev5: SampleControl[] = [
  { id: 'ac-1' },
  { id: 'ac-2' },
  { id: 'ac-2.1' },
  { id: 'ac-3', withdrawnInto: ['ac-1', 'ac-2.1'] },
  { id: 'ac-4', withdrawnInto: ['ac-3'] },
  { id: 'au-2' },
  { id: 'au-10' },
];

const rev4: SampleControl[] = ['ac-1', 'ac-2', 'ac-3', 'ac-4', 'au-2'].map((id) => ({ id }));
const facts53 = (version: string, word: string) =>
  controlsCsv(
    ['AC-1', 'AC-2', 'ZZ-1'].map((identifier) => ({
      ...{ framework: 'nist-800-53', version, identifier, title: `${word} ${identifier}` },
      ...{ family: `Family ${word}`, baselines: identifier === 'AC-1' ? 'low' : '' },
    })),
  );
/** References of a CCI, as `5: AC-1 a | 4: AC-2`. */
const refs = (text: string) => text.split(' | ').map((each) => each.split(': ') as [string, string]);
const siteOf = (version: string, ...identifiers: string[]) =>
  controlsCsv(
    identifiers.map((identifier) => ({
      ...{ framework: 'site', version, identifier, title: `${identifier} of ${version}` },
    })),
  );
export const controlSamples: Record<string, string> = {
  'rev5.json': oscalCatalog(rev5, '5.1.1', '2024-02-05'),
  'rev5-older-printing.json': oscalCatalog(rev5.slice(0, 3), '5.1.1', '2020-01-01'),
  'rev5-oldest-printing.json': oscalCatalog(rev5.slice(0, 2), '5.1.1', '2019-01-01'),
  'rev5-draft-printing.json': oscalCatalog(rev5.slice(0, 1), '5.1.1', '2018-01-01'),
  'rev4.json': oscalCatalog(rev4, '4', '2015-01-22'),
  'low.json': oscalProfile('low', ['ac-1', 'au-2']),
  'privacy.json': oscalProfile('privacy', ['ac-2.1']),
  // Two profiles of one name, and of one edition.
  'overlay.json': oscalProfile('lantern', ['ac-1'], '1'),
  'overlay-other.json': oscalProfile('Lantern', ['ac-2'], '1'),
  'facts5.csv': facts53('Rev 5.1.1', 'Harbor'),
  'facts5-others.csv': facts53('Rev 5.1.1', 'Anchor'),
  'facts4.csv': facts53('Rev 4', 'Buoy'),
  'facts3.csv': facts53('Rev 3', 'Buoy'),
  'facts3-others.csv': facts53('Rev 3', 'Anchor'),
  'cci-new.xml': cciList('2022-03-09', [
    [1, refs('5: AC-1 a | 4: AC-2')],
    [2, refs('4: AC-2 (1)')],
    [3, refs('4: AC-3')],
    [4, refs('5: AU-2, AU-10')],
    [5, refs('5: AC-1'), 'deprecated'],
  ]),
  'cci-old.xml': cciList('2016-06-27', [
    [1, refs('4: AU-2 | 3: AU-2')],
    [2, refs('4: AC-1')],
    [6, refs('4: AC-2')],
  ]),
  'cci-new.csv': controlsCsv(
    [1, 2, 3, 4, 7].map((number) => ({
      framework: 'cci',
      version: '2022-03-09',
      identifier: `CCI-${number}`,
      status: 'draft',
      type: 'technical',
    })),
  ),
  '171.csv': controlsCsv(
    [
      ['Rev 2', '3.1.1', 'basic'],
      ['Rev 3', '03.01.01', ''],
    ].map(([version, identifier, requirementType]) => ({
      ...{ framework: 'nist-800-171', version: version!, identifier: identifier! },
      ...{ family: 'Access Control', requirementType: requirementType! },
    })),
  ),
  '171-pairs.csv': 'sp800_171r2,sp800_53r4\n3.1.1,AC-2\n3.1.1,AC-4\n',
  '171-more.csv': mappingsCsv([
    ['nist-800-171', 'Rev 2', '3.1.1', 'nist-800-53', 'Rev 4', 'AC-2', 'again'],
    ['nist-800-171', 'Rev 3', '03.01.01', 'nist-800-53', 'Rev 5.1.1', 'AC-2(1)'],
  ]),
  'site-2025.csv': siteOf('2025', 'S-1', 'S-2'),
  'site-2026.csv': siteOf('2026', 'S-1', 'S-3'),
  'site-pairs-2025.csv': mappingsCsv([
    ['site', '2025', 'S-1', 'nist-800-53', 'Rev 5', 'AC-1'],
    ['site', '2025', 'S-2', 'cci', '', 'CCI-1'],
  ]),
  'site-pairs-2026.csv': mappingsCsv([
    ['site', '2026', 'S-3', 'nist-800-53', 'Rev 5', 'AC-3', 'chapter 3'],
    ['site', '2026', 'S-1', 'nist-800-171', 'Rev 2', '3.1.1'],
  ]),
};

/** A STIG, its next release and another, and the contents that test them. */
const niwc = { collection: 'niwc', rules: scapRules(100001, 3, 2) };
export const scapSamples: Record<string, string> = {
  'stig.xml': writeXccdf({ rules: 6 }),
  'later.xml': writeXccdf({ rules: 7, release: 2, date: '12 Apr 2024' }),
  'other.xml': writeXccdf({ id: 'OTHER', title: 'Other STIG', stem: 'O', first: 200001, rules: 3 }),
  'one.scap.xml': writeScap({ version: '1.9' }),
  'two.scap.xml': writeScap({ version: '001.010' }),
  'same.scap.xml': writeScap({ version: '1.010', rules: scapRules(100001, 4) }),
  'niwc.scap.xml': writeScap({ ...niwc, version: '001.010.2' }),
  'both.scap.xml': writeScap({ ...niwc, version: '1' }, { benchmarkId: 'NONE', rules: scapRules(5, 2) }),
};

/** A catalog, a later edition of it, and parts of it. */
export const whole: SampleControl[] = [
  ...['ac-1', 'ac-2', 'ac-2.1', 'au-1', 'au-2'].map((id) => ({ id })),
  { id: 'au-3', withdrawnInto: ['au-2'] },
];
export const named = (...ids: string[]) => whole.filter(({ id }) => ids.includes(id));
export const partSamples: Record<string, string> = {
  'whole.json': oscalCatalog(whole, '9.9', '2022-01-25'),
  // An active control more, two years later: another edition of that version.
  'release.json': oscalCatalog([...whole, { id: 'ia-13' }], '9.9', '2024-02-13'),
  'extract.json': oscalCatalog(named('ac-1', 'ac-2'), '9.9', '2026-11-22'),
  'extract-of-its-day.json': oscalCatalog(named('au-1', 'au-2', 'au-3'), '9.9', '2022-01-25'),
  'extract-and-own.json': oscalCatalog([...named('ac-1'), { id: 'ac-99' }], '9.9', '2026-01-01'),
};
