import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../../src/base/ids.ts';
import { packageRoot } from '../../../src/base/root.ts';
import { readCsv } from '../../read/csv.ts';
import type { ResponsibilityLevel } from './role-record.ts';

/** An occupation that is responsible for STIGs of a class of product. */
export interface ResponsibleRole {
  occupationCode: string;
  workRoleId: string | null;
  confidenceScore: number;
  responsibilityLevel: ResponsibilityLevel;
  mappingReason: string;
}

const tableText = (name: string) => readFileSync(join(packageRoot, 'data', 'roles', name), 'utf8');
const classesText = tableText('classes.csv');
const rolesText = tableText('class-roles.csv');

/** Identifies the two tables. Mappings that were made from other tables are made again by the next import. */
export const tablesVersion = sha256(classesText + rolesText).slice(0, 12);

const patterns = readCsv(classesText, 'other').rows.flatMap((row) =>
  row
    .cell('pattern')
    .split(';')
    .map((pattern) => ({ pattern, productClass: row.cell('class') })),
);

const rolesOfClass = Map.groupBy(
  readCsv(rolesText, 'other').rows.map((row) => ({
    productClass: row.cell('class'),
    occupationCode: row.cell('occupationCode'),
    workRoleId: row.cell('niceWorkRoleId') || null,
    confidenceScore: Number(row.cell('confidenceScore')),
    responsibilityLevel: row.cell('roleResponsibilityLevel') as ResponsibilityLevel,
    mappingReason: row.cell('reason'),
  })),
  (role) => role.productClass,
);

/**
 * The class of product of a STIG (rule F9.3): that of the first pattern, in the order of the table, which the words of
 * the title or the family of its requirements fit. Null where none fits. `readGroupTitles` gives the group titles of its rules.
 */
export function classOf(title: string, readGroupTitles: () => string[]): string | null {
  const words = ` ${title.toLowerCase().replace(/[^a-z0-9]+/g, ' ')} `;
  let family: string | null = null;
  const fits = (pattern: string) => {
    if (!pattern.startsWith('SRG-')) return words.includes(` ${pattern} `);
    family ??= familyOf(readGroupTitles());
    return `${family}-`.startsWith(`${pattern}-`);
  };
  return patterns.find(({ pattern }) => fits(pattern))?.productClass ?? null;
}

/** The SRG family of most rules, such as `SRG-APP-DB` of `SRG-APP-000148-DB-000103`; empty without one. */
function familyOf(groupTitles: string[]): string {
  const families = groupTitles.flatMap((groupTitle) => {
    const [, source, product] = /^(SRG-[A-Z]+)-\d+(-[A-Z]+)?/.exec(groupTitle) ?? [];
    return source === undefined ? [] : [source + (product ?? '')];
  });
  const groups = [...Map.groupBy(families.sort(), (family) => family).values()];
  return groups.sort((a, b) => b.length - a.length)[0]?.[0] ?? '';
}

/** The occupations that are responsible for a class. */
export function rolesOf(productClass: string | null): ResponsibleRole[] {
  return productClass === null ? [] : (rolesOfClass.get(productClass) ?? []);
}
