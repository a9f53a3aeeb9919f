import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { sessionCookie } from '../auth/sessions.ts';
import type { Env } from './env.ts';

export type SessionCookie = ReturnType<typeof createSessionCookie>;

/** The cookie of a session (rule D1.7), and what other cookies have in common with it; `secure` makes it for TLS only, also where a request came without. */
export function createSessionCookie(secure: boolean) {
  const attributes = (c: Context<Env>) =>
    ({ httpOnly: true, sameSite: 'Strict', path: '/', secure: secure || c.get('record').secure }) as const;
  return {
    attributes,

    /** The secret that a request brings, if it brings one. */
    read: (c: Context<Env>): string | undefined => getCookie(c, sessionCookie),

    set: (c: Context<Env>, secret: string): void => setCookie(c, sessionCookie, secret, attributes(c)),

    clear: (c: Context<Env>): void => setCookie(c, sessionCookie, '', { ...attributes(c), maxAge: 0 }),
  };
}
