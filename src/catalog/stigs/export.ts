import { type Column, joined } from '../../http/columns.ts';
import type { FindingRow, FullRelease } from './queries.ts';
import type { RawStig } from './schema.ts';

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

/** The json download: the raw benchmark record, its keys in the order of D5.3. */
export function toRawStig({ release, findings, profiles }: FullRelease): RawStig {
  const midnight = release.releaseDate === null ? null : `${release.releaseDate}T00:00:00Z`;
  return {
    id: release.stigId,
    benchmarkId: release.benchmarkId,
    slug: release.slug,
    status: release.status,
    statusDate: release.statusDate,
    title: release.title,
    description: release.description,
    version: release.version,
    releaseDate: release.releaseDate,
    createdAt: midnight,
    updatedAt: midnight,
    groups: findings.map((row) => ({
      groupId: row.groupId,
      groupTitle: row.groupTitle,
      ruleId: row.ruleId,
      ruleWeight: Number(row.weight),
      ruleSeverity: row.severity,
      ruleVersion: row.ruleVersion,
      ruleTitle: row.ruleTitle,
      ruleVulnDiscussion: row.vulnDiscussion,
      ruleFalsePositives: row.falsePositives,
      ruleFalseNegatives: row.falseNegatives,
      ruleDocumentable: row.documentable.toLowerCase() === 'true',
      ruleMitigations: row.mitigations,
      ruleSeverityOverrideGuidance: row.severityOverrideGuidance,
      rulePotentialImpacts: row.potentialImpacts,
      ruleThirdPartyTools: row.thirdPartyTools,
      ruleMitigationControl: row.mitigationControl,
      ruleResponsibility: row.responsibility,
      ruleIAControls: row.iaControls,
      ruleIdent: row.ccis[0] ?? '',
      ruleIdents: row.ccis,
      ruleLegacyIds: row.legacyIds,
      ruleFixText: row.fixText,
      ruleFixId: row.fixId,
      ruleCheckSystem: row.checkSystem,
      ruleCheckContent: row.checkContent,
    })),
    profiles,
  };
}
