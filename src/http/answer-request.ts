import type { Context } from 'hono';
import { AppError, badRequest, callerGone, unavailable } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { notServed, readMessage, wrongParams } from '../base/json-rpc.ts';
import { type AccessDeps, isExpensive, type RouteOptions } from './access.ts';
import { notModified } from './answer.ts';
import { type AnswerCache, answerFromCache } from './cache.ts';
import type { Env } from './env.ts';
import { readForm } from './form.ts';
import {
  bodyLimits,
  createByteBudget,
  type Queue,
  type Rejected,
  smallAnswer,
  uploadBodyLimits,
  uploadSize,
} from './limits.ts';
import { callerKey } from './record.ts';
import { decodedUrl } from './request.ts';

interface AnswerDeps {
  maxBody: number;
  rejected: Rejected;
  queue: Queue;
  uploadQueue: (bytes: number) => Queue;
  cache: AnswerCache | null;
}

/** Makes the function that reads what an admitted request sends, waits for its turn, and answers it. */
export function createAnswerRequest({
  maxBody,
  rejected,
  queue,
  uploadQueue,
  cache,
}: AnswerDeps): AccessDeps['answerRequest'] {
  const bodies = createByteBudget(bodyLimits(maxBody));
  const uploadBodies = createByteBudget(uploadBodyLimits);

  /**
   * Reads the body, whose bytes count from their arrival until the request is answered. Throws 413 for more bytes than the route takes, and
   * 503 where the bodies of this caller or of all have no room.
   */
  async function withBody(c: Context<Env>, options: RouteOptions, work: () => Promise<void>): Promise<void> {
    const most = options.maxBody ?? maxBody;
    const budget = options.upload ? uploadBodies : bodies;
    const caller = callerKey(c.get('record'));
    let held = 0;
    const hold = (bytes: number) => {
      if (held + bytes > most) throw tooLarge(most);
      if (!budget.hasRoom(caller, bytes)) {
        rejected('bodies');
        throw unavailable('Too many request bodies are being received. Try again', 5);
      }
      budget.add(caller, bytes);
      held += bytes;
    };
    try {
      const stated = Number(c.req.header('Content-Length') ?? 0);
      if (stated > most) throw tooLarge(most);
      await takeBody(c, options, await readBody(c.req.raw, stated, hold));
      await work();
    } finally {
      budget.add(caller, -held);
    }
  }

  /**
   * Lets an expensive request wait for its turn, and counts a large answer until the client has received it. Throws 503
   * when too many wait, and for a caller who does not read its answers.
   */
  async function inTurn(c: Context<Env>, options: RouteOptions, work: () => Promise<void>): Promise<void> {
    const record = c.get('record');
    const caller = callerKey(record);
    const turns = options.upload && c.get('upload') ? uploadQueue(bytesOfUpload(c, options)) : queue;
    const isQueued = isExpensive(c, options.expensive);
    if (isQueued) await turns.enter(caller, record, options.made);
    else if (!turns.hasRoom(caller)) throw turns.busy();
    try {
      // The client has disconnected while the request waited.
      if (record.closed) throw callerGone();
      await work();
      const held = c.get('held');
      const isMade = held !== undefined;
      const bytes = held ?? Number(c.res.headers.get('Content-Length'));
      if (bytes >= smallAnswer && !record.closed) {
        turns.hold(caller, bytes, isMade);
        record.onClose = () => turns.release(caller, bytes, isMade);
      }
    } finally {
      if (isQueued) turns.leave();
    }
  }

  return async (c, options, access, handle) => {
    if (c.req.url.includes('%')) decodedUrl(c.req.url);
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD')
      return withBody(c, options, () => (options.unlimited ? handle() : inTurn(c, options, handle)));
    const answered = () =>
      cache && options.cached ? answerFromCache(c, cache, options, access, handle) : handle();
    await (options.unlimited ? answered() : inTurn(c, options, answered));
    notModified(c);
  };
}

/** The bytes of an upload that pick its queue, as they pick its thread. */
const bytesOfUpload = (c: Context<Env>, { upload }: RouteOptions) =>
  uploadSize(c.get('upload')) + (typeof upload === 'function' ? upload(c) : 0);

const smallBody = 64 * 1024;

const tooLarge = (most: number) =>
  new AppError('PAYLOAD_TOO_LARGE', `The request body is larger than ${most} bytes`);

/** Reads the bytes of a body; `hold` counts them, and throws where they are too many. */
async function readBody(
  request: Request,
  stated: number,
  hold: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // The adapter reads a small one without making streams.
    if (stated > 0 && stated <= smallBody) {
      hold(stated);
      return new Uint8Array(await request.arrayBuffer());
    }
    const parts: Uint8Array[] = [];
    for await (const part of request.body ?? []) {
      hold(part.byteLength);
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    // A client that disconnects is not an internal error.
    throw error instanceof AppError ? error : badRequest('The request body ended too early');
  }
}

/** Stores a body as its route takes it. Throws 400 for what is no form or no message. */
async function takeBody(
  c: Context<Env>,
  { upload, form, message: takesMessage }: RouteOptions,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  if (upload) c.set('upload', bytes);
  else if (form) c.set('form', await readForm(bytes, c.req.header('Content-Type') ?? ''));
  else if (takesMessage) {
    const message = readMessage(bytes);
    const wrong = wrongParams(message);
    const isServed = notServed(message, c.req.header('MCP-Protocol-Version')) === null;
    if (isServed && wrong !== null) throw badRequest(wrong);
    c.set('message', message);
  } else {
    // JSON, whatever its Content-Type says (rule D2.3). Invalid UTF-8 is a 400, never replaced.
    const { url, method, headers: sent } = c.req.raw;
    const headers = new Headers(sent);
    headers.set('Content-Type', 'application/json');
    c.req.raw = new Request(url, { method, headers, body: utf8Body(bytes) });
  }
}
