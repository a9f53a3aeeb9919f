import type { XccdfFinding, XccdfRelease } from './xccdf-record.ts';

const everyField: Record<keyof XccdfFinding, true> = {
  groupId: true,
  groupTitle: true,
  groupDescription: true,
  ruleId: true,
  ruleVersion: true,
  severity: true,
  weight: true,
  ruleTitle: true,
  vulnDiscussion: true,
  falsePositives: true,
  falseNegatives: true,
  documentable: true,
  mitigations: true,
  severityOverrideGuidance: true,
  potentialImpacts: true,
  thirdPartyTools: true,
  mitigationControl: true,
  responsibility: true,
  iaControls: true,
  referenceIdentifier: true,
  ccis: true,
  legacyIds: true,
  fixText: true,
  fixId: true,
  checkSystem: true,
  checkContent: true,
  checkRefHref: true,
  checkRefName: true,
};

/** The fields of a finding in the order of its row. */
export const findingFields = Object.keys(everyField) as (keyof XccdfFinding)[];

/** A finding as it is stored: the values of `findingFields`, lists written as JSON. */
export type FindingRow = (string | null)[];

/**
 * A release on its way into the database. A parser thread hands it over by copying: rows without names cost half of
 * what objects do, there and where they are stored.
 */
export interface ReleaseRows extends Omit<XccdfRelease, 'findings'> {
  rows: FindingRow[];
}

/** Makes the rows of a release. */
export function toRows({ findings, ...head }: XccdfRelease): ReleaseRows {
  return { ...head, rows: findings.map(rowOf) };
}

function rowOf(finding: XccdfFinding): FindingRow {
  return findingFields.map((field) => {
    const value = finding[field];
    return Array.isArray(value) ? JSON.stringify(value) : value;
  });
}

/** The value of one field in a row. */
export function fieldOf(row: FindingRow, field: keyof XccdfFinding): string | null {
  return row[findingFields.indexOf(field)]!;
}
