import { packageVersion } from '../../base/root.ts';
import { cleanXml } from '../../http/columns.ts';
import type { Cklb, CklbRule, CklbStig } from './cklb-schema.ts';
import type { StigRelease } from './queries.ts';

/** The fields of a target: their names in a ckl, in its order, with their names in a cklb. */
export const assetNames = {
  ROLE: 'role',
  ASSET_TYPE: 'target_type',
  MARKING: 'classification',
  HOST_NAME: 'host_name',
  HOST_IP: 'ip_address',
  HOST_MAC: 'mac_address',
  HOST_FQDN: 'fqdn',
  TARGET_COMMENT: 'comments',
  TECH_AREA: 'technology_area',
  WEB_OR_DATABASE: 'is_web_database',
  WEB_DB_SITE: 'web_db_site',
  WEB_DB_INSTANCE: 'web_db_instance',
} as const satisfies Record<string, keyof Cklb['target_data']>;

/** The fields of a rule: their names in a ckl, in its order, with their names in a cklb. */
export const ruleNames = {
  Vuln_Num: 'group_id',
  Severity: 'severity',
  Group_Title: 'group_title',
  Rule_ID: 'rule_id_src',
  Rule_Ver: 'rule_version',
  Rule_Title: 'rule_title',
  Vuln_Discuss: 'discussion',
  IA_Controls: 'ia_controls',
  Check_Content: 'check_content',
  Fix_Text: 'fix_text',
  False_Positives: 'false_positives',
  False_Negatives: 'false_negatives',
  Documentable: 'documentable',
  Mitigations: 'mitigations',
  Potential_Impact: 'potential_impacts',
  Third_Party_Tools: 'third_party_tools',
  Mitigation_Control: 'mitigation_control',
  Responsibility: 'responsibility',
  Security_Override_Guidance: 'security_override_guidance',
  Check_Content_Ref: 'check_content_ref',
  Weight: 'weight',
  Class: 'classification',
  STIGRef: 'stig_ref',
  TargetKey: 'target_key',
} as const satisfies Record<string, keyof CklbRule>;

const statuses = {
  not_a_finding: 'NotAFinding',
  open: 'Open',
  not_applicable: 'Not_Applicable',
  not_reviewed: 'Not_Reviewed',
};

/** A checklist in the form of STIG Viewer 2 (rule F3.6). `releases` give what a cklb has no field for. */
export function toCkl({ target_data: target, stigs }: Cklb, releases: StigRelease[]): string {
  const releaseOf = (stig: CklbStig) => releases.find(({ benchmarkId }) => benchmarkId === stig.stig_id);
  const written = stigs.map((stig) => cklStig(stig, releaseOf(stig)));
  return [cklHead(target, targetKeyOf(stigs[0])), ...written, cklEnd].join('');
}

/** Where a checklist has texts with control characters, which XML cannot hold: V-ids, titles or `the target`, one for each. */
export function textsBeyondXml({ target_data, stigs }: Cklb): string[] {
  const found = (place: string, of: object): string[] =>
    Object.values(of).flatMap((value) =>
      typeof value === 'string' ? (cleanXml(value) === value ? [] : place) : found(place, value ?? {}),
    );
  return [
    ...found('the target', target_data),
    ...stigs.flatMap(({ rules, ...stig }) => [
      ...found(stig.stig_name, stig),
      ...rules.flatMap((rule) => found(rule.group_id, rule)),
    ]),
  ];
}

/** The beginning of a ckl, before its STIGs: its target, with DISA's key of the first STIG's product. */
export function cklHead(target: Cklb['target_data'], targetKey: string): string {
  const asset = Object.entries(assetNames).map(([name, field]) => element(name, String(target[field] ?? '')));
  asset.splice(Object.keys(assetNames).indexOf('WEB_OR_DATABASE'), 0, element('TARGET_KEY', targetKey));
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!--Gapstone :: ${packageVersion}-->`,
    '<CHECKLIST>',
    '\t<ASSET>',
    ...asset.map((each) => `\t\t${each}`),
    '\t</ASSET>',
    '\t<STIGS>',
  ];
  return `${lines.join('\n')}\n`;
}

/** The end of a ckl, after its STIGs. */
export const cklEnd = '\t</STIGS>\n</CHECKLIST>';

/** A STIG of a ckl. */
export function cklStig(stig: CklbStig, release: StigRelease | undefined): string {
  const info = {
    version: stig.version,
    classification: 'UNCLASSIFIED',
    customname: null,
    stigid: stig.stig_id,
    description: release?.description ?? '',
    filename: release ? `U_${release.benchmarkId}_${release.version}_Manual-xccdf.xml` : '',
    releaseinfo: stig.release_info,
    title: stig.stig_name,
    uuid: stig.uuid,
    notice: 'terms-of-use',
    source: 'STIG.DOD.MIL',
  };
  const lines = [
    '\t\t<iSTIG>',
    '\t\t\t<STIG_INFO>',
    // STIG Viewer omits empty data.
    ...Object.entries(info).map(([name, text]) =>
      group('SI_DATA', element('SID_NAME', name), ...(text === null ? [] : [element('SID_DATA', text)])),
    ),
    '\t\t\t</STIG_INFO>',
    ...stig.rules.map((rule) => vuln(rule, stig)),
    '\t\t</iSTIG>',
  ];
  return `${lines.join('\n')}\n`;
}

function vuln(rule: CklbRule, stig: CklbStig): string {
  const ofRule = {
    ...rule,
    check_content_ref: rule.check_content_ref?.name ?? '',
    classification: rule.classification === 'Unclassified' ? 'Unclass' : rule.classification,
    stig_ref: rule.stig_ref ?? `${stig.stig_name} :: Version ${stig.version}, ${stig.release_info}`,
    target_key: keyOfRule(rule),
  };
  // STIG Viewer writes at least two legacy ids.
  const legacyIds = [...rule.legacy_ids, '', ''].slice(0, Math.max(2, rule.legacy_ids.length));
  const data = [
    ...Object.entries(ruleNames).map(([name, field]) => [name, ofRule[field]] as const),
    ['STIG_UUID', stig.uuid] as const,
    ...legacyIds.map((id) => ['LEGACY_ID', id] as const),
    ...rule.ccis.map((id) => ['CCI_REF', id] as const),
  ];
  const answer = {
    STATUS: statuses[rule.status],
    FINDING_DETAILS: rule.finding_details,
    COMMENTS: rule.comments,
    SEVERITY_OVERRIDE: rule.overrides.severity?.severity ?? '',
    SEVERITY_JUSTIFICATION: rule.overrides.severity?.reason ?? '',
  };
  return [
    '\t\t\t<VULN>',
    ...data.map(([name, text]) =>
      group('STIG_DATA', element('VULN_ATTRIBUTE', name), element('ATTRIBUTE_DATA', text)),
    ),
    ...Object.entries(answer).map(([name, text]) => `\t\t\t\t${element(name, text)}`),
    '\t\t\t</VULN>',
  ].join('\n');
}

/** DISA's key of the product; a checklist from a ckl has it under another name than a cklb. */
const keyOfRule = (rule: CklbRule | undefined) => rule?.target_key ?? rule?.reference_identifier ?? '';

/** DISA's key of the product of a STIG: that of its first rule. */
export const targetKeyOf = (stig: CklbStig | undefined) => keyOfRule(stig?.rules[0]);

function group(name: string, ...elements: string[]): string {
  const lines = [`<${name}>`, ...elements.map((each) => `\t${each}`), `</${name}>`];
  return lines.map((line) => `\t\t\t\t${line}`).join('\n');
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Replaces carriage returns: XML readers turn them into line feeds. */
function element(name: string, text: string): string {
  const clean = cleanXml(text).replace(/\r\n?/g, '\n');
  return `<${name}>${clean.replace(/[&<>]/g, (each) => escapes[each]!)}</${name}>`;
}
