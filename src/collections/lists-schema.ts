import { z } from '@hono/zod-openapi';
import { Severity } from '../catalog/stigs/schema.ts';
import { wordList } from '../http/arrays.ts';
import { DateOrNull, notAnObject, Pagination, paging } from '../http/schema.ts';
import { answeredFields, answeredTimes, maxPosition, notes, Visibility } from './schema.ts';

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

const exportedEntry = {
  slug: z.string(),
  title: z.string(),
  version: z.string().openapi({ description: '`""` when the STIG is no longer in the catalog.' }),
  status: z.string(),
  statusDate: DateOrNull,
  findingCount: z.int(),
  catI: z.int(),
  catII: z.int(),
  catIII: z.int(),
  addedAt: z.iso.datetime(),
  position: z.int(),
};

export const ListEntry = z
  .strictObject({
    ...exportedEntry,
    notes: z.string(),
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
    stigs: z.array(z.strictObject(exportedEntry)),
  })
  .openapi('ListExport');
export type ListExport = z.infer<typeof ListExport>;

/** A row of the csv and xlsx: what goes to somebody as a sheet has the notes too. */
export const ListSheetRow = z.strictObject({
  ...exportedEntry,
  releaseDate: DateOrNull,
  addedVersion: z.string(),
  notes: z.string(),
});
export type ListSheetRow = z.infer<typeof ListSheetRow>;

export const ListStigUpdate = z
  .strictObject({ stigSlug: z.string(), notes: z.string(), position: z.int(), addedAt: z.iso.datetime() })
  .openapi('ListStigUpdate');
export type ListStigUpdate = z.infer<typeof ListStigUpdate>;

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

const wrongPosition = { error: `position must be an integer from 1 to ${maxPosition}` };
export const listStigBody = z
  .object(
    { notes, position: z.int(wrongPosition).min(1, wrongPosition).max(maxPosition, wrongPosition) },
    notAnObject,
  )
  .partial();
