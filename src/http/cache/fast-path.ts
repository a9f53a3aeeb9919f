import type { IncomingMessage, ServerResponse } from 'node:http';
import { mayHave } from '../access.ts';
import { strictTransport } from '../headers.ts';
import { type Gate, smallAnswer } from '../limits/gate.ts';
import type { Limiter } from '../limits/limiter.ts';
import { callerKey, type Exchange } from '../observe/exchange.ts';
import { type Answers, namesTag } from './answers.ts';
import { bestCoding } from './coding.ts';
import type { KnownUser, Tokens } from './tokens.ts';

export interface FastPathDeps {
  answers: Answers;
  known: Tokens['known'];
  limiter: Limiter;
  gate: Gate;
  /** The headers of every answer, a name and its value in turn. */
  common: readonly string[];
}

/** Answers a request, whose `url` is the path as it is routed, when its answer is kept and its caller known; otherwise it is the router's, and nothing was done. */
export type FastPath = (
  request: IncomingMessage,
  response: ServerResponse,
  exchange: Exchange,
  headers: ReadonlyMap<string, string>,
) => boolean;

const bearer = 'Bearer ';
const transport = Object.entries(strictTransport).flat();
/** What the router alone knows how to treat. */
const special = ['cookie', 'origin', 'transfer-encoding', 'upgrade'];

/**
 * The way to a kept answer past the router: the same checks by the same functions, on the same path. What is not plain in a
 * request (a body, a cookie, an origin, a connection to be closed), and every refusal, is left to the router.
 */
export function createFastPath({ answers, known, limiter, gate, common }: FastPathDeps): FastPath {
  const lastOf = new WeakMap<object, KnownUser>();

  return (request, response, exchange, headers) => {
    if (request.method !== 'GET' || request.httpVersion !== '1.1' || !isPlain(headers)) return false;
    const authorization = headers.get('authorization');
    let user: KnownUser | null = null;
    if (authorization?.startsWith(bearer)) {
      const last = lastOf.get(request.socket);
      user = known(authorization.slice(bearer.length), exchange.remote, last);
      if (user !== null && user !== last) lastOf.set(request.socket, user);
    }
    const address = request.url!;
    const found =
      answers.find(address, null, false) ?? (user ? answers.find(address, user.user, false) : undefined);
    if (found === undefined || !mayHave(found.access, user?.user ?? null)) return false;
    const unchanged = namesTag(headers.get('if-none-match'), found.tag);
    const variant = unchanged
      ? found.notModified
      : found.variants.get(bestCoding(headers.get('accept-encoding')));
    if (variant === undefined) return false;
    if (found.access !== 'public') {
      exchange.tokenType = 'user';
      exchange.subject = user!.user.subject;
      exchange.organization = user!.user.organization;
    }
    const caller = callerKey(exchange);
    const bytes = variant.body.length;
    if (bytes >= smallAnswer && !gate.hasRoom(caller)) return false;
    if (limiter.take(caller, found.expensive) > 0) return false;
    exchange.route = found.route;
    const lines = variant.lines.concat(common, ['X-Request-Id', exchange.requestId]);
    response.writeHead(unchanged ? 304 : 200, exchange.secure ? lines.concat(transport) : lines);
    response.end(variant.body);
    if (bytes >= smallAnswer) {
      gate.hold(caller, bytes);
      exchange.onClose = () => gate.release(caller, bytes);
    }
    return true;
  };
}

function isPlain(headers: ReadonlyMap<string, string>): boolean {
  if ((headers.get('content-length') ?? '0') !== '0') return false;
  if ((headers.get('connection') ?? 'keep-alive').toLowerCase() !== 'keep-alive') return false;
  return !special.some((name) => headers.has(name));
}
