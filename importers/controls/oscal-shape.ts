import { z } from 'zod';

// What importers read of OSCAL: a field that is in no shape is reported as not stored.

/** A field of which at most its presence counts. */
const anything = z.unknown().optional();
const text = z.string().default('');
const property = z.object({
  name: z.string(),
  ns: z.string().optional(),
  value: z.string(),
  class: z.string().optional(),
});
const link = z.object({
  href: z.string(),
  rel: z.string().optional(),
});
const props = z.array(property).default([]);
const links = z.array(link).default([]);

const metadata = z.object({
  title: z.string(),
  version: text,
  'last-modified': text,
  props,
  links,
});

const selection = z.object({
  'how-many': z.string().optional(),
  choice: z.array(z.string()).default([]),
});

const parameter = z.object({
  id: z.string(),
  label: text,
  usage: text,
  select: selection.optional(),
  values: z.array(z.string()).default([]),
  props,
});

const part = z.object({
  id: text,
  name: z.string(),
  ns: z.string().optional(),
  prose: text,
  props,
  links,
  get parts(): z.ZodDefault<z.ZodArray<typeof part>> {
    return z.array(part).default([]);
  },
});

const control = z.object({
  id: z.string(),
  title: z.string().min(1),
  class: text,
  params: z.array(parameter).default([]),
  props,
  links,
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

/** A catalog. Each of its resources is reported, not the list. */
export const oscalCatalog = z.object({
  catalog: group.omit({ title: true }).extend({ metadata, 'back-matter': z.object({}).optional() }),
});

const backMatter = z
  .object({
    resources: z
      .array(
        z.object({
          uuid: text,
          title: text,
          props,
          rlinks: z.array(z.object({ href: z.string(), 'media-type': anything })).default([]),
        }),
      )
      .default([]),
  })
  .default({ resources: [] });

const controlSelection = z.object({
  'with-ids': z.array(z.string()).default([]),
  'with-child-controls': z.enum(['yes', 'no']).default('no'),
  matching: z.array(z.object({ pattern: text })).default([]),
});

const setParameter = z.object({
  'param-id': z.string(),
  values: z.array(z.string()).default([]),
  label: text,
  select: selection.optional(),
  constraints: z.array(z.object({ description: text })).default([]),
});

/** A profile. What it alters is counted; how it merges changes no baseline. */
export const oscalProfile = z.object({
  profile: z.object({
    metadata,
    imports: z.array(
      z.object({
        href: text,
        'include-all': anything,
        'include-controls': z.array(controlSelection).optional(),
        'exclude-controls': z.array(controlSelection).default([]),
      }),
    ),
    modify: z
      .object({
        'set-parameters': z.array(setParameter).default([]),
        alters: z
          .array(z.unknown())
          .default([])
          .transform((alters) => alters.length),
      })
      .default({ 'set-parameters': [], alters: 0 }),
    merge: anything,
    'back-matter': backMatter,
  }),
});

const mappedResource = z.object({ href: z.string(), type: anything });
const mappedItems = z.array(z.object({ 'id-ref': z.string(), type: anything })).min(1);

const mapping = z.object({
  'source-resource': mappedResource,
  'target-resource': mappedResource,
  props,
  maps: z.array(
    z.object({
      relationship: z.string(),
      sources: mappedItems,
      targets: mappedItems,
      props,
      remarks: text,
    }),
  ),
});

/** A mapping-collection. The JSON schema allows one mapping without a list. */
export const oscalMappings = z.object({
  'mapping-collection': z.object({
    metadata,
    mappings: z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(mapping)),
    'back-matter': backMatter,
  }),
});

export type OscalCatalog = z.infer<typeof oscalCatalog>['catalog'];
export type OscalProfile = z.infer<typeof oscalProfile>['profile'];
export type OscalMapping = z.infer<typeof mapping>;
export type OscalMetadata = z.infer<typeof metadata>;
export type OscalGroup = Omit<z.infer<typeof group>, 'title'>;
export type OscalControl = z.infer<typeof control>;
export type OscalParameter = z.infer<typeof parameter>;
export type OscalPart = z.infer<typeof part>;
export type OscalProperty = z.infer<typeof property>;
export type OscalLink = z.infer<typeof link>;
export type OscalSetParameter = z.infer<typeof setParameter>;
export type OscalResource = z.infer<typeof backMatter>['resources'][number];
