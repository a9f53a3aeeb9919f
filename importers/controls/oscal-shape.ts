import { z } from 'zod';

const property = z.object({
  name: z.string(),
  ns: z.string().optional(),
  value: z.string(),
  class: z.string().optional(),
});
const link = z.object({ href: z.string(), rel: z.string().optional() });

/** The metadata of OSCAL catalogs and profiles. */
export const oscalMetadata = z.object({
  title: z.string(),
  version: z.string(),
  'last-modified': z.string(),
  props: z.array(property).default([]),
  links: z.array(link).default([]),
});

/** Checked first: it shows which publication a file holds. */
const head = z.object({ metadata: oscalMetadata });
export const oscalCatalogHead = z.object({ catalog: head });
export const oscalProfileHead = z.object({ profile: head });

const parameter = z.object({
  id: z.string(),
  label: z.string().default(''),
  usage: z.string().default(''),
  select: z.object({ 'how-many': z.string().optional(), choice: z.array(z.string()).default([]) }).optional(),
  props: z.array(property).default([]),
});

const part = z.object({
  id: z.string().default(''),
  name: z.string(),
  ns: z.string().optional(),
  prose: z.string().default(''),
  props: z.array(property).default([]),
  links: z.array(link).default([]),
  get parts(): z.ZodDefault<z.ZodArray<typeof part>> {
    return z.array(part).default([]);
  },
});

const control = z.object({
  id: z.string(),
  title: z.string().min(1),
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
  title: z.string().min(1),
  params: z.array(parameter).default([]),
  controls: z.array(control).default([]),
  get groups(): z.ZodDefault<z.ZodArray<typeof group>> {
    return z.array(group).default([]);
  },
});

export const oscalCatalog = z.object({
  catalog: group.omit({ title: true }).extend({ metadata: oscalMetadata }),
});

const selection = z.object({
  'with-ids': z.array(z.string()).default([]),
  'with-child-controls': z.literal('no', 'child controls cannot be resolved').default('no'),
  matching: z.array(z.never('patterns cannot be resolved')).default([]),
});

const resource = z.object({
  uuid: z.string().default(''),
  title: z.string().default(''),
  props: z.array(property).default([]),
  rlinks: z.array(z.object({ href: z.string() })).default([]),
});
const backMatter = z.object({ resources: z.array(resource).default([]) }).optional();

const setParameter = z.object({
  'param-id': z.string(),
  values: z.array(z.string()).default([]),
  constraints: z.array(z.object({ description: z.string().default('') })).default([]),
});

/** A profile that lists its controls by id, so that it can be read without the catalog. */
export const oscalProfile = z.object({
  profile: z.object({
    metadata: oscalMetadata,
    imports: z.array(
      z.object({
        'include-all': z.never('all controls of another file cannot be resolved').optional(),
        'include-controls': z.array(selection).default([]),
        href: z.string().default(''),
        'exclude-controls': z.array(selection).default([]),
      }),
    ),
    modify: z.object({ 'set-parameters': z.array(setParameter).default([]) }).optional(),
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
      remarks: z.string().default(''),
    }),
  ),
});

export const oscalMappingCollection = z.object({
  'mapping-collection': z.object({
    metadata: oscalMetadata,
    // The JSON schema allows one mapping without an array.
    mappings: z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(mapping)),
    'back-matter': backMatter,
  }),
});

export type OscalMetadata = z.infer<typeof oscalMetadata>;
export type OscalProperty = z.infer<typeof property>;
export type OscalLink = z.infer<typeof link>;
export type OscalParameter = z.infer<typeof parameter>;
export type OscalPart = z.infer<typeof part>;
export type OscalSetParameter = z.infer<typeof setParameter>;
export type OscalResource = z.infer<typeof resource>;
export type OscalMapping = z.infer<typeof mapping>;
export type OscalProfile = z.infer<typeof oscalProfile>['profile'];
export type OscalControl = z.infer<typeof control>;
export type OscalGroup = Omit<z.infer<typeof group>, 'title'>;
