import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { User, Viewer } from '../auth/viewer.ts';
import type { JsonText } from '../base/json.ts';
import type { Rule } from './access.ts';
import { answer, privateHeaders, publicHeaders } from './answer.ts';
import type { Env } from './env.ts';
import { type Match, readIfMatch } from './if-match.ts';
import { headerText, jsonBody, problem } from './schema.ts';

export type RequestContext = Context<Env>;

/** The input of a handler: the caller, if the access rule sets it, and the parsed parts of the request. */
interface Input<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  user: User;
  viewer: Viewer;
  params: z.output<P>;
  query: z.output<Q>;
  body: z.output<B>;
  /** The revisions that `If-Match` names, where the operation is `conditional`. */
  match: Match;
}

const ifMatch = {
  name: 'If-Match',
  in: 'header' as const,
  description: 'The `ETag` of the record or of its entries; 412 where it is of another revision.',
  schema: { type: 'string' as const },
};
const revisionTag = { ETag: headerText('Begins with the revision, which `If-Match` compares.') };
const createdAt = { Location: headerText('The path of what was made.') };

/** The properties of one API operation; its path and access rule imply the rest. */
interface Operation<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  operationId: string;
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  body?: B;
  /** In place of `body`: the OpenAPI description of a body that the handler reads itself, as `c.get('upload')`. */
  rawBody?: object;
  /** Status of a success; the default is 200. */
  status?: 201 | 204;
  response: {
    description: string;
    headers?: Record<string, object>;
    content?: { 'application/json'?: { schema: R }; [type: string]: { schema: z.ZodType } | undefined };
  };
  /** Whether a write obeys `If-Match` (rule D36.4). */
  conditional?: boolean;
  /** Gives the revision that the tag begins with: of what a 201 made, else read before the answer (rule D36.4). */
  revision?(input: Input<P, Q, B>, made: z.input<R>): number;
  /** The path of what a 201 made. */
  location?(made: z.input<R>): string;
  /** Headers in place of the usual ones of the same name. */
  headers?: Record<string, string>;
  /** Whether it may answer 404; by default a path with parameters may. */
  notFound?: boolean;
  /** Gives the value to answer as JSON, its JSON text, or a complete response. */
  handle(
    input: Input<P, Q, B>,
    c: RequestContext,
  ): z.input<R> | JsonText<z.input<R>> | Response | Promise<z.input<R> | JsonText<z.input<R>> | Response>;
}

/**
 * The routes of one tag: `route` declares an operation with its OpenAPI description, where the errors follow from rule,
 * method and path (see src/openapi.ts).
 */
export function createRoutes(tag: string) {
  const app = new OpenAPIHono<Env>();

  function route<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
    methodAndPath: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`,
    rule: Rule,
    operation: Operation<P, Q, B, R>,
  ): void {
    const [method, path] = methodAndPath.split(' ') as [string, string];
    const { params, query, body, rawBody, status = 200, response, handle, ...named } = operation;
    const { notFound: mayMiss = path.includes('{'), conditional, revision, ...made } = named;
    const { location, headers: ownHeaders, ...described } = made;
    const own = { ...response.headers, ...(revision && revisionTag), ...(location && createdAt) };
    const headers = { ...(rule['x-access'] === 'public' ? publicHeaders : privateHeaders), ...ownHeaders };
    const { middleware, ...shown } = rule;
    const declared = {
      method: method.toLowerCase() as 'get',
      path,
      ...described,
      tags: [tag],
      ...shown,
      request: { params, query, ...(body && { body: jsonBody(body) }) } as object,
      ...(conditional && { parameters: [ifMatch] }),
      responses: {
        [status]: { ...response, ...(Object.keys(own).length > 0 && { headers: own }) },
        400: problem(400),
        ...(mayMiss && { 404: problem(404) }),
        ...(conditional && { 412: problem(412) }),
      },
    };
    const hide = rawBody !== undefined;
    if (hide)
      app.openAPIRegistry.registerPath({
        ...declared,
        request: { ...declared.request, body: rawBody } as object,
      });
    const answered = async (c: RequestContext) => {
      const valid = (target: string) => c.req.valid(target as never) as never;
      const caller = { user: c.get('user'), viewer: c.get('viewer') };
      const match = conditional ? readIfMatch(c.req.header('If-Match')) : null;
      const input = { ...caller, params: valid('param'), query: valid('query'), body: valid('json'), match };
      // Before the answer: a tag is never newer than it.
      if (revision && status === 200) c.set('revision', revision(input, {} as z.input<R>));
      const made = (await handle(input, c)) as z.input<R>;
      if (made instanceof Response) return made;
      if (revision && status === 201) c.set('revision', revision(input, made));
      const all = location ? { ...headers, Location: location(made) } : headers;
      return answer(c, made as object, all, status as 200 | 201);
    };
    app.openapi(createRoute({ ...declared, middleware, hide }), answered as never);
  }

  return { app, route };
}
