import { stableId } from '../../base/ids.ts';
import { withoutRuleEnding } from '../../base/rule-ids.ts';
import type { ChecklistTarget, Cklb, CklbRule, CklbStig } from './cklb-schema.ts';
import type { FindingRow, FullRelease, StigRelease } from './queries.ts';

/**
 * A checklist in the form of STIG Viewer 3 (rules F3.1, F3.3, D5.1 and D5.2), not reviewed. Its ids come from release and
 * target, and it has no times: equal input gives equal bytes. `classification`, the site's marking, enters no id.
 */
export function toCklb(
  full: FullRelease,
  target: ChecklistTarget = {},
  classification: string | null = null,
): Cklb {
  const stig = cklbStig(full);
  const { version } = full.release;
  const id = stableId('cklb', ...releaseKey(full), ...hostKey(target));
  const title = `${stig.display_name} ${version}`;
  return { ...cklbHead({ title, id, target, classification }), stigs: [stig] };
}

const hostOf = ({
  hostName = '',
  ipAddress = '',
  macAddress = '',
  fqdn = '',
  role = 'None',
}: ChecklistTarget) => ({ hostName, ipAddress, macAddress, fqdn, role });

/** A checklist without its STIGs, its last field. */
export function cklbHead(of: {
  title: string;
  id: string;
  target: ChecklistTarget;
  classification: string | null;
}): Omit<Cklb, 'stigs'> {
  const { hostName, ipAddress, macAddress, fqdn, role } = hostOf(of.target);
  return {
    title: of.title,
    id: of.id,
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
      classification: of.classification,
    },
  };
}

/** The parts of an id that identify a host. */
export function hostKey(target: ChecklistTarget): string[] {
  const { hostName, ipAddress, macAddress, fqdn, role } = hostOf(target);
  const others = [ipAddress, macAddress, fqdn, role === 'None' ? '' : role];
  return others.every((each) => each === '')
    ? [hostName].filter((each) => each !== '')
    : [hostName, ...others];
}

/** The parts of an id that identify a printing of a release. */
export function releaseKey({ release }: FullRelease): string[] {
  return [release.slug, release.version, release.benchmarkDate ?? '', release.statusDate ?? ''];
}

/** A release as a STIG of a checklist: the same for every host. */
export function cklbStig(full: FullRelease): CklbStig {
  const { release, findings } = full;
  const key = releaseKey(full);
  const stigUuid = stableId('cklb-stig', ...key);
  return {
    stig_name: release.title,
    display_name: release.title.replace(/ Security Technical Implementation Guide$/, ''),
    stig_id: release.benchmarkId,
    release_info: releaseInfoOf(release),
    version: /^V(\d+)/.exec(release.version)![1]!,
    uuid: stigUuid,
    reference_identifier: findings[0]?.referenceIdentifier ?? null,
    size: findings.length,
    rules: findings.map((row) => toRule(row, key, stigUuid)),
  };
}

/** The name of a checklist's file, before its ending: of the host where one is named (rule D28.1). */
export function checklistName(
  { benchmarkId, slug, version }: Pick<StigRelease, 'benchmarkId' | 'slug' | 'version'>,
  { hostName = '' }: ChecklistTarget,
): string {
  return hostName.trim() === '' ? `U_${benchmarkId}_${version}` : `${hostName}_${slug}_${version}`;
}

/** STIG Manager reads a release only before a blank: without one, this writes the release-info in DISA's form. */
function releaseInfoOf({ releaseInfo, version, releaseDate }: FullRelease['release']): string {
  if (/Release:\s{0,20}\S{1,100}\s/.test(releaseInfo)) return releaseInfo;
  const release = version.slice(version.indexOf('R') + 1);
  const date = releaseDate === null ? 'unknown' : new Date(releaseDate).toUTCString().slice(5, 16);
  return `Release: ${release} Benchmark Date: ${date}`;
}

function toRule(row: FindingRow, key: string[], stigUuid: string): CklbRule {
  return {
    uuid: stableId('cklb-rule', ...key, row.ruleId),
    stig_uuid: stigUuid,
    group_id: row.groupId,
    group_id_src: row.groupId,
    rule_id: withoutRuleEnding(row.ruleId),
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
