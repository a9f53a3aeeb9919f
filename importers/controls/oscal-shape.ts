import { z } from 'zod';

// What importers read of OSCAL: a field that is in no shape is reported as not stored.

const text = z.string().default('');
const optionalText = z.string().optional();
/** A field of which at most its presence counts. */
const anything = z.unknown().optional();
const list = <T extends z.ZodType>(item: T) => z.array(item).default([]);

const property = z.object({
  name: z.string(),
  ns: optionalText,
  value: z.string(),
  class: optionalText,
});
const link = z.object({ href: z.string(), rel: optionalText });
const props = list(property);
const links = list(link);

const metadata = z.object({
  title: z.string(),
  version: text,
  'last-modified': text,
  props,
  links,
});

const selection = z.object({ 'how-many': optionalText, choice: list(z.string()) });

const parameter = z.object({
  id: z.string(),
  label: text,
  usage: text,
  select: selection.optional(),
  values: list(z.string()),
  props,
});

const part = z.object({
  id: text,
  name: z.string(),
  ns: optionalText,
  prose: text,
  props,
  links,
  get parts(): z.ZodDefault<z.ZodArray<typeof part>> {
    return list(part);
  },
});

const control = z.object({
  id: z.string(),
  title: z.string().min(1),
  class: text,
  params: list(parameter),
  props,
  links,
  parts: list(part),
  get controls(): z.ZodDefault<z.ZodArray<typeof control>> {
    return list(control);
  },
});

const group = z.object({
  title: z.string().min(1),
  params: list(parameter),
  controls: list(control),
  get groups(): z.ZodDefault<z.ZodArray<typeof group>> {
    return list(group);
  },
});

/** A catalog. Each of its resources is reported, not the list. */
export const oscalCatalog = z.object({
  catalog: group.omit({ title: true }).extend({ metadata, 'back-matter': z.object({}).optional() }),
});

const resource = z.object({
  uuid: text,
  title: text,
  props,
  rlinks: list(z.object({ href: z.string(), 'media-type': anything })),
});
const backMatter = z.object({ resources: list(resource) }).default({ resources: [] });

const controlSelection = z.object({
  'with-ids': list(z.string()),
  'with-child-controls': z.enum(['yes', 'no']).default('no'),
  matching: list(z.object({ pattern: text })),
});

const profileImport = z.object({
  href: text,
  'include-all': anything,
  'include-controls': z.array(controlSelection).optional(),
  'exclude-controls': list(controlSelection),
});

const setParameter = z.object({
  'param-id': z.string(),
  values: list(z.string()),
  label: text,
  select: selection.optional(),
  constraints: list(z.object({ description: text })),
});

/** What a profile alters is counted. */
const modify = z.object({
  'set-parameters': list(setParameter),
  alters: list(z.unknown()).transform((alters) => alters.length),
});

/** A profile. How it merges changes no baseline. */
export const oscalProfile = z.object({
  profile: z.object({
    metadata,
    imports: z.array(profileImport),
    modify: modify.default({ 'set-parameters': [], alters: 0 }),
    merge: anything,
    'back-matter': backMatter,
  }),
});

const mappedResource = z.object({ href: z.string(), type: anything });
const mappedItems = z.array(z.object({ 'id-ref': z.string(), type: anything })).min(1);

const map = z.object({
  relationship: z.string(),
  sources: mappedItems,
  targets: mappedItems,
  props,
  remarks: text,
});

const mapping = z.object({
  'source-resource': mappedResource,
  'target-resource': mappedResource,
  props,
  maps: z.array(map),
});

/** A mapping-collection. The JSON schema allows one mapping without a list. */
export const oscalMappings = z.object({
  'mapping-collection': z.object({
    metadata,
    mappings: z.preprocess((value) => [value].flat(), z.array(mapping)),
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
export type OscalSetParameter = z.infer<typeof setParameter>;
export type OscalResource = z.infer<typeof resource>;
