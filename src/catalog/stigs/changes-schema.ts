import { z } from '@hono/zod-openapi';
import { jsonOrFile } from '../../http/downloads.ts';
import { counts, flag, format, since, texts } from '../../http/schema.ts';
import { ChangeClass, classCounts } from './diff-schema.ts';
import { Severity } from './schema.ts';

const text = z.string();

/** The kinds of a line about a rule of two releases. */
const changeKinds = ['added', 'removed', 'changed'] as const;

/** One line of the csv and xlsx of changes, whatever was compared (rule D26). */
export const ChangeLine = z.strictObject({
  slug: text,
  title: text,
  from: z.string().nullable(),
  to: text,
  kind: z.enum(changeKinds),
  classes: z.array(ChangeClass),
  ...texts('groupId', 'ruleVersion', 'ruleTitle'),
  severityFrom: Severity.nullable(),
  severityTo: Severity.nullable(),
});
export type ChangeLine = z.infer<typeof ChangeLine>;

const RaisedRule = z
  .strictObject({
    ...texts('groupId', 'ruleId', 'title'),
    from: Severity,
    to: Severity,
  })
  .openapi('RaisedRule');

export const StigChanges = z
  .strictObject({
    slug: text,
    title: text,
    from: z.string().nullable().openapi({
      description:
        'The newest retained release dated before `since`. null where there is none: then all rules of `to` count as added.',
      example: 'V1R1',
    }),
    to: z.string().openapi({ description: 'The current release.', example: 'V1R2' }),
    ...counts('added', 'removed', 'renumbered', 'unchanged'),
    changed: classCounts.openapi({ description: 'Each changed rule once, under its primary class.' }),
    severityRaised: z.array(RaisedRule),
    pinned: z.literal(true).optional().openapi({
      description: 'The entry of the list is pinned to `from`; absent otherwise.',
    }),
  })
  .openapi('StigChanges');
export type StigChanges = z.infer<typeof StigChanges>;

export const ChangesSince = z
  .strictObject({
    since: z.string().openapi({
      description: 'The date that was asked for, `added` or `seen`.',
      example: '2026-01-01',
    }),
    totals: z.strictObject(counts('stigs', 'added', 'removed', 'changed', 'severityRaised')),
    stigs: z.array(StigChanges).openapi({
      description: 'The STIGs whose current release is dated on or after `since`, by title.',
    }),
  })
  .openapi('ChangesSince');
export type ChangesSince = z.infer<typeof ChangesSince>;

/** The response of a route for changes since a day: json, or a line for each rule. */
export const changesContent = jsonOrFile(
  ChangesSince,
  'What changed. csv and xlsx have a line for each rule that was added, removed or changed.',
);

const files = { format: format(['json', 'csv', 'xlsx']), raw: flag('raw') };
export const changesQuery = z.object({ since, ...files });
const sinceError = { error: 'since must be a date in the form YYYY-MM-DD, added or seen' };
export const listChangesQuery = z.object({
  since: z
    .union(
      [
        since,
        z
          .string()
          .regex(/^(added|seen)$/i)
          .transform((word) => word.toLowerCase() as 'added' | 'seen'),
      ],
      sinceError,
    )
    .openapi({
      type: 'string',
      description:
        'A date; the time of a date with a time is ignored. `added`: of each STIG the day on which it was added to the list. `seen`: what differs from when the caller marked the list as read.',
      example: '2026-01-01',
    }),
  ...files,
});
