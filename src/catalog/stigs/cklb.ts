import { stableId } from '../../base/ids.ts';
import type { ChecklistTarget, Cklb } from './cklb-schema.ts';
import type { FindingRow, FullRelease } from './queries.ts';

/**
 * A checklist in the form of STIG Viewer 3 (rules F3.1, F3.3, D5.1 and D5.2): every rule
 * `not_reviewed`, ids made from the content, no times, so that the same release gives the same bytes everywhere.
 * The target enters the checklist's id, since the checklists of two hosts are two; the STIG and its rules in them are the
 * same. `classification` is the site's marking and enters no id.
 */
export function toCklb(
  { release, findings }: FullRelease,
  { hostName = '', ipAddress = '', macAddress = '', fqdn = '', role = 'None' }: ChecklistTarget = {},
  classification: string | null = null,
): Cklb {
  const others = [ipAddress, macAddress, fqdn, role === 'None' ? '' : role];
  const host = others.every((each) => each === '')
    ? [hostName].filter((each) => each !== '')
    : [hostName, ...others];
  const key = [release.slug, release.version, release.benchmarkDate ?? '', release.statusDate ?? ''];
  const stigUuid = stableId('cklb-stig', ...key);
  const displayName = release.title.replace(/ Security Technical Implementation Guide$/, '');
  return {
    title: `${displayName} ${release.version}`,
    id: stableId('cklb', ...key, ...host),
    cklb_version: '1.0',
    active: false,
    mode: 1,
    has_path: true,
    target_data: {
      target_type: 'Computing',
      host_name: hostName,
      ip_address: ipAddress,
      mac_address: macAddress,
      fqdn,
      comments: '',
      role,
      is_web_database: false,
      technology_area: '',
      web_db_site: '',
      web_db_instance: '',
      classification,
    },
    stigs: [
      {
        stig_name: release.title,
        display_name: displayName,
        stig_id: release.benchmarkId,
        release_info: releaseInfoOf(release),
        version: /^V(\d+)/.exec(release.version)![1]!,
        uuid: stigUuid,
        reference_identifier: findings[0]?.referenceIdentifier ?? null,
        size: findings.length,
        rules: findings.map((row) => toRule(row, key, stigUuid)),
      },
    ],
  };
}

/** The name of a checklist's file, before its ending: of the host where one is named (rule D28.1). */
export function checklistName(
  { benchmarkId, slug, version }: FullRelease['release'],
  { hostName = '' }: ChecklistTarget,
): string {
  return hostName.trim() === '' ? `U_${benchmarkId}_${version}` : `${hostName}_${slug}_${version}`;
}

/**
 * The release-info as it was published or, where STIG Manager finds no release in that, in the form that DISA gives it: its
 * reader wants a blank after the number, which a text without a date does not have.
 */
function releaseInfoOf({ releaseInfo, version, releaseDate }: FullRelease['release']): string {
  if (/Release:\s*.+?\s/.test(releaseInfo)) return releaseInfo;
  const release = version.slice(version.indexOf('R') + 1);
  const date = releaseDate === null ? 'unknown' : new Date(releaseDate).toUTCString().slice(5, 16);
  return `Release: ${release} Benchmark Date: ${date}`;
}

function toRule(row: FindingRow, key: string[], stigUuid: string): Cklb['stigs'][number]['rules'][number] {
  return {
    uuid: stableId('cklb-rule', ...key, row.ruleId),
    stig_uuid: stigUuid,
    group_id: row.groupId,
    group_id_src: row.groupId,
    rule_id: row.ruleId.replace(/_rule$/, ''),
    rule_id_src: row.ruleId,
    target_key: null,
    stig_ref: null,
    weight: row.weight,
    classification: 'Unclassified',
    severity: row.severity,
    rule_version: row.ruleVersion,
    rule_title: row.ruleTitle,
    group_title: row.groupTitle,
    fix_text: row.fixText,
    discussion: row.vulnDiscussion,
    check_content: row.checkContent,
    check_content_ref:
      row.checkRefHref === null ? null : { href: row.checkRefHref, name: row.checkRefName ?? '' },
    reference_identifier: row.referenceIdentifier,
    false_positives: row.falsePositives,
    false_negatives: row.falseNegatives,
    documentable: row.documentable,
    mitigations: row.mitigations,
    potential_impacts: row.potentialImpacts,
    third_party_tools: row.thirdPartyTools,
    mitigation_control: row.mitigationControl,
    responsibility: row.responsibility,
    security_override_guidance: row.severityOverrideGuidance,
    ia_controls: row.iaControls,
    legacy_ids: row.legacyIds,
    ccis: row.ccis,
    group_tree: [
      {
        id: row.groupId,
        title: row.groupTitle,
        description: `<GroupDescription>${row.groupDescription}</GroupDescription>`,
      },
    ],
    status: 'not_reviewed',
    overrides: {},
    comments: '',
    finding_details: '',
  };
}
