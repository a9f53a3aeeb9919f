import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { sessionCookie } from './sessions.ts';

export type SessionCookie = ReturnType<typeof createSessionCookie>;

/** The cookie of a session (DECISIONS D1.7); `secure` when the service is reached over TLS. */
export function createSessionCookie(secure: boolean) {
  const attributes = { httpOnly: true, sameSite: 'Strict', path: '/', secure } as const;
  return {
    /** The secret that a request brings, if it brings one. */
    read: (c: Context): string | undefined => getCookie(c, sessionCookie),

    set: (c: Context, secret: string): void => setCookie(c, sessionCookie, secret, attributes),

    clear: (c: Context): void => setCookie(c, sessionCookie, '', { ...attributes, maxAge: 0 }),
  };
}
