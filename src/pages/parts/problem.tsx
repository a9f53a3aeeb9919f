import { count } from '../../base/text.ts';
import type { View } from './view.ts';

/** The page of an error: the API's message, when to try again, and the request id. */
export function problemPage(problem: {
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
