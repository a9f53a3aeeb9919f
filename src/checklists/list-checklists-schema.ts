import { z } from '@hono/zod-openapi';
import { hostsOf } from '../catalog/stigs/host-schema.ts';
import { format, notAnObject, oneWord } from '../http/schema.ts';
import { checklistFormats } from './schema.ts';

/** A file for each host and STIG, or one for each host. */
export const layouts = ['stig', 'host'] as const;

/** The most files of one zip (rule D28.2). */
export const maxFiles = 5000;

export const checklistsBody = z.object(
  {
    hosts: hostsOf(1)
      .optional()
      .openapi({ description: 'Without it, the hosts that are kept with the list.' }),
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
