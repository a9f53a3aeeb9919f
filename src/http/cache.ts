import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { LRUCache } from 'lru-cache';
import { type Viewer, viewerKey } from '../auth/viewer.ts';
import { owned } from '../base/bytes.ts';
import { isExpensive, mayHave, type RouteOptions } from './access.ts';
import { bestCoding, type Coding, compress, namesTag, tagSuffixes } from './coding.ts';
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

/** An answer of a route. `tag` stands for its bytes in every coding; headers are without it, length and encoding. */
export interface MadeAnswer {
  bytes: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
  tag: string;
  /** The state of the data that it was made from. */
  stamp: string;
  /** The template of the route, its `x-access`, and whether it counts as expensive. */
  route: string;
  access: string;
  expensive: boolean;
}

/** An answer in one coding, ready to send; headers also as name and value in turn, the fastest form for `writeHead`. */
export interface CachedAnswer extends MadeAnswer {
  bytes: Buffer<ArrayBuffer>;
  sent: Record<string, string>;
  lines: string[];
  notModifiedLines: string[];
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

/** Prepares an answer for sending in a coding: uncompressed where that is not larger. */
export async function encoded(answer: MadeAnswer, coding: Coding): Promise<CachedAnswer> {
  const compressed = coding === 'identity' ? null : await compress(Buffer.from(answer.bytes.buffer), coding);
  const bytes = owned(compressed ?? answer.bytes);
  const sent = {
    ...answer.headers,
    ETag: `"${answer.tag}${compressed ? tagSuffixes[coding] : ''}"`,
    'Content-Length': String(bytes.length),
    ...(compressed && { 'Content-Encoding': coding }),
  };
  const { 'content-type': _, 'content-disposition': __, ...common } = answer.headers;
  const notModifiedLines = Object.entries({ ...common, ETag: `"${answer.tag}"` }).flat();
  return { ...answer, bytes, sent, lines: Object.entries(sent).flat(), notModifiedLines };
}

/** Answers from the cache and fills it, after the access checks: no cached answer bypasses them. */
export function cacheAnswers(
  cache: AnswerCache,
  { kept: source, expensive }: RouteOptions,
  access: string,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { method, url } = c.req;
    if (method !== 'GET' && method !== 'HEAD') return next();
    // Path and query as the router reads them.
    const address = url.slice(url.indexOf('/', 'https://'.length));
    const viewer = source === 'catalog' ? null : (c.get('viewer') ?? c.get('user'));
    const inCoding = async (made: MadeAnswer, coding: Coding) => {
      const answer = await encoded(made, coding);
      cache.store(address, viewer, coding, answer);
      return answer;
    };
    let answer = cache.find(address, viewer, 'identity');
    if (answer === null) {
      const stamp = cache.stamp(viewer);
      await next();
      const made = takeAnswer(c);
      if (made === null) return;
      const checks = { stamp, route: routePath(c), access, expensive: isExpensive(c, expensive) };
      answer = await inCoding({ ...made, ...checks }, 'identity');
      cache.count('misses');
    } else cache.count('hits');
    // The access rule makes the 304 from the uncompressed answer.
    const unchanged = namesTag(c.req.header('If-None-Match'), answer.tag);
    const coding = unchanged ? 'identity' : bestCoding(c.req.header('Accept-Encoding'));
    if (coding !== 'identity')
      answer = cache.find(address, viewer, coding) ?? (await inCoding(answer, coding));
    c.res = c.body(answer.bytes, 200, answer.sent);
  };
}

/** The whole answer of a route, removed from the context; null for one that cannot be cached. */
function takeAnswer(c: Context<Env>): Pick<MadeAnswer, 'bytes' | 'headers' | 'tag'> | null {
  const { etag, 'content-length': _, ...headers } = Object.fromEntries(c.res.headers);
  const bytes = c.get('bytes');
  if (c.res.status !== 200 || etag === undefined || bytes === undefined) return null;
  c.res = undefined;
  return { bytes: owned(bytes), headers, tag: etag.slice(1, -1) };
}

export interface ShortcutDeps {
  cache: AnswerCache;
  known: VerifiedTokens['known'];
  limiter: Limiter;
  queue: Queue;
  /** With origins, answers vary by `Origin`. */
  corsOrigins: readonly string[];
}

/**
 * Answers a request from the cache where its answer is there and its caller known; `url` is the path as routed. Gives
 * false where the router must answer.
 */
export type Shortcut = (request: IncomingMessage, response: ServerResponse, record: RequestRecord) => boolean;

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
export function createShortcut({ cache, known, limiter, queue, corsOrigins }: ShortcutDeps): Shortcut {
  const vary = corsOrigins.length > 0 ? ['Vary', 'Origin'] : [];
  const [plainLines, secureLines] = [false, true].map((secure) =>
    Object.entries(commonHeaders(secure)).flat().concat(vary),
  ) as [string[], string[]];
  return (request, response, record) => {
    const { headers } = request;
    if (request.method !== 'GET' || request.httpVersion !== '1.1' || !isPlain(headers)) return false;
    const [, token] = /^Bearer (.*)$/.exec(headers.authorization ?? '') ?? [];
    const user = token === undefined ? null : known(token, record.remote);
    const coding = bestCoding(String(headers['accept-encoding'] ?? ''));
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
    const unchanged = namesTag(headers['if-none-match'], found.tag);
    const lines = unchanged ? found.notModifiedLines : found.lines;
    const more = record.secure ? secureLines : plainLines;
    response.writeHead(unchanged ? 304 : 200, lines.concat(more, 'X-Request-Id', record.requestId));
    response.end(unchanged ? undefined : found.bytes);
    return true;
  };
}
