import { count } from './parts.tsx';
import type { View } from './view.ts';

/** What a reader sees when a page cannot be shown: the words of the API's error, when to come again, and its request id. */
export function problemPage(problem: {
  status: number;
  message: string;
  /** Seconds, as `Retry-After` has them, which a browser does not show. */
  retryAfter: string | undefined;
  requestId: string;
}): View {
  const { status, message, retryAfter, requestId } = problem;
  const titles: Record<number, string> = {
    400: 'That request cannot be read',
    403: 'You may not do this',
    404: 'Not found',
    405: 'Not allowed here',
    413: 'Too large',
    429: 'Too many requests',
    503: 'Not now',
  };
  const title = titles[status] ?? 'Something went wrong';
  return {
    title,
    body: (
      <>
        <h1>{title}</h1>
        <p class="problem">{message}</p>
        {status === 404 ? (
          <p>It is not in the catalog, or you may not see it: both look the same from here.</p>
        ) : null}
        {retryAfter === undefined ? null : <p>Try again in {count(Number(retryAfter), 'second')}.</p>}
        <p>
          <a href="/">To the start</a>
        </p>
        <p class="hint">Request id {requestId}</p>
      </>
    ),
  };
}
