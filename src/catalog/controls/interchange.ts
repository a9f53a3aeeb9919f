import { fold, guardedCell } from '../../base/text.ts';
import { type Column, joined } from '../../http/columns.ts';
import type { StoredAssessment } from './assessment-record.ts';
import { familyCodeOf } from './identifier.ts';
import type { StatementPart } from './schema.ts';

/** A control of any framework with all its fields. */
export interface ExportedControl {
  identifier: string;
  title: string;
  /** The types of a CCI, the family of any other control. */
  family: string;
  /** The status of a CCI, else what `familyCode` gives. */
  familyCode: string;
  status: 'active' | 'withdrawn';
  withdrawnInto: string[];
  statement: string;
  statementParts: StatementPart[];
  guidance: string;
  /** The older release that the text comes from, `""` if this version has its own. */
  textFrom: string;
  related: string[];
  baselines: string[];
  requirementType: string | null;
  macLevels: string[];
  confidentialityLevels: string[];
  impactCode: string | null;
  threat: string;
  resources: string;
  assessment: Partial<StoredAssessment>;
}

/** One version of a framework, withdrawn controls too. */
export interface ExportedCatalog {
  framework: string;
  version: string;
  /** The newest date or time that a source states of itself; null where none does. */
  changed: string | null;
  controls: ExportedControl[];
  /** The requested baseline, which all the controls are in. */
  baseline: { name: string; title: string; values: { parameter: string; value: string }[] } | null;
}

/** A family code that the identifier does not begin with; `""` where there is none. */
export function familyCode(framework: string, identifier: string, family: string, names: string[]): string {
  const [code = ''] = names.filter((name) => name !== fold(family));
  return framework !== 'cci' && code === fold(familyCodeOf(framework, identifier)) ? '' : code;
}

type Row = ExportedControl & Pick<ExportedCatalog, 'framework' | 'version'>;

const texts: [name: string, value: (row: Row) => string | null][] = [
  ['framework', (row) => row.framework],
  ['version', (row) => row.version],
  ['identifier', (row) => row.identifier],
  ['title', (row) => row.title],
  ['family', (row) => (isCci(row) ? '' : row.family)],
  ['familyCode', (row) => (isCci(row) ? '' : row.familyCode)],
  ['status', (row) => (isCci(row) ? row.familyCode : row.status)],
  ['withdrawnInto', (row) => joined(row.withdrawnInto)],
  ['baselines', (row) => joined(row.baselines)],
  ['requirementType', (row) => row.requirementType],
  ['macLevels', (row) => joined(row.macLevels)],
  ['confidentialityLevels', (row) => joined(row.confidentialityLevels)],
  ['impactCode', (row) => row.impactCode],
  ['type', (row) => (isCci(row) ? row.family.replaceAll(', ', ';') : '')],
  ['statement', (row) => row.statement],
  ['statementParts', (row) => jsonOrNone(row.statementParts)],
  ['guidance', (row) => row.guidance],
  ['textFrom', (row) => row.textFrom],
  ['related', (row) => joined(row.related)],
  ['threat', (row) => row.threat],
  ['resources', (row) => row.resources],
];

/** The columns of our interchange (data/README.md); an import of the file gives the same controls (rule D30.1). */
export const interchangeColumns: Column<Row>[] = texts.map(([name, value]) => ({
  name,
  value: (row) => guarded(value(row)),
}));

const isCci = (row: Row) => row.framework === 'cci';
const jsonOrNone = (parts: StatementPart[]) => (parts.length === 0 ? '' : JSON.stringify(parts));

/** Guards a text that looks guarded: the import removes one apostrophe (rule D30.1). */
export function guarded(value: string | null): string | null {
  return value !== null && guardedCell.test(value) ? `'${value}` : value;
}
