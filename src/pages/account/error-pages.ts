import type { Context } from 'hono';
import { type AppError, statusOf } from '../../base/errors.ts';
import type { Env } from '../../http/env.ts';
import { goTo, type PageSupport, safePath } from '../parts/page.ts';
import { problemPage } from '../parts/problem.tsx';
import type { Account } from './routes.tsx';

/** Answers an error as a page; a 401 leads to the sign-in page. */
export type ErrorPages = (c: Context<Env>, problem: AppError) => Promise<Response>;

export function createErrorPages({ show }: PageSupport, account: Account): ErrorPages {
  const { sessions, cookie } = account;
  function signInFirst(c: Context<Env>): Response {
    const { pathname, search } = new URL(c.req.url);
    const page = c.req.method === 'GET' ? `${pathname}${search}` : senderOf(c);
    return goTo(c, `/signin?next=${encodeURIComponent(page)}`);
  }

  return async (c, { code, message, headers }) => {
    if (code === 'UNAUTHORIZED') return signInFirst(c);
    // The error may have occurred before the check of the session.
    if (c.get('visitor') === undefined) {
      const session = cookie.read(c);
      c.set('visitor', session === undefined ? null : await sessions.find(session));
    }
    const status = statusOf[code];
    const refused = { status, message, retryAfter: headers['Retry-After'], requestId: c.get('requestId') };
    const page = show(c, problemPage(refused), status);
    for (const [name, value] of Object.entries(headers)) page.headers.set(name, value);
    return page;
  };
}

/** The page that a form stands on, as the browser tells it; else the start page. */
function senderOf(c: Context<Env>): string {
  const referrer = c.req.header('Referer') ?? '';
  if (!URL.canParse(referrer)) return '/';
  const { pathname, search } = new URL(referrer);
  return safePath(`${pathname}${search}`);
}
