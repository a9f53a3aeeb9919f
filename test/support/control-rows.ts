import { serveControl } from '../../importers/controls/served-control.ts';
import { sortKey } from '../../src/catalog/controls/identifier.ts';
import type { Database } from '../../src/db/database.ts';

/** A control as a test names it: framework, version, identifier, title, family, statement. */
type Sample = [framework: string, version: string, identifier: string, title: string, family: string];

const samples: Sample[] = [
  ['nist-800-53', 'Rev 5.1.1', 'AC-1', 'Policy and Procedures', 'Access Control'],
  ['nist-800-53', 'Rev 5.1.1', 'AC-2', 'Account Management', 'Access Control'],
  ['nist-800-53', 'Rev 5.1.1', 'AC-2(1)', 'Automated System Account Management', 'Access Control'],
  ['nist-800-53', 'Rev 5.1.1', 'AU-2', 'Event Logging', 'Audit and Accountability'],
  ['nist-800-171', 'Rev 2', '3.1.1', '', 'Access Control'],
  ['nist-800-171', 'Rev 3', '03.01.01', 'Account Management', 'Access Control'],
  [
    'dod-8500',
    'DoDI 8500.2 (2003)',
    'ECCT-1',
    'Encryption for Confidentiality',
    'Enclave Computing Environment',
  ],
];

/** The statement that a sample control has. */
export function statementOf(identifier: string): string {
  return `Statement of ${identifier}.`;
}

/** Puts a few controls of each framework into the catalog, as an import does. */
export function addControls(db: Database): void {
  const insertVersion = db.sqlite.prepare('INSERT INTO framework_versions VALUES (?, ?, ?, ?, ?)');
  for (const { framework, version } of [
    { framework: 'nist-800-53', version: 'Rev 5.1.1' },
    { framework: 'nist-800-171', version: 'Rev 2' },
    { framework: 'nist-800-171', version: 'Rev 3' },
    { framework: 'dod-8500', version: 'DoDI 8500.2 (2003)' },
  ])
    insertVersion.run(framework, version, '', version === 'Rev 3' ? 0 : 1, version === 'Rev 2' ? 0 : 1);
  samples.forEach((sample, index) => {
    addControl(db, sample, index + 1);
  });
}

function addControl(db: Database, [framework, version, identifier, title, family]: Sample, ordinal: number) {
  const control = serveControl(
    framework,
    version,
    {
      identifier,
      title,
      family,
      familyCode: identifier.slice(0, 2),
      status: 'active',
      withdrawnInto: [],
      statement: statementOf(identifier),
      statementParts: [],
      guidance: '',
      related: [],
      baselines: [],
      requirementType: framework === 'nist-800-171' ? 'basic' : null,
      macLevels: null,
      confidentialityLevels: null,
      impactCode: null,
      threat: '',
      resources: '',
    },
    [],
  );
  db.sqlite
    .prepare('INSERT INTO control_keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
    .run(control.controlId, framework, identifier, sortKey(framework, identifier));
  db.sqlite
    .prepare('INSERT INTO controls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(
      framework,
      version,
      ordinal,
      identifier,
      control.controlId,
      'active',
      title,
      family,
      JSON.stringify(control.familyNames),
      JSON.stringify(control.filterWords),
      control.searchText,
      control.statement,
      control.listJson,
      control.recordJson,
      '[]',
    );
}
