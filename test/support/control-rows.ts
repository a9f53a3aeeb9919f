import { serveControl } from '../../importers/controls/served-control.ts';
import { sortKey } from '../../src/catalog/controls/identifier.ts';
import type { Database } from '../../src/db/database.ts';
import { rowsOf } from './tables.ts';

/** Framework, version, identifier, family and title of each. */
const samples = rowsOf(`
  nist-800-53 | Rev 5.1.1 | AC-1 | Access Control | Policy and Procedures
  nist-800-53 | Rev 5.1.1 | AC-2 | Access Control | Account Management
  nist-800-53 | Rev 5.1.1 | AC-2(1) | Access Control | Automated System Account Management
  nist-800-53 | Rev 5.1.1 | AU-2 | Audit and Accountability | Event Logging
  nist-800-171 | Rev 2 | 3.1.1 | Access Control
  nist-800-171 | Rev 3 | 03.01.01 | Access Control | Account Management
  dod-8500 | DoDI 8500.2 (2003) | ECCT-1 | Enclave Computing Environment | Encryption for Confidentiality
`);

/** The statement that a sample control has. */
export function statementOf(identifier: string): string {
  return `Statement of ${identifier}.`;
}

/** Puts a few controls of each framework into the catalog, as an import does. */
export function addControls(db: Database): void {
  const insert = (table: string, values: unknown[], more = '') =>
    db.sqlite.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?')}) ${more}`).run(...values);
  for (const [framework, version] of new Map(samples.map((row) => [row[1], row])).values())
    insert('framework_versions', [
      framework,
      version,
      '',
      version === 'Rev 3' ? 0 : 1,
      version === 'Rev 2' ? 0 : 1,
    ]);
  for (const [index, [framework, version, identifier, family, title = '']] of samples.entries()) {
    const stated = {
      ...{ identifier: identifier!, title, family: family!, familyCode: identifier!.slice(0, 2) },
      ...{ status: 'active' as const, withdrawnInto: [], related: [], baselines: [], guidance: '' },
      ...{ statement: statementOf(identifier!), statementParts: [], threat: '', resources: '' },
      ...{ macLevels: null, confidentialityLevels: null, impactCode: null },
      requirementType: framework === 'nist-800-171' ? ('basic' as const) : null,
    };
    const control = serveControl(framework!, version!, stated, []);
    const { controlId, familyNames, filterWords, searchText, statement, listJson, recordJson } = control;
    const key = sortKey(framework!, identifier!);
    insert('control_keys', [controlId, framework, identifier, key], 'ON CONFLICT DO NOTHING');
    insert('controls', [
      ...[framework, version, index + 1, identifier, controlId, 'active', title, family],
      ...[JSON.stringify(familyNames), JSON.stringify(filterWords), searchText, statement],
      ...[listJson, recordJson, '[]'],
    ]);
  }
}
