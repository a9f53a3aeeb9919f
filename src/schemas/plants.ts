import { z } from '@hono/zod-openapi';

export const Plant = z.strictObject({ name: z.string(), tag: z.string().optional() }).openapi('Plant');
export type Plant = z.infer<typeof Plant>;

/** The error of the sample endpoint alone (DECISIONS D10). */
export const PlantError = z
  .strictObject({ error: z.int().openapi({ format: 'int32' }), message: z.string() })
  .openapi('PlantError');
export type PlantError = z.infer<typeof PlantError>;

/** The int64 of the sample as far as JSON numbers are exact; beyond is a 400, never a rounded number. */
export const newPlantBody = z
  .object(
    {
      name: z.string({ error: 'name is required and must be a text' }),
      tag: z.string({ error: 'tag must be a text' }).optional(),
      id: z
        .int({ error: 'id is required and must be an integer from -(2^53 - 1) to 2^53 - 1' })
        .openapi({ format: 'int64' }),
    },
    { error: 'The body must be an object' },
  )
  .openapi('NewPlant');
