import { z } from '@hono/zod-openapi';
import { wordList } from '../../http/arrays.ts';
import { counts, DateOrNull, flag, format, requestText } from '../../http/schema.ts';
import { changeClasses } from './match.ts';
import { RuleHead, RuleIdentity } from './rule-head.ts';
import { Severity } from './schema.ts';

export const ChangeClass = z.enum(changeClasses).openapi('ChangeClass', {
  description:
    'check, fix: its words, punctuation or numbers changed. severity: its severity changed. mapping: its CCIs changed. cosmetic: its title or discussion changed, or only spaces and line ends of its check or fix. The primary class of a rule is the first that applies.',
});
export type ChangeClass = z.infer<typeof ChangeClass>;

const text = z.string();
const texts = z.array(text);
const count = z.int();

const textFields = ['title', 'severity', 'discussion', 'check', 'fix'] as const;
export const FieldChange = z
  .union([
    z.strictObject({ field: z.enum(textFields), class: ChangeClass, old: text, new: text }),
    z.strictObject({
      field: z.literal('ccis'),
      class: z.literal('mapping'),
      old: texts,
      new: texts,
      added: texts,
      removed: texts,
    }),
  ])
  .openapi('FieldChange');
export type FieldChange = z.infer<typeof FieldChange>;

export const MatchedBy = z.enum(['stigId', 'groupId', 'legacyId']).openapi('MatchedBy', {
  description: 'The identifier that matched the rule: the first of these that did.',
});

const { ruleTitle, severity } = RuleHead.shape;
const matched = { matchedBy: MatchedBy, old: RuleIdentity, new: RuleIdentity, ruleTitle, severity };
const RenumberedRule = z.strictObject(matched).openapi('RenumberedRule');
export const ChangedRule = z
  .strictObject({
    ...matched,
    class: ChangeClass,
    classes: z
      .array(ChangeClass)
      .openapi({ description: 'Every class that applies, the primary one first.' }),
    fields: z.array(FieldChange),
  })
  .openapi('ChangedRule');
export type ChangedRule = z.infer<typeof ChangedRule>;

export const classCounts = z.strictObject(counts('check', 'fix', 'severity', 'mapping', 'cosmetic'));

const DiffRelease = z.strictObject({ version: text, releaseDate: DateOrNull, findingCount: count });

export const StigComparison = z.strictObject({
  summary: z.strictObject({
    ...counts('added', 'removed', 'changed', 'renumbered', 'unchanged'),
    classes: classCounts.openapi({ description: 'The number of changed rules by primary class.' }),
  }),
  groupIds: z
    .strictObject({ added: texts, removed: texts })
    .openapi({ description: 'The V-ids that were added and removed, including those of matched rules.' }),
  added: z.array(RuleHead),
  removed: z.array(RuleHead),
  changed: z.array(ChangedRule),
  renumbered: z.array(RenumberedRule).openapi({
    description: 'Rules of which only the identifiers changed, including the revision of the SV-id.',
  }),
});
export type StigComparison = z.infer<typeof StigComparison>;

export const StigDiff = z
  .strictObject({
    slug: text,
    title: text,
    from: DiffRelease,
    to: DiffRelease,
    ...StigComparison.shape,
  })
  .openapi('StigDiff');
export type StigDiff = z.infer<typeof StigDiff>;

function releaseName(name: string, description: string) {
  return requestText(name, 100)
    .regex(/^[Vv]\d{1,9}[Rr]\d{1,9}(\.\d{1,9})*$/, { error: `${name} must be a release such as V2R8` })
    .optional()
    .openapi({ description });
}

export const diffQuery = z.object({
  from: releaseName('from', 'The older release. By default the retained release before `to`.').openapi({
    example: 'V1R1',
  }),
  to: releaseName('to', 'The newer release. By default the current one.').openapi({
    example: 'V1R2',
  }),
});
export type DiffQuery = z.infer<typeof diffQuery>;

/** The kinds of differences in a rule between two releases. */
export const ruleKinds = ['added', 'removed', 'changed', 'renumbered'] as const;

/** The filters of the rules in a comparison; its counts are those of all rules. */
export const diffFilter = z.object({
  kind: wordList('kind', ruleKinds),
  class: wordList('class', changeClasses),
  severity: wordList('severity', Severity.options),
});
export type DiffFilter = z.infer<typeof diffFilter>;

export const diffDownloadQuery = diffQuery.extend({
  ...diffFilter.shape,
  format: format(['json', 'csv', 'xlsx']),
  raw: flag('raw'),
});
