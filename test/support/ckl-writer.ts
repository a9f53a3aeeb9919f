import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { escapeXml } from './xccdf-writer.ts';

// Writes checklists as STIG Viewer 2 does (rule F3.5). It shares no code with the reader.

type Stig = Cklb['stigs'][number];
type Rule = Stig['rules'][number];

const statuses = {
  not_reviewed: 'Not_Reviewed',
  not_applicable: 'Not_Applicable',
  open: 'Open',
  not_a_finding: 'NotAFinding',
};

export interface CklOptions {
  /** Raw XML that goes into the named place. */
  inAsset?: string;
  inStigInfo?: string;
  inRule?: string;
  before?: string;
}

/** The text of a ckl that says what a cklb says. */
export function writeCkl({ target_data: target, stigs }: Cklb, options: CklOptions = {}): string {
  const element = (name: string, text: string) => `<${name}>${escapeXml(text)}</${name}>`;
  const asset = [
    element('ROLE', target.role),
    element('ASSET_TYPE', target.target_type),
    element('MARKING', target.classification ?? ''),
    element('HOST_NAME', target.host_name),
    element('HOST_IP', target.ip_address),
    element('HOST_MAC', target.mac_address),
    element('HOST_FQDN', target.fqdn),
    element('TARGET_COMMENT', target.comments),
    element('TECH_AREA', target.technology_area),
    element('TARGET_KEY', ''),
    element('WEB_OR_DATABASE', String(target.is_web_database)),
    element('WEB_DB_SITE', target.web_db_site),
    element('WEB_DB_INSTANCE', target.web_db_instance),
    options.inAsset ?? '',
  ];
  const info = (stig: Stig) =>
    [
      ['version', stig.version],
      ['classification', ''],
      ['customname', ''],
      ['stigid', stig.stig_id],
      ['description', ''],
      ['filename', ''],
      ['releaseinfo', stig.release_info],
      ['title', stig.stig_name],
      ['uuid', stig.uuid],
      ['notice', ''],
      ['source', ''],
    ]
      .map(([name, data]) => {
        const said = data === '' ? '' : element('SID_DATA', data!);
        return `<SI_DATA>${element('SID_NAME', name!)}${said}</SI_DATA>`;
      })
      .join('\n');
  const rule = (each: Rule, stig: Stig) => {
    const data: [string, string][] = [
      ['Vuln_Num', each.group_id],
      ['Severity', each.severity],
      ['Group_Title', each.group_title],
      ['Rule_ID', each.rule_id_src],
      ['Rule_Ver', each.rule_version],
      ['Rule_Title', each.rule_title],
      ['Vuln_Discuss', each.discussion],
      ['IA_Controls', each.ia_controls],
      ['Check_Content', each.check_content],
      ['Fix_Text', each.fix_text],
      ['False_Positives', each.false_positives],
      ['False_Negatives', each.false_negatives],
      ['Documentable', each.documentable],
      ['Mitigations', each.mitigations],
      ['Potential_Impact', each.potential_impacts],
      ['Third_Party_Tools', each.third_party_tools],
      ['Mitigation_Control', each.mitigation_control],
      ['Responsibility', each.responsibility],
      ['Security_Override_Guidance', each.security_override_guidance],
      ['Check_Content_Ref', each.check_content_ref?.name ?? ''],
      ['Weight', each.weight],
      ['Class', 'Unclass'],
      ['STIGRef', `${stig.stig_name} :: Version ${stig.version}, ${stig.release_info}`],
      ['TargetKey', each.reference_identifier ?? ''],
      ['STIG_UUID', stig.uuid],
      ...(each.legacy_ids.length === 0 ? [''] : each.legacy_ids).map((id): [string, string] => [
        'LEGACY_ID',
        id,
      ]),
      ...each.ccis.map((id): [string, string] => ['CCI_REF', id]),
    ];
    return [
      '<VULN>',
      ...data.map(
        ([name, value]) =>
          `<STIG_DATA>${element('VULN_ATTRIBUTE', name)}${element('ATTRIBUTE_DATA', value)}</STIG_DATA>`,
      ),
      element('STATUS', statuses[each.status]),
      element('FINDING_DETAILS', each.finding_details),
      element('COMMENTS', each.comments),
      element('SEVERITY_OVERRIDE', each.overrides.severity?.severity ?? ''),
      element('SEVERITY_JUSTIFICATION', each.overrides.severity?.reason ?? ''),
      options.inRule ?? '',
      '</VULN>',
    ].join('\n');
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    options.before ?? '<!--DISA STIG Viewer :: 2.17-->',
    `<CHECKLIST>\n<ASSET>\n${asset.join('\n')}\n</ASSET>\n<STIGS>`,
    ...stigs.map(
      (stig) =>
        `<iSTIG>\n<STIG_INFO>\n${info(stig)}${options.inStigInfo ?? ''}\n</STIG_INFO>\n${stig.rules.map((each) => rule(each, stig)).join('\n')}\n</iSTIG>`,
    ),
    '</STIGS>\n</CHECKLIST>\n',
  ].join('\n');
}
