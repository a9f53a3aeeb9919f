import { z } from '@hono/zod-openapi';
import { isObject } from '../base/json.ts';
import { checklistTarget } from '../catalog/stigs/cklb-schema.ts';
import { Severity } from '../catalog/stigs/schema.ts';
import { wordList } from '../http/arrays.ts';
import { DateOrNull, notAnObject, Pagination, paging } from '../http/schema.ts';
import {
  answeredFields,
  answeredTimes,
  exportQuery,
  maxPosition,
  mostAtOnce,
  notes,
  slugsBody,
  Visibility,
} from './schema.ts';

const seenAt = z.iso.datetime().nullable();

export const List = z
  .strictObject({
    ...answeredFields,
    icon: z.string(),
    visibility: Visibility,
    stigCount: z.int(),
    stigSlugs: z.array(z.string()).optional().openapi({ description: 'Only with include=slugs.' }),
    createdById: z.string(),
    createdByEmail: z.string().nullable(),
    organizationId: z.string().nullable(),
    ...answeredTimes,
    seenAt: seenAt.openapi({
      description: 'When the caller marked it as read; null before, and for integration tokens.',
    }),
  })
  .openapi('List');
export type List = z.infer<typeof List>;

export const Lists = z.strictObject({ lists: z.array(List) }).openapi('Lists');
export type Lists = z.infer<typeof Lists>;

export const ListDeleted = z
  .strictObject({ success: z.literal(true), message: z.string() })
  .openapi('ListDeleted');

export const ListFinding = z
  .strictObject({
    groupId: z.string(),
    ruleId: z.string(),
    ruleSeverity: Severity,
    ruleTitle: z.string(),
    vulnDiscussion: z.string(),
    fixText: z.string(),
    checkContent: z.string(),
    ruleIdent: z.string(),
    ruleIdents: z.array(z.string()),
  })
  .openapi('ListFinding');
export type ListFinding = z.infer<typeof ListFinding>;

const KeptHost = z
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

const exportedEntry = {
  slug: z.string(),
  title: z.string(),
  version: z.string().openapi({
    description:
      'The release that counts: the pinned one, or the newest; `""` when it is not in the catalog.',
  }),
  status: z.string(),
  statusDate: DateOrNull,
  findingCount: z.int(),
  catI: z.int(),
  catII: z.int(),
  catIII: z.int(),
  addedAt: z.iso.datetime(),
  position: z.int(),
};

const entryStates = ['current', 'outdated', 'gone'] as const;
export type EntryState = (typeof entryStates)[number];

const pinned = {
  release: z.string().nullable().openapi({
    description: 'The release to which the entry is pinned; null for the newest.',
    example: 'V2R7',
  }),
  newest: z.string().openapi({ description: '`""` when the STIG is no longer in the catalog.' }),
  state: z.enum(entryStates).openapi({
    description:
      '`outdated`: a newer release is there. `gone`: the STIG or the pinned release is not in the catalog.',
  }),
};

export const ListEntry = z
  .strictObject({
    ...exportedEntry,
    notes: z.string(),
    ...pinned,
    seenVersion: z.string().nullable().openapi({
      description:
        'The newest release when the caller marked the list as read; null without a mark, or where it is later.',
    }),
    findings: z.array(ListFinding).optional().openapi({ description: 'Only with include=findings.' }),
  })
  .openapi('ListEntry');
export type ListEntry = z.infer<typeof ListEntry>;

export const ListStigs = z
  .strictObject({
    list: z.strictObject({ id: z.uuid(), name: z.string(), stigCount: z.int() }),
    stigs: z.array(ListEntry),
    pagination: Pagination,
  })
  .openapi('ListStigs');
export type ListStigs = z.infer<typeof ListStigs>;

export const ListExport = z
  .strictObject({
    list: z.strictObject({ id: z.uuid(), name: z.string(), description: z.string() }),
    stigs: z.array(z.strictObject({ ...exportedEntry, ...pinned })),
    hosts: z.array(KeptHost).optional().openapi({ description: 'Only with include=hosts.' }),
  })
  .openapi('ListExport');
export type ListExport = z.infer<typeof ListExport>;

/** A row of the csv and xlsx: what goes to somebody as a sheet has the notes too. */
export const ListSheetRow = z.strictObject({
  ...exportedEntry,
  ...pinned,
  releaseDate: DateOrNull,
  addedVersion: z.string(),
  notes: z.string(),
});
export type ListSheetRow = z.infer<typeof ListSheetRow>;

export const ListStigUpdate = z
  .strictObject({
    stigSlug: z.string(),
    notes: z.string(),
    position: z.int(),
    addedAt: z.iso.datetime(),
    release: pinned.release,
  })
  .openapi('ListStigUpdate');
export type ListStigUpdate = z.infer<typeof ListStigUpdate>;

export const listExportQuery = exportQuery.extend({
  include: wordList('include', ['hosts']).openapi({
    description: 'The hosts that are kept with the list, in json for a user alone.',
  }),
});

const longestVersion = 64;

const wrongTime = { error: 'at must be a date-time, such as 2026-01-31T12:00:00Z, or null' };
/** When a list was read; null forgets it (rule D36.7). */
export const seenBody = z.object(
  { at: z.iso.datetime({ ...wrongTime, offset: true }).nullable() },
  notAnObject,
);
export const SeenAt = z.object({ seenAt }).openapi('SeenAt');

export const listsQuery = z.object({ include: wordList('include', ['slugs']) });
export const listStigsQuery = z.object({
  include: wordList('include', ['findings']),
  severity: wordList('severity', Severity.options),
  ...paging(50, 100),
});
export const listStigParam = z.object({
  id: z.string().openapi({ format: 'uuid' }),
  stigSlug: z.string().openapi({ example: 'harbor_linux_3' }),
});

function releaseOrNewest(name: string) {
  const error = `${name} must be a version, such as V2R7, or null`;
  return z.string({ error }).max(longestVersion, { error }).nullable();
}

/** Versions by slug: their number is checked before them. */
const releasesBySlug = z
  .custom<Record<string, unknown>>(
    (given) => isObject(given) && Object.keys(given).length <= mostAtOnce,
    `releases must be an object of versions by slug, at most ${mostAtOnce.toLocaleString('en-US')}`,
  )
  .pipe(z.record(z.string().max(1000), releaseOrNewest('releases')));

const wrongPosition = { error: `position must be an integer from 1 to ${maxPosition}` };
export const listStigBody = z
  .object(
    {
      notes,
      position: z.int(wrongPosition).min(1, wrongPosition).max(maxPosition, wrongPosition),
      release: releaseOrNewest('release'),
    },
    notAnObject,
  )
  .partial();

/** STIGs to add to a list, and the releases to which they are pinned (rule D36.1). */
export const listStigsBody = slugsBody.extend({
  releases: releasesBySlug.optional().openapi({
    type: 'object',
    additionalProperties: { type: 'string' },
    maxProperties: mostAtOnce,
    description:
      'The release to which each is pinned, by slugs of `slugs`; the newest counts for the others.',
    example: { harbor_linux_3: 'V1R1' },
  }),
});
