import { z } from '@hono/zod-openapi';
import { isVisible, printable } from '../base/text.ts';
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
const checklistHost = z.object(
  {
    ...checklistTarget.shape,
    hostName: requestText('hostName', 255)
      .refine((name) => name.trim() !== '', { error: 'hostName must not be empty' })
      .openapi({ minLength: 1 }),
  },
  { error: 'a host must be an object with hostName' },
);
export type ChecklistHost = z.infer<typeof checklistHost>;

/** Reads a host: it, or the field and its rule that it breaks; `place` says which host, and its name is added. */
export function readHost(place: string, given: unknown) {
  const read = checklistHost.safeParse(given);
  if (read.success) return { host: read.data };
  const { path, message } = read.error.issues[0]!;
  const { hostName } = Object(given);
  const named = typeof hostName === 'string' && isVisible(hostName) ? ` (${printable(hostName, 64)})` : '';
  return { path, problem: `${place}${named}: ${message}` };
}

/** The hosts of a body: a wrong one is named by its number and its name. */
const hosts = z.preprocess(
  (given, context) => {
    if (!Array.isArray(given) || given.length > maxHosts) return given;
    for (const [index, each] of given.entries()) {
      const { problem, path } = readHost(`hosts: host ${index + 1}`, each);
      if (problem === undefined) continue;
      context.addIssue({ code: 'custom', path: [index, ...path], message: problem });
      return z.NEVER;
    }
    return given;
  },
  boundedArray(checklistHost, 'hosts', 'hosts', { least: 1, most: maxHosts }),
);

export const checklistsBody = z.object(
  {
    hosts: hosts.openapi({ example: [{ hostName: 'web01', ipAddress: '10.0.0.11' }] }),
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
