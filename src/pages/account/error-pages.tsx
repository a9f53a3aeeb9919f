import type { Context } from 'hono';
import { type AppError, statusOf } from '../../base/errors.ts';
import { count } from '../../base/text.ts';
import type { Env } from '../../http/env.ts';
import { goTo, type PageSupport, safePath } from '../parts/page.ts';
import type { View } from '../parts/view.ts';
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

/** The page of an error: the API's message, when to try again, and the request id. */
function problemPage(problem: {
  status: number;
  message: string;
  /** Seconds, from `Retry-After`, which browsers do not show. */
  retryAfter: string | undefined;
  requestId: string;
}): View {
  const { status, message, retryAfter, requestId } = problem;
  const titles: Record<number, string> = {
    400: 'This request is not valid',
    403: 'You do not have permission',
    404: 'Not found',
    405: 'Not allowed here',
    413: 'Too large',
    429: 'Too many requests',
    503: 'Temporarily unavailable',
  };
  const title = titles[status] ?? 'Something went wrong';
  return {
    title,
    body: (
      <>
        <p class="problem">{message}</p>
        {status === 404 ? <p>It does not exist, or you do not have permission to see it.</p> : null}
        {retryAfter === undefined ? null : <p>Try again in {count(Number(retryAfter), 'second')}.</p>}
        <p>
          <a href="/">Go to the start page</a>
        </p>
        <p class="hint">Request ID {requestId}</p>
      </>
    ),
  };
}
