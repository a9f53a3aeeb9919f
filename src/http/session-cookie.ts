import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { sessionCookie } from '../auth/sessions.ts';
import type { Env } from './env.ts';

export type SessionCookie = ReturnType<typeof createSessionCookie>;

/** The session cookie (rule D1.7) and the attributes of all cookies; `secure` is for TLS ended by a proxy. */
export function createSessionCookie(secure: boolean) {
  const attributes = (c: Context<Env>) =>
    ({ httpOnly: true, sameSite: 'Strict', path: '/', secure: secure || c.get('record').secure }) as const;
  return {
    attributes,

    read: (c: Context<Env>): string | undefined => getCookie(c, sessionCookie),

    set: (c: Context<Env>, secret: string): void => setCookie(c, sessionCookie, secret, attributes(c)),

    clear: (c: Context<Env>): void => setCookie(c, sessionCookie, '', { ...attributes(c), maxAge: 0 }),
  };
}
