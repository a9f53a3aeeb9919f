import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { AppError, badRequest, statusOf } from '../base/errors.ts';
import type { Access } from './access.ts';
import type { Env } from './env.ts';
import { toAppError } from './error-answers.ts';
import { ErrorBody, jsonBody, jsonContent, notAnObject, requestText } from './schema.ts';

const Plant = z.strictObject({ name: z.string(), tag: z.string().optional() }).openapi('Plant');

const PlantError = z
  .strictObject({ error: z.int().openapi({ format: 'int32' }), message: z.string() })
  .openapi('PlantError');
type PlantError = z.infer<typeof PlantError>;

/** As large as the default body limit, which is what limits these texts. */
const maxLength = 1024 * 1024;

/** An int64 as far as JSON numbers are exact; beyond it a 400, never a rounded number. */
const newPlantBody = z
  .object(
    {
      name: requestText('name', maxLength),
      tag: requestText('tag', maxLength).optional(),
      id: z
        .int({ error: 'id is required and must be an integer from -(2^53 - 1) to 2^53 - 1' })
        .openapi({ format: 'int64' }),
    },
    notAnObject,
  )
  .openapi('NewPlant');

/** The sample plant store (rule D10). All its errors have their own format. */
export function plantRoutes(access: Access): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw badRequest(result.error.issues[0]!.message);
    },
  });
  const failure = (description: string) => jsonContent(PlantError, description);
  // Errors before routing have the common format.
  const early = (description: string) => jsonContent(PlantError.or(ErrorBody), description);

  app.openapi(
    createRoute({
      method: 'post',
      path: '/plants',
      operationId: 'createPlant',
      summary: 'The sample endpoint',
      description: 'Version 1.0.0.',
      'x-version': '1.0.0',
      tags: ['Sample'],
      ...access.userToken,
      request: { body: jsonBody(newPlantBody) },
      responses: {
        200: jsonContent(Plant, 'The plant.'),
        400: early('The body is malformed.'),
        401: failure('The token is missing or not valid.'),
        403: failure('The token is not a user token.'),
        405: failure('The method is not allowed.'),
        413: failure('The body is too large.'),
        429: failure('Too many requests.'),
        500: failure('Something went wrong on the server.'),
        503: early('The service is busy.'),
      },
    }),
    (c) => {
      const { name, tag } = c.req.valid('json');
      return c.json({ name, ...(tag === undefined ? {} : { tag }) }, 200, { 'Cache-Control': 'no-store' });
    },
  );

  app.all('/plants', (c) => {
    throw new AppError('METHOD_NOT_ALLOWED', `${c.req.method.slice(0, 64)} is not allowed here`, {
      Allow: 'POST',
    });
  });

  app.onError((error, c) => {
    const { code, message, headers } = toAppError(error);
    const status = statusOf[code];
    const body: PlantError = { error: status, message };
    return c.json(body, status as ContentfulStatusCode, { ...headers, 'Cache-Control': 'no-store' });
  });

  return app;
}
