import type { Cklb, CklbRule } from './cklb-schema.ts';

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
