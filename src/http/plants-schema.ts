import { z } from '@hono/zod-openapi';
import { requestText } from './schema.ts';

export const Plant = z.strictObject({ name: z.string(), tag: z.string().optional() }).openapi('Plant');
export type Plant = z.infer<typeof Plant>;

/** The error of the sample endpoint alone (rule D10). */
export const PlantError = z
  .strictObject({ error: z.int().openapi({ format: 'int32' }), message: z.string() })
  .openapi('PlantError');
export type PlantError = z.infer<typeof PlantError>;

/** No limit of their own: the body's is smaller. */
const maxLength = 1024 * 1024;

/** The int64 of the sample as far as JSON numbers are exact; beyond is a 400, never a rounded number. */
export const newPlantBody = z
  .object(
    {
      name: requestText('name', maxLength),
      tag: requestText('tag', maxLength).optional(),
      id: z
        .int({ error: 'id is required and must be an integer from -(2^53 - 1) to 2^53 - 1' })
        .openapi({ format: 'int64' }),
    },
    { error: 'The body must be an object' },
  )
  .openapi('NewPlant');
