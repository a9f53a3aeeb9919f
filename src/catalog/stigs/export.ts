import { type Column, joined } from '../../http/columns.ts';
import type { FindingRow } from './queries.ts';

const texts = ['ruleVersion', 'ruleTitle', 'vulnDiscussion', 'checkContent', 'fixText'] as const;

/** The columns of the csv and xml downloads of a STIG (rule D5.4). */
export const findingColumns: Column<FindingRow>[] = [
  { name: 'groupId', value: (row) => row.groupId },
  { name: 'title', value: (row) => row.groupTitle },
  { name: 'severity', value: (row) => row.severity },
  { name: 'ruleId', value: (row) => row.ruleId },
  ...texts.map((name) => ({ name, value: (row: FindingRow) => row[name] })),
  { name: 'ruleIdent', value: (row) => row.ccis[0] ?? '' },
  { name: 'ruleIdents', value: (row) => joined(row.ccis) },
];
