import { z } from '@hono/zod-openapi';
import { catalogFrameworks } from '../catalog/controls/frameworks.ts';
import { boundedArray, wordList } from '../http/arrays.ts';
import { notAnObject, requestText } from '../http/schema.ts';
import { answeredFields, answeredTimes, mostAtOnce, notes, Visibility } from './schema.ts';

const collection = {
  ...answeredFields,
  visibility: Visibility,
  controlCount: z.int(),
  createdById: z.string(),
  ...answeredTimes,
  deletedAt: z.iso
    .datetime()
    .nullable()
    .openapi({ description: 'Always null: deleted collections are not returned.' }),
};

export const ControlCollection = z.strictObject(collection).openapi('ControlCollection');
export type ControlCollection = z.infer<typeof ControlCollection>;

export const ControlCollections = z
  .strictObject({ total: z.int(), collections: z.array(ControlCollection) })
  .openapi('ControlCollections');
export type ControlCollections = z.infer<typeof ControlCollections>;

const membership = {
  controlId: z.string().openapi({ description: 'The identifier.', example: 'AC-2(1)' }),
  framework: z.enum(catalogFrameworks),
  notes: z.string(),
  position: z.int(),
  addedAt: z.iso.datetime(),
};

const CollectionMember = z.strictObject(membership).openapi('CollectionMember');

/** One collection with its entries: here alone the visibility is in lower case (rule D8.1). */
export const ControlCollectionRecord = z
  .strictObject({
    ...collection,
    visibility: z.enum(['private', 'shared']),
    controls: z.array(CollectionMember),
  })
  .openapi('ControlCollectionRecord');
export type ControlCollectionRecord = z.infer<typeof ControlCollectionRecord>;

export const joinedControl = {
  identifier: z.string(),
  title: z.string().openapi({ description: '`""` when none is published.' }),
  family: z.string(),
  statement: z.string().openapi({ description: '`""` when the control is no longer in the catalog.' }),
};

const controlsOf = { collection: z.strictObject({ id: z.uuid(), name: z.string() }), total: z.int() };

export const CollectionControls = z
  .strictObject({
    ...controlsOf,
    controls: z.array(z.strictObject({ ...membership, ...joinedControl })),
  })
  .openapi('CollectionControls');
export type CollectionControls = z.infer<typeof CollectionControls>;

export const CollectionExport = z
  .strictObject({
    ...controlsOf,
    controls: z.array(
      z.strictObject({
        controlId: z.string(),
        framework: z.enum(catalogFrameworks),
        ...joinedControl,
        notes: z.string(),
      }),
    ),
  })
  .openapi('CollectionExport');
export type CollectionExport = z.infer<typeof CollectionExport>;

export const CollectionChanged = z
  .strictObject({ success: z.literal(true), id: z.uuid(), name: z.string() })
  .openapi('CollectionChanged');

export const Success = z.strictObject({ success: z.literal(true) }).openapi('Success');

export const frameworkQuery = z.object({ framework: wordList('framework', catalogFrameworks) });

/** A framework of a body, any case; another one is a 400 (D8.4). */
export const framework = z
  .string({ error: `framework must be one of: ${catalogFrameworks.join(', ')}` })
  .transform((text) => text.trim().toLowerCase())
  .pipe(z.enum(catalogFrameworks, { error: `framework must be one of: ${catalogFrameworks.join(', ')}` }))
  .openapi({ type: 'string', enum: [...catalogFrameworks] });

export const controlId = requestText('controlId', 200)
  .refine((text) => text.trim() !== '', { error: 'controlId must not be empty' })
  .openapi({
    minLength: 1,
    description: 'The identifier in any common spelling, or the id.',
    example: 'AC-2(1)',
  });

const entryError = { error: 'controls must contain objects with controlId and framework' };

function controlsBody<T extends z.ZodType>(entry: T) {
  return z.object(
    {
      controls: boundedArray(entry, 'controls', 'controls', { least: 1, most: mostAtOnce }),
    },
    notAnObject,
  );
}

export const addControlsBody = controlsBody(
  z.object({ controlId, framework, notes: notes.nullable().optional() }, entryError),
);
export const removeControlsBody = controlsBody(z.object({ controlId, framework }, entryError));
