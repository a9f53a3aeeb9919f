import { z } from '@hono/zod-openapi';
import { isObject } from '../../base/json.ts';
import { boundedArray, textList, wordList } from '../../http/arrays.ts';
import { flag, format, notAnObject, positiveInteger, requestText, texts } from '../../http/schema.ts';
import { exportFormats, frameworkKey, longestFramework, longestIdentifier } from '../controls/frameworks.ts';
import { statuses } from './graph.ts';

export const MappingStatus = z.enum(statuses).openapi('MappingStatus');

const decision = z.strictObject({ status: MappingStatus, reason: z.string(), decidedAt: z.iso.datetime() });

const versionedControl = z.strictObject(texts('framework', 'version', 'identifier'));

/** The source of a step of a path (additive, `explain=true`). */
export const Evidence = z
  .strictObject({
    source: z.string().openapi({ description: 'The source file. A file in an archive follows !/.' }),
    ...texts('sha256', 'kind', 'edition', 'importedAt'),
    reference: z.string().openapi({ description: 'The row or reference in the source.' }),
    from: versionedControl,
    to: versionedControl,
    relationship: z.string().optional().openapi({
      description: 'From `from` to `to`, as an OSCAL mapping-collection states it.',
      example: 'subset-of',
    }),
    decision: decision.optional().openapi({ description: "An operator's decision about this pair." }),
  })
  .openapi('Evidence');
export type Evidence = z.infer<typeof Evidence>;

const end = z.strictObject(texts('framework', 'identifier'));

export const OwnEvidence = z
  .strictObject({ own: z.literal(true), from: end, to: end, decision })
  .openapi('OwnEvidence', {
    description: 'True for a pair that no source maps: an operator of this site added it.',
  });
export type OwnEvidence = z.infer<typeof OwnEvidence>;

export const PathStep = z
  .strictObject({
    ...texts('framework', 'identifier'),
    status: MappingStatus,
    evidence: z
      .array(z.union([Evidence, OwnEvidence]))
      .optional()
      .openapi({ description: 'With explain=true: the evidence for this step.' }),
  })
  .openapi('PathStep');
export type PathStep = z.infer<typeof PathStep>;

export const Path = z.strictObject({ hops: z.int(), controls: z.array(PathStep) }).openapi('Path');
export type Path = z.infer<typeof Path>;

export const NoPath = z
  .strictObject({
    code: z.enum([
      'unknown-control',
      'withdrawn',
      'unknown-version',
      'filtered-by-status',
      'beyond-max-hops',
      'not-imported',
      'no-mapping',
    ]),
    message: z.string(),
    incorporatedInto: z.array(z.string()).optional(),
  })
  .openapi('NoPath');
export type NoPath = z.infer<typeof NoPath>;

const truncated = z
  .literal(true)
  .optional()
  .openapi({ description: 'True when a limit was reached: there may be more paths.' });

export const Unknown = z
  .array(
    z.strictObject({
      field: z.string().openapi({
        description: 'The parameter, or the JSON pointer into the body.',
        example: '/from/0/identifier',
      }),
      value: z.string().openapi({ description: 'The framework, identifier or version that was sent.' }),
    }),
  )
  .openapi('Unknown', { description: 'What does not exist in this catalog. Left out when empty.' });
export type Unknown = z.infer<typeof Unknown>;

export const Resolution = z
  .strictObject({
    unknown: Unknown.optional(),
    from: z.strictObject({ ...texts('framework', 'identifier'), version: z.string().nullable() }),
    to: z.string(),
    paths: z.array(Path),
    truncated,
    reason: NoPath.optional().openapi({ description: 'With explain=true: why there is no path.' }),
  })
  .openapi('Resolution');
export type Resolution = z.infer<typeof Resolution>;

const ControlReference = z
  .strictObject({ framework: z.string(), identifier: z.string(), version: z.string().optional() })
  .openapi('ControlReference');

export const BatchResolution = z
  .strictObject({
    unknown: Unknown.optional(),
    from: z.array(ControlReference),
    to: z.array(z.string()),
    results: z.record(z.string(), z.record(z.string(), z.array(Path))),
    truncated: z
      .array(z.string())
      .optional()
      .openapi({ description: 'The pairs for which a limit was reached.' }),
  })
  .openapi('BatchResolution');
export type BatchResolution = z.infer<typeof BatchResolution>;

export const CciControls = z
  .record(z.string(), z.array(z.string()))
  .openapi('CciControls', { example: { 'CCI-000366': ['CM-6'] } });
export type CciControls = z.infer<typeof CciControls>;

const maxHopsDescription = 'The maximum number of hops in a path: a positive integer.';

/** `<framework>:<identifier>`, split at the first colon (rule D7.4). */
const reference = requestText('from', longestFramework + 1 + longestIdentifier).transform((text, context) => {
  const [framework = '', ...rest] = text.split(':');
  const identifier = rest.join(':').trim();
  if (framework.trim() !== '' && identifier !== '')
    return { framework: frameworkKey(framework.trim()), identifier };
  context.addIssue('from must have the form <framework>:<identifier>');
  return z.NEVER;
});

const targetKey = (name: string) =>
  requestText(name, longestFramework)
    .refine((text) => text.trim() !== '', { error: `${name} must name a target framework` })
    .openapi({ minLength: 1 });

/** The parameter of a framework. */
const framework = (name: string, example: string) =>
  targetKey(name).transform(frameworkKey).openapi({ type: 'string', example });

export const resolveQuery = z.object({
  from: reference.openapi({
    type: 'string',
    pattern: '^[^:]*[^:\\s][^:]*:.*\\S',
    description: '`<framework>:<identifier>`. The first colon separates the two.',
    example: 'nist-800-53:AC-2',
  }),
  to: framework('to', 'nist-800-171'),
  version: requestText('version', 100).optional().openapi({ example: 'Rev 5' }),
  status: wordList('status', statuses),
  maxHops: positiveInteger('maxHops')
    .default(4)
    .openapi({ type: 'integer', minimum: 1, default: 4, description: maxHopsDescription }),
  explain: flag('explain'),
});

export type ResolveQuery = z.output<typeof resolveQuery>;

const wrongStatus = { error: `status must be one or more of: ${statuses.join(', ')}` };

const bodyStatus = boundedArray(
  z
    .string({ error: 'status must be an array of texts' })
    .trim()
    .toLowerCase()
    .pipe(z.enum(statuses, wrongStatus)),
  'status',
  'texts',
  { most: 100 },
)
  .transform((list) => (list.length === 0 ? undefined : new Set(list)))
  .optional()
  .openapi({ items: { type: 'string', enum: [...statuses] } });

/** A download of the crosswalk between two frameworks. */
export const exportQuery = z.object({
  from: framework('from', 'cci'),
  to: framework('to', 'nist-800-53'),
  format: format(exportFormats),
  raw: flag('raw'),
});

export type ExportQuery = z.output<typeof exportQuery>;

const bodyHops = z
  .number({ error: 'maxHops must be a positive integer' })
  .refine((hops) => Number.isInteger(hops) && hops >= 1, { error: 'maxHops must be a positive integer' })
  .default(4)
  .openapi({ type: 'integer', minimum: 1, description: maxHopsDescription });

const maxPairs = 250;

const batchReference = z.object(
  {
    framework: targetKey('from.framework'),
    identifier: requestText('from.identifier', 300)
      .refine((text) => text.trim() !== '', { error: 'from.identifier must not be empty' })
      .openapi({ minLength: 1 }),
    version: requestText('from.version', 100).optional(),
  },
  { error: 'from must contain objects with framework and identifier' },
);

export const pairsBody = z
  .object({
    from: boundedArray(batchReference, 'from', 'control references', { least: 1, most: maxPairs }),
    to: boundedArray(targetKey('to'), 'to', 'framework keys', { least: 1, most: maxPairs }),
    status: bodyStatus,
    maxHops: bodyHops,
  })
  .superRefine(({ from, to }, context) => {
    if (from.length * to.length > maxPairs)
      context.addIssue(`from and to together must not make more than ${maxPairs} pairs`);
    const versions = new Map<string, string | undefined>();
    for (const [index, { framework, identifier, version }] of from.entries()) {
      const key = `${framework}:${identifier}`;
      const message = 'from must not contain the same reference with two versions';
      if (versions.has(key) && versions.get(key) !== version)
        context.addIssue({ code: 'custom', path: ['from', index], message });
      versions.set(key, version);
    }
  })
  .openapi('CrosswalkPairs');
export type PairsBody = z.output<typeof pairsBody>;

export const ccisBody = z
  .object({
    ccis: textList('ccis', 'CCIs', { characters: 100, least: 1, most: 250 }),
    to: targetKey('to').default('nist-800-53').transform(frameworkKey),
    status: bodyStatus,
    maxHops: bodyHops,
  })
  .openapi('CciLookup');
export type CcisBody = z.output<typeof ccisBody>;

/** The two shapes of the batch, distinguished by the key `ccis` (D7.5). */
export const batchBody = z
  .unknown()
  .transform((body, context): PairsBody | CcisBody => {
    if (!isObject(body)) {
      context.addIssue(notAnObject.error);
      return z.NEVER;
    }
    if ('ccis' in body && 'from' in body) {
      context.addIssue('Give either ccis or from, not both');
      return z.NEVER;
    }
    const result = 'ccis' in body ? ccisBody.safeParse(body) : pairsBody.safeParse(body);
    if (result.success) return result.data;
    for (const { path, message } of result.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  })
  .openapi({
    type: 'object',
    anyOf: [{ $ref: '#/components/schemas/CrosswalkPairs' }, { $ref: '#/components/schemas/CciLookup' }],
  });
