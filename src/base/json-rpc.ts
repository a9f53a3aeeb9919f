import { badRequest } from './errors.ts';
import { hasPrototypeMember, isObject, refuseHeavyJson, utf8Body } from './json.ts';
import { cut } from './text.ts';

/** A request, a notification, or an answer of JSON-RPC 2.0. */
export interface Message {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
}

/** No tool has more arguments. */
const limits = { depth: 16, values: 1000 };
const members = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
/** The text that the parameters of a method must have. */
const needed = new Map([
  ['tools/call', 'name'],
  ['resources/read', 'uri'],
  ['initialize', 'protocolVersion'],
]);

/** Reads one message. Throws a 400 for what is no JSON, too deep, a batch, or no message (rule D41.1). */
export function readMessage(bytes: Uint8Array): Message {
  const text = utf8Body(bytes, 'The message');
  refuseHeavyJson(text, 'The message', limits);
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw badRequest('The message is not valid JSON');
  }
  if (Array.isArray(message)) throw badRequest('Send one message at a time: batches are not supported');
  if (hasPrototypeMember(message)) throw badRequest('The message has a member __proto__');
  if (!isObject(message) || message.jsonrpc !== '2.0') throw badRequest('The message is not JSON-RPC 2.0');
  const { id, method, params } = message;
  const unknown = Object.keys(message).find((member) => !members.includes(member));
  if (unknown !== undefined) throw badRequest(`The message has an unknown member: ${cut(unknown)}`);
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id))
    throw badRequest('id must be a text or an integer');
  const isAnswer = message.result !== undefined || message.error !== undefined;
  if (typeof method !== 'string' && !isAnswer) throw badRequest('method must be a text');
  if (params !== undefined && !isObject(params)) throw badRequest('params must be an object');
  return message;
}

const newest = '2026-07-28';
const unserved = ['initialize', 'subscriptions/listen'];

/**
 * The answer to a request of the newest protocol for a method that it does not have, or that needs subscriptions: method
 * not found, which the library answers for all other unknown methods. Null for any other message.
 */
export function notServed({ id, method = '', params }: Message, version?: string): string | null {
  const meta = params?._meta;
  const stated = isObject(meta) ? meta['io.modelcontextprotocol/protocolVersion'] : version;
  if (id === undefined || stated !== newest || !unserved.includes(method)) return null;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
}

/** What is wrong with the parameters of a method that is served, in our words; null for nothing. */
export function wrongParams({ method = '', params = {} }: Message): string | null {
  const text = needed.get(method);
  if (text !== undefined && typeof params[text] !== 'string') return `params.${text} must be a text`;
  const isCall = method === 'tools/call' && params.arguments !== undefined;
  return isCall && !isObject(params.arguments) ? 'params.arguments must be an object' : null;
}
