import { z } from 'zod';
import type { ReadMarkup } from './oscal-markup.ts';

const property = z.object({
  name: z.string(),
  ns: z.string().optional(),
  value: z.string(),
  class: z.string().optional(),
});
const link = z.object({ href: z.string(), rel: z.string().optional() });

export type OscalShapes = ReturnType<typeof oscalShapes>;

/** The shapes of the documents of OSCAL, texts read by `read`. The heads are checked first: they show the publication. */
export function oscalShapes(read: ReadMarkup) {
  const line = z.string().transform(read.line);
  const blocks = z.string().transform(read.blocks);

  const metadata = z.object({
    title: line,
    version: z.string(),
    'last-modified': z.string(),
    props: z.array(property).default([]),
    links: z.array(link).default([]),
  });

  const head = z.object({ metadata });

  const parameter = z.object({
    id: z.string(),
    label: line.default(''),
    usage: blocks.default(''),
    select: z.object({ 'how-many': z.string().optional(), choice: z.array(line).default([]) }).optional(),
    values: z.array(z.string()).default([]),
    props: z.array(property).default([]),
  });

  const part = z.object({
    id: z.string().default(''),
    name: z.string(),
    ns: z.string().optional(),
    prose: blocks.default(''),
    props: z.array(property).default([]),
    links: z.array(link).default([]),
    get parts(): z.ZodDefault<z.ZodArray<typeof part>> {
      return z.array(part).default([]);
    },
  });

  const control = z.object({
    id: z.string(),
    title: z.string().min(1).transform(read.line),
    class: z.string().default(''),
    params: z.array(parameter).default([]),
    props: z.array(property).default([]),
    links: z.array(link).default([]),
    parts: z.array(part).default([]),
    get controls(): z.ZodDefault<z.ZodArray<typeof control>> {
      return z.array(control).default([]);
    },
  });

  const group = z.object({
    title: z.string().min(1).transform(read.line),
    params: z.array(parameter).default([]),
    controls: z.array(control).default([]),
    get groups(): z.ZodDefault<z.ZodArray<typeof group>> {
      return z.array(group).default([]);
    },
  });

  const catalog = z.object({
    catalog: group.omit({ title: true }).extend({ metadata }),
  });

  const selection = z.object({
    'with-ids': z.array(z.string()).default([]),
    'with-child-controls': z.enum(['yes', 'no']).default('no'),
    matching: z.array(z.object({ pattern: z.string().default('') })).default([]),
  });

  const resource = z.object({
    uuid: z.string().default(''),
    title: line.default(''),
    props: z.array(property).default([]),
    rlinks: z.array(z.object({ href: z.string() })).default([]),
  });
  const backMatter = z.object({ resources: z.array(resource).default([]) }).optional();

  const setParameter = z.object({
    'param-id': z.string(),
    values: z.array(z.string()).default([]),
    label: line.default(''),
    select: z.object({ choice: z.array(line).default([]) }).optional(),
    constraints: z.array(z.object({ description: blocks.default('') })).default([]),
  });

  const profile = z.object({
    profile: z.object({
      metadata,
      imports: z.array(
        z.object({
          'include-all': z.unknown().optional(),
          'include-controls': z.array(selection).optional(),
          href: z.string().default(''),
          'exclude-controls': z.array(selection).default([]),
        }),
      ),
      modify: z
        .object({
          'set-parameters': z.array(setParameter).default([]),
          alters: z.array(z.unknown()).default([]),
        })
        .optional(),
      'back-matter': backMatter,
    }),
  });

  const mappingItems = z.array(z.object({ 'id-ref': z.string() })).min(1);
  const mapping = z.object({
    'source-resource': z.object({ href: z.string() }),
    'target-resource': z.object({ href: z.string() }),
    props: z.array(property).default([]),
    maps: z.array(
      z.object({
        ns: z.string().optional(),
        relationship: z.string(),
        sources: mappingItems,
        targets: mappingItems,
        props: z.array(property).default([]),
        remarks: blocks.default(''),
      }),
    ),
  });

  const mappingCollection = z.object({
    'mapping-collection': z.object({
      metadata,
      // The JSON schema allows one mapping without an array.
      mappings: z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(mapping)),
      'back-matter': backMatter,
    }),
  });

  return {
    catalogHead: z.object({ catalog: head }),
    profileHead: z.object({ profile: head }),
    catalog,
    profile,
    mappingCollection,
  };
}

type Catalog = z.infer<OscalShapes['catalog']>['catalog'];
export type OscalMetadata = Catalog['metadata'];
export type OscalProperty = z.infer<typeof property>;
export type OscalLink = z.infer<typeof link>;
export type OscalControl = Catalog['controls'][number];
export type OscalParameter = OscalControl['params'][number];
export type OscalPart = OscalControl['parts'][number];
export type OscalGroup = Omit<Catalog, 'metadata'>;
export type OscalProfile = z.infer<OscalShapes['profile']>['profile'];
export type OscalSetParameter = NonNullable<OscalProfile['modify']>['set-parameters'][number];
export type OscalResource = NonNullable<OscalProfile['back-matter']>['resources'][number];
export type OscalMapping = z.infer<
  OscalShapes['mappingCollection']
>['mapping-collection']['mappings'][number];
