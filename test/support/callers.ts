import { createIntegrationTokens } from '../../src/auth/integration-tokens.ts';
import type { Answer, TestApp } from './app.ts';

/** Whoever asks: the headers that say who it is. */
export type Caller = Record<string, string>;

/** Ids that tests can foretell, in the form of a UUID. */
export function countingIds(): () => string {
  let count = 0;
  return () => testId(++count);
}

export function testId(count: number): string {
  return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
}

/** Headers of a user token: alice of red unless the claims say otherwise. */
export async function userCaller(t: TestApp, claims: Record<string, unknown> = {}): Promise<Caller> {
  return { Authorization: `Bearer ${await t.token(claims)}` };
}

/** Headers of a new session of a caller, as the server's own pages send it. */
export async function sessionCaller(t: TestApp, caller: Caller): Promise<Caller> {
  const answer = await ask(t, 'POST', '/api/v1/session', caller);
  return { Cookie: cookieOf(answer), 'Sec-Fetch-Site': 'same-origin' };
}

/** The `name=value` of the cookie that an answer sets. */
export function cookieOf(answer: Answer): string {
  return (answer.headers.get('Set-Cookie') ?? '').split(';')[0]!;
}

/** Headers of a new integration token that sees some lists of an organization. */
export async function integrationCaller(
  t: TestApp,
  id: string,
  lists: string[],
  { organization = 'red', lifetime = null as number | null } = {},
): Promise<Caller> {
  const tokens = createIntegrationTokens(t.db, () => t.clock.now);
  const token = await tokens.create({ id, name: 'program', organization, lists, lifetime });
  return { Authorization: `Bearer ${token}` };
}

/** A request of a caller; nobody's without headers. */
export function ask(
  t: TestApp,
  method: string,
  path: string,
  caller: Caller,
  body?: unknown,
): Promise<Answer> {
  return t.get(path, {
    method,
    token: null,
    headers: caller,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
