import type { OpenAPIHono } from '@hono/zod-openapi';
import * as assert from 'uvu/assert';
import { createApp } from '../../src/app/app.ts';
import type { VerifyUserToken } from '../../src/auth/tokens.ts';
import { createLog } from '../../src/base/log.ts';
import type { Database } from '../../src/db/database.ts';
import type { Env } from '../../src/http/env.ts';
import { ErrorBody } from '../../src/http/schema.ts';
import type { Answer } from './app.ts';
import { testContext } from './context.ts';
import { recorded } from './recorded.ts';
import { watched } from './watched.ts';

/** An application whose log lines are kept, and whose caller is always the same. */
export interface LoggedApp {
  app: OpenAPIHono<Env>;
  state: { draining: boolean };
  /** The log so far, one parsed line each. */
  // biome-ignore lint/suspicious/noExplicitAny: log lines have fields of every kind
  lines(): any[];
}

/** An application over a database, for looking at its log or at its failures. Any token is taken unless `verify` is given. */
export function loggedApp(db: Database, verify?: VerifyUserToken): LoggedApp {
  const state = { draining: false };
  const written: string[] = [];
  const viewer = {
    ...({ kind: 'user', subject: 'alice', email: null, organization: null, expiresAt: 0 } as const),
    entitlements: new Set<never>(),
  };
  const context = testContext(db, {
    verify: verify ?? (async () => viewer),
    log: createLog('debug', (line) => written.push(line)),
    now: () => new Date('2026-11-21T12:00:00Z'),
    state,
  });
  return {
    app: watched(recorded(createApp(context), context.observer)),
    state,
    lines: () => written.map((line) => JSON.parse(line)),
  };
}

/** Asserts that an answer is the documented error (rule D2.1), its message word for word. */
export function assertError(answer: Answer, status: number, code: string, message: string): void {
  const where = answer.text.slice(0, 300);
  assert.is(answer.status, status, where);
  assert.is(answer.headers.get('Content-Type'), 'application/json');
  const body = ErrorBody.parse(answer.json);
  assert.equal(Object.keys(answer.json), ['error']);
  const { field: _, ...others } = answer.json.error;
  assert.equal(Object.keys(others), ['code', 'message', 'requestId']);
  assert.is(body.error.code, code, where);
  assert.is(body.error.message, message);
  assert.is(body.error.requestId, answer.headers.get('X-Request-Id'));
  assert.is(answer.headers.get('Cache-Control'), 'no-store');
}

/** Asserts the headers that every answer carries (rule S3.3). */
export function assertSecurityHeaders(headers: Headers): void {
  assert.is(headers.get('X-Content-Type-Options'), 'nosniff');
  assert.is(headers.get('Content-Security-Policy'), "default-src 'none'; frame-ancestors 'none'");
  assert.is(headers.get('Referrer-Policy'), 'no-referrer');
  assert.is(headers.get('Cross-Origin-Resource-Policy'), 'same-origin');
  for (const name of ['Server', 'X-Powered-By', 'Access-Control-Allow-Origin']) {
    assert.is(headers.get(name), null, `${name} must not be sent`);
  }
}
