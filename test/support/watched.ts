import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Env } from '../../src/http/env.ts';

// Every answer that a test sees is held against /openapi.json as it is published, whichever way it was asked for.

/** An answer as a client got it; a body that is null was not read. */
export interface Seen {
  method: string;
  /** The target of the request: a path and a query. */
  target: string;
  status: number;
  headers: Headers;
  body: string | null;
}

/** The answers so far that `/openapi.json` does not allow, in words; `test/run.ts` fails a file that has any. */
export const outside: string[] = [];

let check: Promise<(seen: Seen) => string | null> | null = null;

/** Throws when `/openapi.json` does not allow an answer; what is no part of the API is let pass. */
export async function assertPublished(seen: Seen): Promise<void> {
  // Loaded by the tests that ask something, which are the fewer.
  check ??= import('./published.ts').then(async (published) =>
    published.createCheck(await published.publishedDocument()),
  );
  const problem = (await check)(seen);
  if (problem === null) return;
  outside.push(
    `${seen.method} ${seen.target.slice(0, 200)} answered ${seen.status}, which /openapi.json does not allow: ${problem}`,
  );
  throw new Error(outside.at(-1));
}

/** The application, every answer to whose `request` is held against the document. */
export function watched(app: OpenAPIHono<Env>): OpenAPIHono<Env> {
  const request = app.request.bind(app);
  app.request = async (input, init, ...more) => {
    const response = await request(input, init, ...more);
    await see(input, init, response);
    return response;
  };
  return app;
}

/** Has every answer to `fetch` of a server on this machine held against the document. */
export function watchFetch(): void {
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const { hostname } = new URL(response.url || 'http://nowhere');
    if (['127.0.0.1', 'localhost', '[::1]'].includes(hostname)) await see(input as string, init, response);
    return response;
  };
}

async function see(
  input: string | Request | URL,
  init: RequestInit | undefined,
  response: Response,
): Promise<void> {
  const request = input instanceof Request ? input : null;
  const method = (init?.method ?? request?.method ?? 'GET').toUpperCase();
  const { status, headers } = response;
  const target = String(request?.url ?? input);
  await assertPublished({ method, target, status, headers, body: await response.clone().text() });
}
