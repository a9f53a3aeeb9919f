import { mayHave } from './auth/access.ts';
import type { KnownUser } from './auth/remembered.ts';
import { strictTransport } from './headers.ts';
import type { Limiter } from './limits/limiter.ts';
import { namesTag, type PreparedAnswers } from './prepared/answers.ts';
import { bestCoding } from './prepared/coding.ts';
import { callerKey, type Exchange } from './watch/exchange.ts';

/** A request and its answer, as far as they are needed here; those of `node:http` are such. */
export interface QuickRequest {
  method?: string | undefined;
  url?: string | undefined;
  rawHeaders: string[];
}

export interface QuickResponse {
  writeHead(status: number, headers: string[]): unknown;
  end(body?: Buffer): unknown;
  end(text: string, encoding: 'latin1'): unknown;
}

export interface QuickDeps {
  answers: PreparedAnswers;
  /** The user of a token that was just verified. */
  known(token: string): KnownUser | null;
  limiter: Limiter;
}

/** Answers a request when its answer is prepared and its caller known; otherwise it is the router's. */
export type Quick = (request: QuickRequest, response: QuickResponse, exchange: Exchange) => boolean;

/** What a request says that matters here. */
interface Asked {
  authorization: string | undefined;
  coding: string | undefined;
  ifNoneMatch: string | undefined;
}

const transport = Object.entries(strictTransport).flat();

/**
 * The short way to a prepared answer, past the router: the same checks by the same functions. What is not plain in a
 * request (a body, a cookie, an origin, a header twice), and every refusal, goes the long way.
 */
export function createQuick({ answers, known, limiter }: QuickDeps): Quick {
  return (request, response, exchange) => {
    if (request.method !== 'GET' || !request.url!.startsWith('/')) return false;
    const asked = read(request.rawHeaders);
    if (asked === null) return false;
    const user = asked.authorization === undefined ? null : known(asked.authorization);
    const found = answers.glance(request.url!, user?.caller ?? null);
    if (found === undefined || !mayHave(found.access, user?.user ?? null)) return false;
    const unchanged = asked.ifNoneMatch !== undefined && namesTag(asked.ifNoneMatch, found.tag);
    const variant = unchanged ? null : found.variants.get(bestCoding(asked.coding));
    if (variant === undefined) return false;
    if (found.access !== 'public') {
      // Now and then each token and address go the long way, where sign-ins are told in the audit stream.
      if ((user!.heard.get(exchange.remote) ?? 0) < exchange.started) return false;
      exchange.tokenType = 'user';
      exchange.subject = user!.user.subject;
      exchange.organization = user!.user.organization;
    }
    if (limiter.take(callerKey(exchange), found.expensive) > 0) return false;
    exchange.route = found.route;
    const head = [...(variant ?? found.notModified).head, 'X-Request-Id', exchange.requestId];
    if (exchange.secure) head.push(...transport);
    if (variant === null) {
      response.writeHead(304, head);
      response.end();
    } else {
      response.writeHead(200, head);
      if (variant.text === null) response.end(variant.body);
      else response.end(variant.text, 'latin1');
    }
    return true;
  };
}

/** Reads the headers that matter, or gives null for a request that is not plain. */
function read(raw: string[]): Asked | null {
  const asked: Asked = { authorization: undefined, coding: undefined, ifNoneMatch: undefined };
  let hosts = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const value = raw[at + 1]!;
    switch (raw[at]!.toLowerCase()) {
      case 'host':
        if (++hosts > 1 || !/^[\w.:[\]-]+$/.test(value)) return null;
        break;
      case 'authorization':
        if (asked.authorization !== undefined || !value.startsWith('Bearer ')) return null;
        asked.authorization = value.slice(7);
        break;
      case 'accept-encoding':
        if (asked.coding !== undefined) return null;
        asked.coding = value;
        break;
      case 'if-none-match':
        if (asked.ifNoneMatch !== undefined) return null;
        asked.ifNoneMatch = value;
        break;
      case 'cookie':
      case 'origin':
      case 'transfer-encoding':
        return null;
      case 'content-length':
        if (value !== '0') return null;
    }
  }
  return hosts === 1 ? asked : null;
}
