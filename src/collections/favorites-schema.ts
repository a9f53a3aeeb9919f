import { z } from '@hono/zod-openapi';
import { catalogFrameworks } from '../catalog/controls/frameworks.ts';
import { notAnObject } from '../http/schema.ts';
import { controlId, framework, joinedControl } from './control-collections-schema.ts';

export const FavoriteStigs = z
  .strictObject({
    slugs: z.array(z.string()),
    items: z.array(z.strictObject({ slug: z.string(), addedAt: z.iso.datetime() })),
  })
  .openapi('FavoriteStigs');
export type FavoriteStigs = z.infer<typeof FavoriteStigs>;

export const FavoriteControls = z
  .strictObject({
    total: z.int(),
    controls: z.array(
      z.strictObject({
        controlId: z.string(),
        framework: z.enum(catalogFrameworks),
        addedAt: z.iso.datetime(),
        ...joinedControl,
      }),
    ),
  })
  .openapi('FavoriteControls');
export type FavoriteControls = z.infer<typeof FavoriteControls>;

const reference = { controlId: z.string(), framework: z.enum(catalogFrameworks) };

export const FavoriteControlAdded = z
  .strictObject({ success: z.literal(true), id: z.uuid(), ...reference })
  .openapi('FavoriteControlAdded');
export type FavoriteControlAdded = z.infer<typeof FavoriteControlAdded>;

export const FavoriteControlRemoved = z
  .strictObject({ success: z.literal(true), ...reference })
  .openapi('FavoriteControlRemoved');
export type FavoriteControlRemoved = z.infer<typeof FavoriteControlRemoved>;

export const favoriteControlBody = z.object({ controlId, framework }, notAnObject);
