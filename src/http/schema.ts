import { z } from '@hono/zod-openapi';
import { type AppError, badRequest, type ErrorCode, statusOf } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { didYouMean } from '../base/nearest.ts';
import type { Sort } from '../base/sort.ts';
import { cut, hasAtMost, isStorable } from '../base/text.ts';

/** A text in a request, of at most `max` characters, without NUL or lone surrogates. */
export function requestText(name: string, max: number) {
  return z
    .string({ error: (issue) => `${name} ${issue.input === undefined ? 'is required' : 'must be one text'}` })
    .refine(isStorable, { error: `${name} must not contain NUL or lone surrogates` })
    .refine((text) => hasAtMost(text, max), { error: `${name} must have at most ${max} characters` })
    .openapi({ maxLength: max });
}

/** The error for a body that is no JSON object. */
export const notAnObject = { error: 'The body must be an object' };

/**
 * The body of a change: some of `fields`. Unknown fields beside a known one are ignored; a body of unknown fields alone is
 * a 400 that names the nearest field, as a misspelled change must not look like a change (rule D54.3).
 */
export function changeBody<T extends z.ZodRawShape>(fields: T) {
  const changes = z.object(fields, notAnObject).partial();
  const names = Object.keys(fields);
  return z.preprocess((body, context) => {
    const given = isObject(body) ? Object.keys(body) : [];
    if (given.length > 0 && !given.some((name) => names.includes(name)))
      context.addIssue({ code: 'custom', path: [given[0]!], message: unknownField(given[0]!, names) });
    return body;
  }, changes);
}

function unknownField(name: string, names: string[]): string {
  return `${cut(name)} is not a field here${didYouMean(name, names) || `: the fields are ${names.join(', ')}`}`;
}

/** A literal, case-insensitive search text of at most 200 characters (rule D3.2). */
export const search = requestText('search', 200).optional();

/** A decimal integer >= 1 (D3.1); larger than the greatest safe integer counts as that. */
export function positiveInteger(name: string) {
  return z
    .string({ error: `${name} must be given once` })
    .regex(/^0*[1-9]\d{0,99}$/, { error: `${name} must be a decimal integer of at least 1` })
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER))
    .openapi({ type: 'integer', minimum: 1 });
}

/** The query parameters `page` and `limit` (D3.1): a limit above the maximum is lowered to it. */
export function paging(defaultLimit: number, maximum: number) {
  const description = `At most ${maximum}. Higher values count as ${maximum}.`;
  return {
    page: positiveInteger('page').default(1).openapi({ default: 1 }),
    limit: positiveInteger('limit')
      .transform((limit) => Math.min(limit, maximum))
      .default(defaultLimit)
      .openapi({ default: defaultLimit, description }),
  };
}

/** `page` and `limit`, optional and without a maximum (D6.5). */
export const pagingWithoutMaximum = {
  page: positiveInteger('page').optional(),
  limit: positiveInteger('limit').optional(),
};

function oneOf<const T extends string>(words: readonly T[], error: string) {
  const wordOf = (text: string) => words.find((each) => each.toLowerCase() === text.trim().toLowerCase());
  return z
    .string({ error })
    .refine((text) => wordOf(text) !== undefined, { error })
    .transform((text) => wordOf(text)!)
    .openapi({ type: 'string', enum: [...words] });
}

/** One of some known words, compared case-insensitively; another word is a 400 (D3.2). */
export const oneWord = <const T extends string>(name: string, words: readonly T[]) =>
  oneOf(words, `${name} must be one of: ${words.join(', ')}`);

/** The download format of an endpoint; the first is the default (D5.6). */
export const format = <const T extends string>(formats: readonly [T, ...T[]]) =>
  oneOf(formats, `Invalid format. Must be one of: ${formats.join(', ')}`)
    .prefault(formats[0])
    .openapi({ default: formats[0] });

/** `sort=`: the name of a sortable column, with `-` before it for descending order. */
export function sorting<const T extends string>(columns: readonly T[]) {
  const words = columns.flatMap((each): Sort<T>[] => [each, `-${each}`]);
  return { sort: oneWord('sort', words).optional() };
}

/** A date; the time of a date with a time is ignored (rule D34.1). */
export const since = z
  .union([z.iso.date(), z.iso.datetime({ offset: true, local: true })], {
    error: 'since must be a date in the form YYYY-MM-DD',
  })
  .transform((text) => text.slice(0, 'YYYY-MM-DD'.length))
  .openapi({
    type: 'string',
    anyOf: [{ format: 'date' }, { format: 'date-time' }],
    description: 'A date. The time of a date with a time is ignored.',
    example: '2026-01-01',
  });

/** A switch: `true` or `false`, any case. */
export function flag(name: string) {
  return z
    .stringbool({ truthy: ['true'], falsy: ['false'], error: `${name} must be true or false` })
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
    error: z.strictObject({
      code: z.enum(Object.keys(statusOf) as [ErrorCode, ...ErrorCode[]]),
      message: z.string(),
      requestId: z.string(),
      field: z.string().optional().openapi({
        description: 'What the error is about: the name of a parameter, or a JSON pointer into the body.',
        example: '/slugs/0',
      }),
    }),
  })
  .openapi('Error');
export type ErrorBody = z.infer<typeof ErrorBody>;

/** A named schema or null. zod's `nullable` would publish it wrongly, or make the named schema itself nullable. */
export function orNull<T extends z.ZodType>(schema: T) {
  return z.union([schema, z.null()]);
}

/** A date as YYYY-MM-DD, or null when the source states none. */
export const DateOrNull = z.iso.date().nullable();

/** The OpenAPI descriptions of the errors of rule D2.1, by status. */
export const problems: Record<(typeof statusOf)[ErrorCode], string> = {
  400: 'The request is malformed.',
  401: 'The token is missing, invalid, expired or revoked.',
  403: 'The caller may not do this.',
  404: 'It does not exist, or the caller may not see it.',
  405: 'The method is not allowed. `Allow` lists the methods of this path.',
  408: 'The request took too long to arrive.',
  412: '`If-Match` names another revision.',
  413: 'The request body is too large.',
  429: 'Too many requests. `Retry-After` gives the seconds to wait.',
  431: 'The request headers are too large.',
  500: 'Something went wrong. The server log has the details under this request ID.',
  503: 'Temporarily unavailable. `Retry-After` gives the seconds to wait.',
};

/** A JSON response in OpenAPI. */
export function jsonContent<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** A required JSON request body in OpenAPI. */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { required: true, content: { 'application/json': { schema } } };
}

/** An error response in OpenAPI. */
export const problem = (status: keyof typeof problems) => jsonContent(ErrorBody, problems[status]);

export const TextFile = z.string();

export const BinaryFile = z.string().openapi({ format: 'binary' });

/** A header of each answer in OpenAPI. */
export const headerText = (description: string) => {
  return { description, required: true, schema: { type: 'string' as const } };
};

/** The headers of a download in OpenAPI. */
export const downloadHeaders = {
  'Content-Disposition': headerText('`attachment` with the file name, in ASCII and as RFC 5987 encodes it.'),
};

/** The headers of an answer that nothing may cache; any other answer to GET has an `ETag`. */
export const noStoreHeaders = {
  'Cache-Control': { required: true, schema: { type: 'string' as const, enum: ['no-store'] } },
};

/** A zod issue as one message, with its field in front unless the message names it. */
export function describeIssue(issue: { path: PropertyKey[]; message: string }): string {
  const field = issue.path.map(String).join('.').slice(0, 64);
  const first = String(issue.path[0] ?? '');
  const named =
    field === '' || issue.message.startsWith('Invalid format.') || issue.message.startsWith(first);
  return (named ? issue.message : `${field}: ${issue.message}`).slice(0, 300);
}

/** A path into a body as a JSON pointer (RFC 6901). */
export function pointerTo(path: PropertyKey[]): string {
  return path.map((step) => `/${cut(String(step)).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The 400 for a refused value, by its first issue, with the parameter or the pointer into the body (rule D42.1). */
export function malformed({ issues }: Pick<z.ZodError, 'issues'>, isBody: boolean): AppError {
  const { path } = issues[0]!;
  const field = isBody ? pointerTo(path) : String(path[0] ?? '');
  return badRequest(describeIssue(issues[0]!), field || undefined);
}

/** Parses a value of a body with a schema. Throws 400 with the first issue. */
export function check<T extends z.ZodType>(schema: T, value: unknown, isBody = true): z.output<T> {
  const result = schema.safeParse(value);
  if (!result.success) throw malformed(result.error, isBody);
  return result.data;
}

const fields = <Name extends string, Type extends z.ZodType>(names: Name[], type: Type) =>
  Object.fromEntries(names.map((name) => [name, type])) as Record<Name, Type>;

/** Some fields of an answer that are texts. */
export const texts = <Name extends string>(...names: Name[]) => fields(names, z.string());

/** Some fields of an answer that are whole numbers. */
export const counts = <Name extends string>(...names: Name[]) => fields(names, z.int());

/** The schema of an object of answers, under a name of its own in the OpenAPI document. */
export const named = <Fields extends z.ZodRawShape>(name: string, fields: Fields) =>
  z.strictObject(fields).openapi(name);
