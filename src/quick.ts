import type { IncomingMessage, ServerResponse } from 'node:http';
import { mayHave } from './auth/access.ts';
import type { KnownUser } from './auth/remembered.ts';
import { strictTransport } from './headers.ts';
import { type Gate, smallAnswer } from './limits/gate.ts';
import type { Limiter } from './limits/limiter.ts';
import { namesTag, type PreparedAnswers } from './prepared/answers.ts';
import { bestCoding } from './prepared/coding.ts';
import { callerKey, type Exchange } from './watch/exchange.ts';
import type { RequestHead } from './wire/request-head.ts';
import { canSendWhole, sendWhole } from './wire/whole.ts';

export interface QuickDeps {
  answers: PreparedAnswers;
  /** The user of a token that was just verified; `last` is who asked before on the same connection. */
  known(token: string, last: KnownUser | undefined): KnownUser | null;
  limiter: Limiter;
  gate: Gate;
}

/** Answers a request when its answer is prepared and its caller known; otherwise it is the router's. */
export type Quick = (
  request: IncomingMessage,
  response: ServerResponse,
  exchange: Exchange,
  head: RequestHead,
) => boolean;

const bearer = 'Bearer ';
const transport = Object.entries(strictTransport)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/**
 * The short way to a prepared answer, past the router: the same checks by the same functions. What is not plain in a
 * request (a body, a cookie, an origin, a header twice, a connection to be closed), and every refusal, goes the long way.
 */
export function createQuick({ answers, known, limiter, gate }: QuickDeps): Quick {
  const lastOf = new WeakMap<object, KnownUser>();

  function userOf(token: string, connection: object): KnownUser | null {
    const last = lastOf.get(connection);
    const user = known(token, last);
    if (user !== null && user !== last) lastOf.set(connection, user);
    return user;
  }

  return (request, response, exchange, asked) => {
    const { authorization, special } = asked;
    if (request.method !== 'GET' || special || !request.url!.startsWith('/')) return false;
    if (request.httpVersion !== '1.1' || !/^[\w.:[\]-]+$/.test(asked.host ?? '')) return false;
    if (authorization !== undefined && !authorization.startsWith(bearer)) return false;
    const user =
      authorization === undefined ? null : userOf(authorization.slice(bearer.length), request.socket);
    const found = answers.glance(request.url!, user?.caller ?? null);
    if (found === undefined || !mayHave(found.access, user?.user ?? null)) return false;
    const unchanged = asked.ifNoneMatch !== undefined && namesTag(asked.ifNoneMatch, found.tag);
    const variant = unchanged ? null : found.variants.get(bestCoding(asked.acceptEncoding));
    if (variant === undefined || !canSendWhole(response)) return false;
    if (found.access !== 'public') {
      // Now and then each token and address go the long way, where sign-ins are told in the audit stream.
      if ((user!.heard.get(exchange.remote) ?? 0) < exchange.started) {
        lastOf.delete(request.socket);
        return false;
      }
      exchange.tokenType = 'user';
      exchange.subject = user!.user.subject;
      exchange.organization = user!.user.organization;
    }
    const caller = callerKey(exchange);
    const content = variant?.content ?? '';
    const isLarge = content.length >= smallAnswer;
    if (isLarge && !gate.hasRoom(caller)) return false;
    if (limiter.take(caller, found.expensive) > 0) return false;
    exchange.route = found.route;
    const more = `X-Request-Id: ${exchange.requestId}\r\n${exchange.secure ? transport : ''}`;
    const { head } = variant ?? found.notModified;
    sendWhole(response, variant === null ? 304 : 200, head, more, content);
    if (isLarge) {
      gate.hold(caller, content.length);
      exchange.onClose = () => gate.release(caller, content.length);
    }
    return true;
  };
}
