import { z } from '@hono/zod-openapi';
import { textList, wordList } from '../../http/arrays.ts';
import {
  DateOrNull,
  flag,
  format,
  notAnObject,
  Pagination,
  paging,
  requestText,
  search,
  since,
  texts,
} from '../../http/schema.ts';
import { checklistTarget } from './cklb-schema.ts';

const text = z.string();
const count = z.int();

export const Severity = z.enum(['high', 'medium', 'low']).openapi({ example: 'medium' });

const StigSummary = z
  .strictObject({
    slug: text.openapi({ example: 'harbor_linux_3' }),
    title: text.openapi({ example: 'Harbor Linux 3 Security Technical Implementation Guide' }),
    version: text.openapi({ example: 'V1R2' }),
    releaseDate: DateOrNull.openapi({ example: '2026-04-15' }),
    findingCount: count.openapi({ example: 14 }),
  })
  .openapi('StigSummary');

export const Finding = z
  .strictObject({
    groupId: text.openapi({ example: 'V-900001' }),
    title: text.openapi({ example: 'SRG-OS-000480-GPOS-00227' }),
    description: text,
    severity: Severity,
    ruleId: text.openapi({ example: 'SV-900001r100010_rule' }),
    ruleVersion: text.openapi({ example: 'HARB-03-000010' }),
    ...texts('ruleTitle', 'vulnDiscussion', 'fixText', 'checkContent'),
    ruleIdent: z
      .string()
      .openapi({ description: 'The first CCI of the rule, or "" when it has none.', example: 'CCI-000366' }),
    ruleIdents: z
      .array(text)
      .openapi({ description: 'Every CCI of the rule, in document order.', example: ['CCI-000366'] }),
  })
  .openapi('Finding');
export type Finding = z.infer<typeof Finding>;

export const Profile = z.strictObject({ profileId: text, title: text, description: text }).openapi('Profile');
export type Profile = z.infer<typeof Profile>;

export const StigRecord = z
  .strictObject({
    ...texts('slug', 'benchmarkId', 'title', 'description', 'version', 'status'),
    releaseDate: DateOrNull,
    findingCount: count,
    profiles: z.array(Profile),
    findings: z.array(Finding),
  })
  .openapi('StigRecord');
export type StigRecord = z.infer<typeof StigRecord>;

export const StigList = z
  .strictObject({ stigs: z.array(StigSummary), pagination: Pagination })
  .openapi('StigList');
export type StigList = z.infer<typeof StigList>;

export const StigControls = z
  .strictObject({
    stig: z.strictObject({
      ...texts('slug', 'title', 'version', 'status'),
      releaseDate: DateOrNull,
      findingCount: count,
    }),
    findings: z.array(Finding),
    pagination: Pagination,
  })
  .openapi('StigControls');
export type StigControls = z.infer<typeof StigControls>;

export const StigVersions = z
  .strictObject({
    versions: z.array(
      z.strictObject({
        version: text,
        releaseDate: DateOrNull,
        status: text,
        findingCount: count,
        current: z.boolean(),
      }),
    ),
  })
  .openapi('StigVersions');
export type StigVersions = z.infer<typeof StigVersions>;

export const StigBatch = z
  .strictObject({
    stigs: z.array(StigRecord),
    meta: z.strictObject({ requested: count, found: count, notFound: z.array(text) }),
  })
  .openapi('StigBatch');
export type StigBatch = z.infer<typeof StigBatch>;

const StigChange = z
  .strictObject({
    ...texts('slug', 'title', 'newVersion'),
    previousVersion: text.nullable(),
    releaseDate: DateOrNull,
  })
  .openapi('StigChange');

export const StigChangelog = z
  .strictObject({ changes: z.array(StigChange), pagination: Pagination })
  .openapi('StigChangelog');
export type StigChangelog = z.infer<typeof StigChangelog>;

export const StigStats = z
  .strictObject({
    catalog: z.strictObject({ totalBenchmarks: count, totalFindings: count, totalProfiles: count }),
    severity: z.strictObject({ high: count, medium: count, low: count }),
    latestRelease: z.strictObject({ slug: text, title: text, releaseDate: DateOrNull }).nullable(),
  })
  .openapi('StigStats');
export type StigStats = z.infer<typeof StigStats>;

const RawGroup = z
  .strictObject({
    groupId: text,
    groupTitle: text,
    ruleId: text,
    ruleWeight: z.number(),
    ruleSeverity: Severity,
    ...texts('ruleVersion', 'ruleTitle', 'ruleVulnDiscussion', 'ruleFalsePositives', 'ruleFalseNegatives'),
    ruleDocumentable: z.boolean(),
    ...texts(
      'ruleMitigations',
      'ruleSeverityOverrideGuidance',
      'rulePotentialImpacts',
      'ruleThirdPartyTools',
      'ruleMitigationControl',
      'ruleResponsibility',
      'ruleIAControls',
      'ruleIdent',
    ),
    ruleIdents: z.array(text),
    ruleLegacyIds: z.array(text),
    ...texts('ruleFixText', 'ruleFixId', 'ruleCheckSystem', 'ruleCheckContent'),
  })
  .openapi('RawGroup');

/** The json download: the raw benchmark record (rule D5.3). */
export const RawStig = z
  .strictObject({
    id: count,
    ...texts('benchmarkId', 'slug', 'status'),
    statusDate: DateOrNull,
    ...texts('title', 'description', 'version'),
    releaseDate: DateOrNull,
    createdAt: z.iso.datetime().nullable(),
    updatedAt: z.iso.datetime().nullable(),
    groups: z.array(RawGroup),
    profiles: z.array(Profile),
  })
  .openapi('RawStig');
export type RawStig = z.infer<typeof RawStig>;

export const slugParam = z.object({
  slug: requestText('slug', 1000).openapi({ example: 'harbor_linux_3' }),
});

const version = requestText('version', 100)
  .optional()
  .openapi({ description: 'A retained release. By default the current one.', example: 'V1R1' });

export const versionQuery = z.object({ version });
export const listQuery = z.object({ search, ...paging(100, 150) });
export const controlsQuery = z.object({
  search,
  severity: wordList('severity', Severity.options),
  version,
  ...paging(50, 100),
});
export type FindingsQuery = z.infer<typeof controlsQuery>;
export const downloadFormats = ['cklb', 'ckl', 'json', 'csv', 'xml', 'xlsx', 'oscal'] as const;
const narrowing = ['severity', 'cci', 'search'] as const;
const narrowedFormats: readonly string[] = ['csv', 'xml', 'xlsx'];
export const downloadQuery = checklistTarget
  .extend({
    format: format(downloadFormats),
    version,
    raw: flag('raw'),
    search,
    severity: wordList('severity', Severity.options),
    cci: requestText('cci', 40).optional().openapi({
      description:
        'With `search` and `severity`: the findings that csv, xml and xlsx are narrowed to. Other formats are always whole, and refuse them.',
      example: 'CCI-000366',
    }),
  })
  // A checklist, json and oscal have the whole release: nobody could see that rules are missing.
  .superRefine((query, context) => {
    const filter = narrowing.find((name) => (query[name] ?? '') !== '');
    if (filter === undefined || narrowedFormats.includes(query.format)) return;
    const message = `${filter} narrows csv, xml and xlsx alone: leave it out for ${query.format}, which is always whole`;
    context.addIssue({ code: 'custom', path: [filter], message });
  });
export type DownloadQuery = z.infer<typeof downloadQuery>;
export const changelogQuery = z.object({
  since: since.optional(),
  slug: requestText('slug', 1000).optional(),
  ...paging(50, 100),
});
export type ChangelogQuery = z.infer<typeof changelogQuery>;
export const batchBody = z.object(
  {
    slugs: textList('slugs', 'slugs', { characters: 1000, least: 1, most: 50 }).openapi({
      example: ['harbor_linux_3', 'lantern_web_server_2'],
    }),
  },
  notAnObject,
);
