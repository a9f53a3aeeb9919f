import type { IncomingMessage, ServerResponse } from 'node:http';
import { mayHave } from '../access.ts';
import { bestCoding, namesTag } from '../coding.ts';
import { type ConcurrencyLimit, smallAnswer } from '../limits/concurrency.ts';
import type { Limiter } from '../limits/limiter.ts';
import { callerKey, noteCaller, type RequestRecord } from '../observe/record.ts';
import { isPlain } from '../request.ts';
import type { Answers } from './answers.ts';
import type { KnownUser, Tokens } from './verified-tokens.ts';

export interface FastPathDeps {
  answers: Answers;
  known: Tokens['known'];
  limiter: Limiter;
  concurrency: ConcurrencyLimit;
  commonHeaders: (secure: boolean) => readonly string[];
}

/**
 * Answers a request from the cache where its answer is there and its caller known; `url` is the path as routed. Gives
 * false, without side effects, where the router must answer.
 */
export type FastPath = (
  request: IncomingMessage,
  response: ServerResponse,
  record: RequestRecord,
  headers: ReadonlyMap<string, string>,
) => boolean;

/**
 * Serves cached answers without the router: the same checks by the same functions. It leaves to the router every
 * refusal and every request with a body, a cookie, an origin or a connection to close.
 */
export function createFastPath(deps: FastPathDeps): FastPath {
  const { answers, known, limiter, concurrency, commonHeaders } = deps;
  const lastOf = new WeakMap<object, KnownUser>();

  return (request, response, record, headers) => {
    if (request.method !== 'GET' || request.httpVersion !== '1.1' || !isPlain(headers)) return false;
    const authorization = headers.get('authorization');
    const token = authorization?.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : undefined;
    const last = lastOf.get(request.socket);
    const signedIn = token === undefined ? null : known(token, record.remote, last);
    if (signedIn !== null && signedIn !== last) lastOf.set(request.socket, signedIn);
    const user = signedIn?.user ?? null;
    const address = request.url!;
    const found =
      answers.find(address, null, false) ?? (user ? answers.find(address, user, false) : undefined);
    if (found === undefined || !mayHave(found.checks.access, user)) return false;
    const unchanged = namesTag(headers.get('if-none-match'), found.made.tag);
    const coding = bestCoding(headers.get('accept-encoding'));
    const variant = unchanged ? found.notModified : found.variants.get(coding);
    if (variant === undefined) return false;
    if (found.checks.access !== 'public') noteCaller(record, 'user', user);
    const caller = callerKey(record);
    const bytes = variant.body.length;
    if (bytes >= smallAnswer && !concurrency.hasRoom(caller)) return false;
    if (limiter.take(caller, found.checks.expensive) > 0) return false;
    record.route = found.checks.route;
    const lines = variant.lines.concat(commonHeaders(record.secure), ['X-Request-Id', record.requestId]);
    response.writeHead(unchanged ? 304 : 200, lines);
    response.end(variant.body);
    if (bytes >= smallAnswer) {
      concurrency.hold(caller, bytes);
      record.onClose = () => concurrency.release(caller, bytes);
    }
    return true;
  };
}
