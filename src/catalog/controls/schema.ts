import { z } from '@hono/zod-openapi';
import { fold } from '../../base/text.ts';
import { nameList, wordList } from '../../http/arrays.ts';
import {
  flag,
  format,
  named,
  Pagination,
  paging,
  pagingWithoutMaximum,
  requestText,
  search,
  texts,
} from '../../http/schema.ts';
import {
  exportFormats,
  frameworkKey,
  longestFramework,
  macLevel,
  macNames,
  nistBaselines,
} from './frameworks.ts';

/** A part of a control's statement: an item with its label and text, and the items below it. */
export interface StatementPart {
  id: string;
  /** As published (`a.`, `1.`, `(a)`), `""` for the lead text. */
  label: string;
  /** Plain text, parameters rendered (rule D6.4). */
  prose: string;
  parts: StatementPart[];
}

export const StatementPart: z.ZodType<StatementPart> = named('StatementPart', {
  ...texts('id', 'label', 'prose'),
  get parts() {
    return z.array(StatementPart);
  },
});

const withdrawn = z
  .strictObject({ incorporatedInto: z.array(z.string()) })
  .optional()
  .describe('Only on withdrawn controls: the controls that replace it, including moved-to targets.');

const edition = z.string().nullable().openapi({
  description: 'The date of the source file of the version; null where it has none.',
  example: '2025-08-26',
});

const textFrom = z.string().optional().openapi({
  description: 'The older release that the text is from. Only where no text of this release was imported.',
  example: 'Rev 5.1.1 (2022-01-25)',
});
const id = z.uuid().describe('Stable: the same in every revision and every installation.');

const Control80053 = named('Control80053', {
  id,
  identifier: z.string().openapi({ example: 'AC-2(1)' }),
  title: z.string(),
  family: z.string().openapi({ example: 'Access Control' }),
  baselines: z.array(z.enum(nistBaselines)),
  ...texts('statement', 'guidance'),
  textFrom,
});

const Control800171 = named('Control800171', {
  id,
  identifier: z.string().openapi({ example: '3.1.1' }),
  family: z.string(),
  requirementType: z
    .enum(['basic', 'derived'])
    .nullable()
    .describe('null in Rev 3, which has no requirement types.'),
  ...texts('statement', 'guidance'),
  textFrom,
});

const ControlDod8500 = named('ControlDod8500', {
  id,
  identifier: z.string().openapi({ example: 'ECCT-1' }),
  ...texts('title', 'subjectArea'),
  macLevels: z.array(z.enum(['MAC I', 'MAC II', 'MAC III'])),
  impactCode: z.enum(['Low', 'Medium', 'High']).nullable(),
  ...texts('statement', 'guidance', 'threat', 'resources'),
});

const status = z.enum(['active', 'withdrawn']);
const common = { ...texts('framework', 'version'), edition, withdrawn };

/** How the reference of a CCI relates to an objective: it names the same part, says less, or says more. */
export const relations = ['equal', 'broader', 'narrower'] as const;

export const Objective = named('Objective', {
  id: z.string(),
  label: z.string().openapi({
    description: 'As published, "" where there is none.',
    example: 'AC-02d.03[01]',
  }),
  part: z.string().openapi({
    description: 'The part of the control that it is about, "" for the whole control.',
    example: 'd 3',
  }),
  context: z.string().describe('The texts that it stands below, joined.'),
  text: z.string(),
  ccis: z.array(
    z.strictObject({
      cci: z.string().openapi({ example: 'CCI-000015' }),
      relation: z
        .enum(relations)
        .describe('Whether the CCI refers to the same part, to a part around it (broader) or inside it.'),
    }),
  ),
});
export type Objective = z.infer<typeof Objective>;

/** What an assessor examines, whom to interview, what to test. */
export const methodNames = ['EXAMINE', 'INTERVIEW', 'TEST'] as const;

export const AssessmentMethod = named('AssessmentMethod', {
  method: z.enum(methodNames),
  objects: z.array(z.string()),
});
export type AssessmentMethod = z.infer<typeof AssessmentMethod>;

export const ControlParameter = named('ControlParameter', {
  id: z.string().openapi({ example: 'ac-02_odp.01' }),
  label: z.string().openapi({ example: 'AC-02_ODP[01]' }),
  text: z.string().describe('The words that the statement shows for it.'),
  choices: z.array(z.string()),
  howMany: z
    .enum(['one', 'one-or-more'])
    .nullable()
    .describe('How many choices may be taken; null for an assignment.'),
  values: z
    .array(z.strictObject(texts('source', 'value')))
    .describe(
      'What the catalog itself states (source: the framework), and what baselines of imported profiles set or constrain it to.',
    ),
});
export type ControlParameter = z.infer<typeof ControlParameter>;

/** What a control asks (rule D37.1). */
const assessment = {
  parameters: z.array(ControlParameter),
  objectives: z.array(Objective).describe('Of SP 800-53A or 800-171A, in the order of the document.'),
  methods: z.array(AssessmentMethod),
  derived: z.literal(true).describe('Gapstone joins objectives with CCIs; no publisher does.'),
};

/** What a control asks: parameters, objectives and methods. */
export type Assessment = z.infer<z.ZodObject<typeof assessment>>;

// Built from the fields, not with `extend`: that is published as both schemas at once, and each of them forbids the
// fields of the other.
export const ControlRecord80053 = named('ControlRecord80053', {
  ...Control80053.shape,
  ...common,
  status,
  statementParts: z.array(StatementPart),
  ...assessment,
  related: z.array(z.string()),
});

/** Of a framework that the site imported: every baseline is of a profile. */
const siteBaselines = { baselines: z.array(z.string()) };
const SiteControl = named('SiteControl', { ...Control80053.shape, ...siteBaselines });
export const SiteControlRecord = named('SiteControlRecord', {
  ...ControlRecord80053.shape,
  ...siteBaselines,
});
export const ControlRecord800171 = named('ControlRecord800171', {
  ...Control800171.shape,
  ...common,
  status,
  statementParts: z.array(StatementPart),
  ...assessment,
  title: z.string(),
});
export const ControlRecordDod8500 = named('ControlRecordDod8500', {
  ...ControlDod8500.shape,
  ...common,
  confidentialityLevels: z.array(z.enum(['CLASSIFIED', 'SENSITIVE', 'PUBLIC'])),
  ...assessment,
});

type AnyRecord = z.infer<typeof SiteControlRecord> &
  z.infer<typeof ControlRecord800171> &
  z.infer<typeof ControlRecordDod8500>;

/** A control of any framework in a list, with the fields that its framework has. */
export type ListedControl = Pick<AnyRecord, 'identifier' | 'statement'> &
  Partial<Omit<AnyRecord, keyof Assessment | keyof typeof common>>;

/** A single control of any framework. */
export type ShownControl = ListedControl &
  Pick<AnyRecord, 'guidance' | keyof Assessment | keyof typeof common>;

function listOf<T extends z.ZodType>(name: string, control: T) {
  return named(name, {
    ...texts('framework', 'version'),
    total: z.int(),
    controls: z.array(control),
    pagination: Pagination.optional().describe('Only when page or limit is given.'),
  });
}

export const ControlList80053 = listOf('ControlList80053', Control80053);
export const ControlList800171 = listOf('ControlList800171', Control800171);
export const ControlListDod8500 = listOf('ControlListDod8500', ControlDod8500);
export const SiteControlList = listOf('SiteControlList', SiteControl);

const version = requestText('version', 100)
  .optional()
  .openapi({ description: 'An imported revision other than the default.', example: 'Rev 3' });
const family = (description: string) => requestText('family', 200).optional().openapi({ description });
const shared = { search, version, ...pagingWithoutMaximum };

/** Names of baselines; the service checks them (rule D31). */
export const baselineNames = nameList('baseline', 1000).openapi({
  description: `One or more of ${nistBaselines.join(', ')}, or of those that imported profiles name, repeated or separated by commas. Case is ignored.`,
  example: [...nistBaselines],
});

export const query80053 = z.object({
  ...shared,
  family: family('The full name or the two-letter code. Case is ignored.'),
  baseline: baselineNames,
});
/** The filters of the control lists; a control must match one word of each group of `words` (type, mac, impact). */
export type ControlFilter = z.infer<typeof query80053> & { words: (Set<string> | undefined)[] };
export const query800171 = z.object({
  ...shared,
  family: family('The full name or the two-letter code. Case is ignored.'),
  type: wordList('type', ['basic', 'derived']),
});
export const queryDod8500 = z.object({
  ...shared,
  family: family('The subject area or its two-letter code. Case is ignored.'),
  mac: wordList('mac', macNames, macLevel),
  impact: wordList('impact', ['Low', 'Medium', 'High']),
});

export const controlParam = z.object({
  controlId: requestText('controlId', 200).openapi({
    description: 'The identifier in any common spelling, or the id.',
    example: 'AC-2(1)',
  }),
});
export const controlQuery = z.object({ version });

export const frameworkParam = z.object({
  framework: requestText('framework', longestFramework)
    .transform(frameworkKey)
    .openapi({ type: 'string', example: 'nist-800-53' }),
});

/** A download of one version of a framework, or of a baseline of it. */
export const exportQuery = z.object({
  version,
  baseline: requestText('baseline', 200)
    .transform((name) => fold(name.trim()))
    .optional()
    .describe('One baseline: a profile as oscal, and only its controls as csv and xlsx.'),
  format: format(exportFormats),
  raw: flag('raw'),
});
export type ExportQuery = z.infer<typeof exportQuery>;

export const Baselines = named('Baselines', {
  baselines: z.array(
    z.strictObject({
      name: z.string().describe('A value of the parameter `baseline`.'),
      title: z.string(),
      controls: z.int().describe('The number of its active controls in the version.'),
      source: z.string().describe('The source file. A file in an archive follows !/.'),
    }),
  ),
});
export type Baselines = z.infer<typeof Baselines>;

/** A CCI as DISA's list states it (rule D54.1). */
export const CciRecord = named('CciRecord', {
  framework: z.literal('cci'),
  version: z.string().openapi({ description: 'The date of the list.', example: '2025-01-23' }),
  identifier: z.string().openapi({ example: 'CCI-000366' }),
  definition: z.string().describe('`""` where no imported list has the text.'),
  textFrom,
  status: z.string().openapi({ description: 'As DISA states it.', example: 'draft' }),
  type: z
    .string()
    .openapi({ description: 'As DISA states it, several joined.', example: 'policy, technical' }),
  references: z
    .array(
      z.strictObject({
        framework: z.literal('nist-800-53'),
        version: z.string().openapi({ description: 'The revision.', example: 'Rev 5' }),
        identifier: z.string().openapi({ description: 'The control.', example: 'AC-2' }),
        part: z.string().openapi({
          description: 'The part of the control, `""` for the whole control.',
          example: 'd 3',
        }),
      }),
    )
    .describe('The controls that the list refers to, older revisions first.'),
  rules: z.int().describe('How many rules of current releases cite it.'),
});
export type CciRecord = z.infer<typeof CciRecord>;

export const CciList = named('CciList', {
  framework: z.literal('cci'),
  version: z
    .string()
    .openapi({ description: 'The date of the list, `""` where none is imported.', example: '2025-01-23' }),
  total: z.int().describe('The number of CCIs that match.'),
  controls: z.array(CciRecord).describe('One page of them, in order.'),
  pagination: Pagination,
});
export type CciList = z.infer<typeof CciList>;

export const cciQuery = z.object({
  search,
  status: wordList('status', ['draft', 'published', 'deprecated']),
  version,
  ...paging(100, 1000),
});
export type CciQuery = z.infer<typeof cciQuery>;

export const cciParam = z.object({
  cci: requestText('cci', 200).openapi({ description: 'The CCI in any spelling.', example: 'CCI-000366' }),
});

export const Frameworks = named('Frameworks', {
  frameworks: z.array(
    z.strictObject({
      framework: z.string().describe('The key that other endpoints take.'),
      title: z.string().openapi({
        description:
          'The name of a published framework; of an imported one the title of its catalog, else its key.',
        example: 'NIST SP 800-53',
      }),
      versions: z
        .array(
          z.strictObject({
            version: z.string().openapi({ example: 'Rev 5.1.1' }),
            current: z.boolean().describe('Whether it is the default version.'),
            controls: z.int().describe('The number of its active controls.'),
          }),
        )
        .describe('The imported versions, newest first.'),
      baselines: z.array(z.string()).describe('The names of the baselines of all its versions.'),
    }),
  ),
});
export type Frameworks = z.infer<typeof Frameworks>;
