import { z } from '@hono/zod-openapi';
import { checklistTarget } from '../catalog/stigs/cklb-schema.ts';
import { boundedArray } from '../http/arrays.ts';
import { format, notAnObject, oneWord, requestText } from '../http/schema.ts';
import { checklistFormats } from './schema.ts';

/** A file for each host and STIG, or one for each host. */
export const layouts = ['stig', 'host'] as const;

/** The limits of one zip (rule D28.2). */
export const maxHosts = 500;
export const maxFiles = 5000;

/** A host to make checklists for: STIG Manager refuses a checklist without a host name. */
export const checklistHost = checklistTarget.extend({
  hostName: requestText('hostName', 255)
    .refine((name) => name.trim() !== '', { error: 'hostName must not be empty' })
    .openapi({ minLength: 1 }),
});
export type ChecklistHost = z.infer<typeof checklistHost>;

export const checklistsBody = z.object(
  {
    hosts: boundedArray(checklistHost, 'hosts', 'hosts', { least: 1, most: maxHosts }).openapi({
      example: [{ hostName: 'web01', ipAddress: '10.0.0.11' }],
    }),
    format: format(checklistFormats),
    layout: oneWord('layout', layouts).default('stig').openapi({
      description: 'stig: a file for each host and STIG. host: a file for each host with all STIGs.',
    }),
  },
  notAnObject,
);
export type ChecklistsBody = z.infer<typeof checklistsBody>;

/** The id in a path, without validation: every id that matches no list gets the same 404. */
export const listParam = z.object({ id: z.string().openapi({ format: 'uuid' }) });
