import { z } from '@hono/zod-openapi';
import { oneWord, requestText } from '../../http/schema.ts';

/** The roles of a host in its domain. */
export const roles = ['None', 'Workstation', 'Member Server', 'Domain Controller'] as const;

const CklbRule = z.strictObject({
  uuid: z.uuid(),
  stig_uuid: z.uuid(),
  group_id: z.string(),
  group_id_src: z.string(),
  rule_id: z.string(),
  rule_id_src: z.string(),
  target_key: z.string().nullable(),
  stig_ref: z.string().nullable(),
  weight: z.string(),
  classification: z.string(),
  severity: z.enum(['high', 'medium', 'low']),
  rule_version: z.string(),
  rule_title: z.string(),
  group_title: z.string(),
  fix_text: z.string(),
  discussion: z.string(),
  check_content: z.string(),
  check_content_ref: z.strictObject({ href: z.string(), name: z.string() }).nullable(),
  reference_identifier: z.string().nullable(),
  false_positives: z.string(),
  false_negatives: z.string(),
  documentable: z.string(),
  mitigations: z.string(),
  potential_impacts: z.string(),
  third_party_tools: z.string(),
  mitigation_control: z.string(),
  responsibility: z.string(),
  security_override_guidance: z.string(),
  ia_controls: z.string(),
  legacy_ids: z.array(z.string()),
  ccis: z.array(z.string()),
  group_tree: z.array(z.strictObject({ id: z.string(), title: z.string(), description: z.string() })),
  status: z.enum(['not_reviewed', 'not_applicable', 'open', 'not_a_finding']),
  overrides: z.strictObject({
    severity: z.strictObject({ severity: z.enum(['high', 'medium', 'low']), reason: z.string() }).optional(),
  }),
  comments: z.string(),
  finding_details: z.string(),
});

/** A checklist as STIG Viewer 3 reads it (rule F3.1). */
export const Cklb = z
  .strictObject({
    title: z.string(),
    id: z.uuid(),
    cklb_version: z.literal('1.0'),
    active: z.boolean(),
    mode: z.int(),
    has_path: z.boolean(),
    target_data: z.strictObject({
      target_type: z.enum(['Computing', 'Non-Computing']),
      host_name: z.string(),
      ip_address: z.string(),
      mac_address: z.string(),
      fqdn: z.string(),
      comments: z.string(),
      role: z.enum(roles),
      is_web_database: z.boolean(),
      technology_area: z.string(),
      web_db_site: z.string(),
      web_db_instance: z.string(),
      classification: z.string().nullable(),
    }),
    stigs: z.array(
      z.strictObject({
        stig_name: z.string(),
        display_name: z.string(),
        stig_id: z.string(),
        release_info: z.string(),
        version: z.string(),
        uuid: z.uuid(),
        reference_identifier: z.string().nullable(),
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
