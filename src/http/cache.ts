import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import { routePath } from 'hono/route';
import { LRUCache } from 'lru-cache';
import { type Viewer, viewerKey } from '../auth/viewer.ts';
import { owned } from '../base/bytes.ts';
import { isExpensive, mayHave, type RouteOptions } from './access.ts';
import { bestCoding, type Coding, compressed, headersUnchanged, namesTag } from './coding.ts';
import type { Env } from './env.ts';
import { commonHeaders } from './headers.ts';
import { type Limiter, type Queue, smallAnswer } from './limits.ts';
import { callerKey, type RequestRecord } from './record.ts';
import type { VerifiedTokens } from './verified-tokens.ts';

/** Says which state the data have; a database implements it. */
export interface Freshness {
  catalogVersion(): string;
  audience: { version(subject: string | null, organization: string | null): string };
}

/** An answer in one coding, ready to send; names of headers are in lower case. */
interface CachedAnswer {
  bytes: Buffer<ArrayBuffer>;
  headers: Record<string, string>;
  /** The state of the data that it was made from. */
  stamp: string;
  /** The template of the route, its `x-access`, and whether it counts as expensive. */
  route: string;
  access: string;
  expensive: boolean;
}

export type AnswerCache = ReturnType<typeof createAnswerCache>;

/** How long the shortcut may serve an answer after the catalog changed. */
const staleMilliseconds = 5;
const overhead = 2048;

/** A cache of answers to GET of at most `maxSize` bytes; an answer is valid while the data have its stamp. */
export function createAnswerCache(fresh: Freshness, maxSize = 48 * 1024 * 1024) {
  const answers = new LRUCache<string, CachedAnswer>({
    maxSize,
    maxEntrySize: maxSize / 8,
    sizeCalculation: ({ bytes }, key) => bytes.length + overhead + key.length,
  });
  const counted = { hits: 0, misses: 0 };
  /** The last version of the catalog: to read it costs more than the rest of a look-up. */
  const last = { version: '', readAt: Number.NEGATIVE_INFINITY };

  /** The state of the data: of the catalog, and for a viewer of users' data too. */
  function stamp(viewer: Viewer | null, isExact = true): string {
    if (isExact || performance.now() - last.readAt >= staleMilliseconds) {
      last.version = fresh.catalogVersion();
      last.readAt = performance.now();
    }
    if (viewer === null) return last.version;
    const subject = viewer.kind === 'user' ? viewer.subject : null;
    return `${last.version} ${fresh.audience.version(subject, viewer.organization)}`;
  }

  /** Neither an address nor a viewer's key contains a line feed, so that no two answers have one key. */
  const keyOf = (address: string, viewer: Viewer | null, coding: Coding) =>
    `${coding}\n${viewer === null ? '' : viewerKey(viewer)}\n${address}`;

  return {
    stamp,
    /**
     * The valid answer to an address (path and query as routed), `viewer` where it depends on users' data. Unless
     * `isExact`, the catalog may be a few milliseconds older; users' data never are.
     */
    find(address: string, viewer: Viewer | null, coding: Coding, isExact = true): CachedAnswer | null {
      const found = answers.get(keyOf(address, viewer, coding));
      return found === undefined || found.stamp !== stamp(viewer, isExact) ? null : found;
    },
    /** Stores an answer, unless the data changed since its stamp was taken. */
    store(address: string, viewer: Viewer | null, coding: Coding, answer: CachedAnswer): void {
      if (answer.stamp === stamp(viewer)) answers.set(keyOf(address, viewer, coding), answer);
    },
    count(outcome: 'hits' | 'misses'): void {
      counted[outcome]++;
    },
    stats: () => ({ entries: answers.size, bytes: answers.calculatedSize, ...counted }),
  };
}

/**
 * Answers from the cache, or by `handle`, whose answer is then stored. Comes after the access checks: no cached answer
 * bypasses them.
 */
export async function answerFromCache(
  c: Context<Env>,
  cache: AnswerCache,
  { cached: source, expensive }: RouteOptions,
  access: string,
  handle: () => Promise<void>,
): Promise<void> {
  const { url } = c.req;
  // Path and query as the router reads them.
  const address = url.slice(url.indexOf('/', 'https://'.length));
  const viewer = source === 'catalog' ? null : (c.get('viewer') ?? c.get('user'));
  const coding = bestCoding(c.req.header('Accept-Encoding'));
  let answer = cache.find(address, viewer, coding);
  if (answer === null) {
    const stamp = cache.stamp(viewer);
    await handle();
    const bytes = c.get('bytes');
    if (c.res.status !== 200 || bytes === undefined) return;
    const checks = { stamp, route: routePath(c), access, expensive: isExpensive(c, expensive) };
    const made = await compressed(owned(bytes), Object.fromEntries(c.res.headers), coding);
    answer = { ...made, ...checks };
    cache.store(address, viewer, coding, answer);
    cache.count('misses');
  } else cache.count('hits');
  c.res = undefined;
  c.res = c.body(answer.bytes, 200, answer.headers);
}

interface ShortcutDeps {
  cache: AnswerCache;
  known: VerifiedTokens['known'];
  limiter: Limiter;
  queue: Queue;
  /** With origins, answers vary by `Origin`. */
  corsOrigins: readonly string[];
}

export type Shortcut = ReturnType<typeof createShortcut>;

const special = ['cookie', 'origin', 'transfer-encoding', 'upgrade'];

/** Whether headers are those of a request without a body on a kept-alive connection. */
const isPlain = (headers: IncomingHttpHeaders) =>
  (headers['content-length'] ?? '0') === '0' &&
  (headers.connection ?? 'keep-alive').toLowerCase() === 'keep-alive' &&
  !special.some((name) => name in headers);

/**
 * Serves cached answers without the router: the same checks by the same functions. It leaves to the router every
 * refusal and every request with a body, a cookie, an origin or a connection to close.
 */
export function createShortcut({ cache, known, limiter, queue, corsOrigins }: ShortcutDeps) {
  /** Answers a request, whose `url` is the path as routed; false where the router must answer. */
  return (request: IncomingMessage, response: ServerResponse, record: RequestRecord): boolean => {
    const { headers } = request;
    if (request.method !== 'GET' || request.httpVersion !== '1.1' || !isPlain(headers)) return false;
    const [, token] = /^Bearer (.*)$/.exec(headers.authorization ?? '') ?? [];
    const user = token === undefined ? null : known(token, record.remote);
    const coding = bestCoding(headers['accept-encoding'] as string | undefined);
    const address = request.url!;
    const found =
      cache.find(address, null, coding, false) ?? (user && cache.find(address, user, coding, false));
    if (found === null || !mayHave(found.access, user)) return false;
    if (found.access !== 'public') record.caller = { by: 'user', viewer: user! };
    const caller = callerKey(record);
    const { length } = found.bytes;
    const isSmall = length < smallAnswer;
    if ((!isSmall && !queue.hasRoom(caller)) || limiter.take(caller, found.expensive) > 0) return false;
    cache.count('hits');
    record.route = found.route;
    if (!isSmall) {
      queue.hold(caller, length);
      record.onClose = () => queue.release(caller, length);
    }
    const unchanged = namesTag(headers['if-none-match'], found.headers.etag!);
    response.writeHead(unchanged ? 304 : 200, {
      ...(unchanged ? headersUnchanged(found.headers) : found.headers),
      ...(corsOrigins.length > 0 && { vary: `${found.headers.vary}, Origin` }),
      ...commonHeaders(record.secure),
      'X-Request-Id': record.requestId,
    });
    response.end(unchanged ? undefined : found.bytes);
    return true;
  };
}
