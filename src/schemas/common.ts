import { z } from '@hono/zod-openapi';
import { badRequest } from '../errors.ts';
import { isStorable } from '../text.ts';

/** A text from a request that can be stored and answered unchanged, of at most so many characters. */
export function requestText(name: string, max: number) {
  return z
    .string({ error: (issue) => `${name} ${issue.input === undefined ? 'is required' : 'must be one text'}` })
    .refine(isStorable, { error: `${name} must not hold NUL or lone surrogates` })
    .refine((text) => [...text].length <= max, { error: `${name} must have at most ${max} characters` });
}

/** An array of such texts in a body. */
export function textList(name: string, max: number) {
  const error = `${name} must be an array of texts`;
  return z.array(z.string({ error }).pipe(requestText(name, max)), { error });
}

/** What a body is refused with that is no JSON object. */
export const notAnObject = { error: 'The body must be an object' };

/** A literal, case-insensitive search text of at most 200 characters (DECISIONS D3.2). */
export const search = requestText('search', 200).optional();

/** A decimal integer >= 1 (D3.1); what is beyond the safe integers counts as the greatest of them. */
export function positiveInteger(name: string) {
  return z
    .string({ error: `${name} must be given once` })
    .regex(/^0*[1-9]\d{0,99}$/, { error: `${name} must be a decimal integer of at least 1` })
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER));
}

const integer = (defaultValue: number, maximum?: number) => ({
  type: 'integer' as const,
  minimum: 1,
  default: defaultValue,
  ...(maximum === undefined ? {} : { description: `At most ${maximum}; more is lowered to it.` }),
});

/** The query parameters `page` and `limit` (D3.1): a limit above the maximum is lowered to it. */
export function paging(defaultLimit: number, maximum: number) {
  return {
    page: positiveInteger('page').default(1).openapi(integer(1)),
    limit: positiveInteger('limit')
      .default(defaultLimit)
      .transform((limit) => Math.min(limit, maximum))
      .openapi(integer(defaultLimit, maximum)),
  };
}

/** `page` and `limit` where they are optional and have no maximum (D6.5). */
export const pagingWithoutMaximum = {
  page: positiveInteger('page').optional().openapi({ type: 'integer', minimum: 1 }),
  limit: positiveInteger('limit').optional().openapi({ type: 'integer', minimum: 1 }),
};

/** A list of known words, comma-separated or repeated, compared case-insensitively; another word is a 400 (D3.2). */
export function wordList<const T extends string>(name: string, words: readonly T[]) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value, context) => {
      const given = [value].flat().flatMap((each) => each.split(','));
      const known = given.map((each) =>
        words.find((word) => word.toLowerCase() === each.trim().toLowerCase()),
      );
      if (known.includes(undefined)) {
        context.addIssue({ code: 'custom', message: `${name} must be one or more of: ${words.join(', ')}` });
        return z.NEVER;
      }
      return new Set(known as T[]);
    })
    .optional()
    .openapi({
      type: 'string',
      description: `One or more of ${words.join(', ')}, comma-separated.`,
      example: words[0],
    });
}

/** The download format of an endpoint; the first is the default (D5.6). */
export function format<const T extends string>(formats: readonly [T, ...T[]]) {
  return z
    .union([z.string(), z.array(z.string())])
    .default(formats[0])
    .transform((value, context) => {
      const known = typeof value === 'string' && formats.find((each) => each === value.toLowerCase());
      if (known) return known;
      context.addIssue({ code: 'custom', message: `Invalid format. Must be one of: ${formats.join(', ')}` });
      return z.NEVER;
    })
    .openapi({ type: 'string', enum: [...formats], default: formats[0] });
}

/** A switch: `true` or `false`, any case. */
export function flag(name: string) {
  return z
    .string({ error: `${name} must be true or false` })
    .regex(/^(true|false)$/i, { error: `${name} must be true or false` })
    .transform((text) => text.toLowerCase() === 'true')
    .optional()
    .openapi({ type: 'boolean' });
}

export const Pagination = z
  .strictObject({
    page: z.int(),
    limit: z.int(),
    total: z.int(),
    totalPages: z.int(),
  })
  .openapi('Pagination');
export type Pagination = z.infer<typeof Pagination>;

export const ErrorBody = z
  .strictObject({
    error: z.strictObject({ code: z.string(), message: z.string(), requestId: z.string() }),
  })
  .openapi('Error');
export type ErrorBody = z.infer<typeof ErrorBody>;

/** A date as YYYY-MM-DD, or null when the source states none. */
export const DateOrNull = z.iso.date().nullable();

const problems: Record<number, string> = {
  400: 'The request is malformed.',
  401: 'No token, or one that is invalid, expired or revoked.',
  403: 'The caller may not do this.',
  404: 'There is no such thing, or the caller may not see it.',
  413: 'The request body is too large.',
  503: 'Not now; `Retry-After` says when.',
};

/** A JSON response of a route. */
export function jsonContent<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** A JSON request body of a route; it must be there. */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { required: true, content: { 'application/json': { schema } } };
}

/** The error responses of a route, declared once and spread into it. */
export function errors<const S extends 400 | 401 | 403 | 404 | 413 | 503>(...statuses: S[]) {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: problems[status]!, content: { 'application/json': { schema: ErrorBody } } },
    ]),
  ) as Record<S, { description: string; content: { 'application/json': { schema: typeof ErrorBody } } }>;
}

/** A file whose text is no JSON. */
export const TextFile = z.string();

/** The first problem of a request in words: the message of the schema, led by the field it is about. */
export function describeIssue(issue: { path: PropertyKey[]; message: string }): string {
  const field = issue.path.map(String).join('.').slice(0, 64);
  const first = String(issue.path[0] ?? '');
  const named =
    field === '' || issue.message.startsWith('Invalid format.') || issue.message.startsWith(first);
  return (named ? issue.message : `${field}: ${issue.message}`).slice(0, 300);
}

/** A value that a schema takes. Throws a 400 with its first problem in words. */
export function check<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value);
  if (!result.success) throw badRequest(describeIssue(result.error.issues[0]!));
  return result.data;
}
