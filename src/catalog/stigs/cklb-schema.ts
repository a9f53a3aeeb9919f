import { z } from '@hono/zod-openapi';
import { oneWord, requestText } from '../../http/schema.ts';

/** The roles of a host in its domain. */
export const roles = ['None', 'Workstation', 'Member Server', 'Domain Controller'] as const;

const text = z.string();
const textOrNull = text.nullable();
const severity = z.enum(['high', 'medium', 'low']);

const CklbRule = z.strictObject({
  uuid: z.uuid(),
  stig_uuid: z.uuid(),
  group_id: text,
  group_id_src: text,
  rule_id: text,
  rule_id_src: text,
  target_key: textOrNull,
  stig_ref: textOrNull,
  weight: text,
  classification: text,
  severity,
  rule_version: text,
  rule_title: text,
  group_title: text,
  fix_text: text,
  discussion: text,
  check_content: text,
  check_content_ref: z.strictObject({ href: text, name: text }).nullable(),
  reference_identifier: textOrNull,
  false_positives: text,
  false_negatives: text,
  documentable: text,
  mitigations: text,
  potential_impacts: text,
  third_party_tools: text,
  mitigation_control: text,
  responsibility: text,
  security_override_guidance: text,
  ia_controls: text,
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
      host_name: text,
      ip_address: text,
      mac_address: text,
      fqdn: text,
      comments: text,
      role: z.enum(roles),
      is_web_database: z.boolean(),
      technology_area: text,
      web_db_site: text,
      web_db_instance: text,
      classification: textOrNull,
    }),
    stigs: z.array(
      z.strictObject({
        stig_name: text,
        display_name: text,
        stig_id: text,
        release_info: text,
        version: text,
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
