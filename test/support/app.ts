import type { OpenAPIHono } from '@hono/zod-openapi';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { runImport } from '../../importers/run.ts';
import { createApp } from '../../src/app/app.ts';
import { createVerifyUserToken, type VerifyUserToken } from '../../src/auth/tokens.ts';
import { readConfig } from '../../src/base/config.ts';
import type { Database } from '../../src/db/database.ts';
import { createAnswerCache } from '../../src/http/cache.ts';
import type { Env } from '../../src/http/env.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { type Given, testContext } from './context.ts';
import { preparedCatalog } from './prepared.ts';
import { recorded } from './recorded.ts';
import { watched } from './watched.ts';

const pair = await generateKeyPair('ES256', { extractable: true });
const keys = createLocalJWKSet({
  keys: [{ ...(await exportJWK(pair.publicKey)), alg: 'ES256', kid: 'test' }],
});

/** The time that tests live in; move it by setting `clock.now`. */
export interface Clock {
  now: Date;
}

export interface TestApp {
  app: OpenAPIHono<Env>;
  db: Database;
  clock: Clock;
  /** A user token; claims given replace the defaults, `undefined` removes one. */
  token(claims?: Record<string, unknown>): Promise<string>;
  /** A request with a user token. */
  get(path: string, init?: RequestInit & { token?: string | null }): Promise<Answer>;
  send(
    method: string,
    path: string,
    body: unknown,
    init?: RequestInit & { token?: string | null },
  ): Promise<Answer>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
}

/** An application over a fresh database in memory, filled from the given paths; `deps` replaces what it is made of. */
export async function testApp(
  paths: string[] = [],
  { db: given, ...deps }: Given & { db?: Database } = {},
): Promise<TestApp> {
  const clock = { now: new Date('2026-11-21T12:00:00Z') };
  const now = () => clock.now;
  const db = given ?? (await preparedCatalog(paths, now));
  if (given && paths.length > 0) await runImport(given, paths, { now });
  const verify = verifier(now);
  const metrics = createMetrics().text;
  // Kept answers are part of what is tested: whatever one holds too long, some test must see.
  const cache = createAnswerCache(db);
  const context = testContext(db, { verify, now, metrics, cache, ...deps });
  const app = watched(recorded(createApp(context), context.observer));
  const token = (claims: Record<string, unknown> = {}) => signToken(clock, claims);
  const common = await token();

  async function request(path: string, init: RequestInit & { token?: string | null }): Promise<Answer> {
    const { token: given, ...rest } = init;
    const headers = new Headers(rest.headers);
    if (given !== null && !headers.has('Authorization'))
      headers.set('Authorization', `Bearer ${given ?? common}`);
    const response = await app.request(path, { ...rest, headers });
    const text = await response.text();
    const isJson = text !== '' && response.headers.get('Content-Type')?.startsWith('application/json');
    const { status } = response;
    return { status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  return {
    app,
    db,
    clock,
    token,
    get: (path, init = {}) => request(path, init),
    send: (method, path, body, init = {}) =>
      request(path, { ...init, method, body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
}

/** Verifies the tokens that `signToken` signs. */
export function verifier(now: () => Date): VerifyUserToken {
  return createVerifyUserToken(readConfig({}, {}), keys, now);
}

/** Signs a token as the test's identity provider does. */
export async function signToken(clock: Clock, claims: Record<string, unknown>): Promise<string> {
  const iat = Math.floor(clock.now.getTime() / 1000);
  const defaults = {
    sub: 'alice',
    email: 'alice@example.org',
    org: 'red',
    entitlements: [],
    iss: 'gapstone',
    aud: 'gapstone',
  };
  const payload = { ...defaults, iat, exp: iat + 3600, ...claims };
  const kept = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
  return new SignJWT(kept as JWTPayload)
    .setProtectedHeader({ alg: 'ES256', kid: 'test' })
    .sign(pair.privateKey);
}

/** The route definitions that an application declares. */
export function routesOf(app: OpenAPIHono<Env>): { method: string; path: string }[] {
  return app.openAPIRegistry.definitions
    .filter((definition) => definition.type === 'route')
    .map((definition) => (definition as { route: { method: string; path: string } }).route);
}
