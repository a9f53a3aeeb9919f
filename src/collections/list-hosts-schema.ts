import { z } from '@hono/zod-openapi';
import { checklistTarget } from '../catalog/stigs/cklb-schema.ts';

export const KeptHost = z
  .object({
    hostName: z.string(),
    ipAddress: z.string().optional(),
    macAddress: z.string().optional(),
    fqdn: z.string().optional(),
    role: checklistTarget.shape.role,
    stigs: z.array(z.string()).optional().openapi({ description: 'Absent: all STIGs of the list.' }),
    missing: z
      .array(z.string())
      .optional()
      .openapi({ description: 'STIGs of the host that have left the list: they are skipped.' }),
  })
  .openapi('KeptHost');

export const ListHosts = z
  .object({
    hosts: z.array(KeptHost),
    warnings: z
      .array(z.string())
      .openapi({ description: 'Warnings: names that are not host names by RFC 1123.' }),
  })
  .openapi('ListHosts');
export type ListHosts = z.infer<typeof ListHosts>;
