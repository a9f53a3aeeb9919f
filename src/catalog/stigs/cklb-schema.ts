import { z } from '@hono/zod-openapi';
import { oneWord, requestText, texts } from '../../http/schema.ts';

/** The roles of a host in its domain. */
export const roles = ['None', 'Workstation', 'Member Server', 'Domain Controller'] as const;

const text = z.string();
const textOrNull = text.nullable();
const severity = z.enum(['high', 'medium', 'low']);

const CklbRule = z.strictObject({
  uuid: z.uuid(),
  stig_uuid: z.uuid(),
  ...texts('group_id', 'group_id_src', 'rule_id', 'rule_id_src'),
  target_key: textOrNull,
  stig_ref: textOrNull,
  weight: text,
  classification: text,
  severity,
  ...texts('rule_version', 'rule_title', 'group_title', 'fix_text', 'discussion', 'check_content'),
  check_content_ref: z.strictObject({ href: text, name: text }).nullable(),
  reference_identifier: textOrNull,
  ...texts(
    'false_positives',
    'false_negatives',
    'documentable',
    'mitigations',
    'potential_impacts',
    'third_party_tools',
    'mitigation_control',
    'responsibility',
    'security_override_guidance',
    'ia_controls',
  ),
  legacy_ids: z.array(text),
  ccis: z.array(text),
  group_tree: z.array(z.strictObject({ id: text, title: text, description: text })),
  status: z.enum(['not_reviewed', 'not_applicable', 'open', 'not_a_finding']),
  overrides: z.strictObject({
    severity: z.strictObject({ severity, reason: text }).optional(),
  }),
  comments: text,
  finding_details: text,
});

/** A checklist as STIG Viewer 3 reads it (rule F3.1). */
export const Cklb = z
  .strictObject({
    title: text,
    id: z.uuid(),
    cklb_version: z.literal('1.0'),
    active: z.boolean(),
    mode: z.int(),
    has_path: z.boolean(),
    target_data: z.strictObject({
      target_type: z.enum(['Computing', 'Non-Computing']),
      ...texts('host_name', 'ip_address', 'mac_address', 'fqdn', 'comments'),
      role: z.enum(roles),
      is_web_database: z.boolean(),
      technology_area: text,
      web_db_site: text,
      web_db_instance: text,
      classification: textOrNull,
    }),
    stigs: z.array(
      z.strictObject({
        ...texts('stig_name', 'display_name', 'stig_id', 'release_info', 'version'),
        uuid: z.uuid(),
        reference_identifier: textOrNull,
        size: z.int(),
        rules: z.array(CklbRule),
      }),
    ),
  })
  .openapi('Checklist');
export type Cklb = z.infer<typeof Cklb>;
export type CklbStig = Cklb['stigs'][number];
export type CklbRule = CklbStig['rules'][number];

const field = (name: string) => requestText(name, 255).optional();

/** The host of a checklist in a request (rule D28.1). */
export const checklistTarget = z.object({
  hostName: field('hostName'),
  ipAddress: field('ipAddress'),
  macAddress: field('macAddress'),
  fqdn: field('fqdn'),
  role: oneWord('role', roles).optional(),
});
export type ChecklistTarget = z.infer<typeof checklistTarget>;
