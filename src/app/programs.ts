import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type { Ask } from '../base/ask.ts';
import { type AppError, forbidden } from '../base/errors.ts';
import { type Message, notServed } from '../base/json-rpc.ts';
import type { Access } from '../http/access.ts';
import { privateHeaders } from '../http/answer.ts';
import type { Env } from '../http/env.ts';
import { tooMany } from '../http/limits.ts';
import { callerKey } from '../http/record.ts';
import { requestOrigin } from '../http/same-origin.ts';
import type { Context } from './context.ts';

const needsUser =
  'You need a user token: send the header Authorization: Bearer TOKEN. On stdio, start gapstone mcp with --token-file';
const maxMessage = 64 * 1024;

/** Whether a message calls a tool that is much work, as its route is. */
const isCostly = ({ method, params }: Message) => method === 'tools/call' && params!.name === 'coverage';

/** `POST /mcp` for programs that reason (rule D41.1). The adapter is loaded with the first message. */
export function programRoutes(
  app: OpenAPIHono<Env>,
  access: Access,
  ask: Ask,
  options: Context,
  fault: (error: Error, requestId: string) => AppError,
): void {
  const load = async () => {
    const [{ createHttpTools }, { Refused }] = await Promise.all([
      import('../mcp/tool-server.ts'),
      import('../mcp/calls.ts'),
    ]);
    return { answerMessage: createHttpTools(), Refused };
  };
  let adapter: ReturnType<typeof load> | undefined;
  const rule = access.with({
    message: true,
    maxBody: Math.min(maxMessage, options.maxBody),
    // Not read yet when the request is counted: it counts when it is.
    expensive: (c) => isCostly(c.get('message') ?? {}),
  }).program;

  app.post('/mcp', refuseForeign(options), ...rule.middleware, async (c) => {
    const message = c.get('message');
    const refusal = notServed(message, c.req.header('MCP-Protocol-Version'));
    if (refusal !== null)
      return c.body(refusal, 404, { ...privateHeaders, 'Content-Type': 'application/json' });
    const record = c.get('record');
    const wait = isCostly(message) ? options.limiter.take(callerKey(record), true) : 0;
    if (wait > 0) throw tooMany(wait);
    adapter ??= load();
    const { answerMessage, Refused } = await adapter;
    const required = async () => {
      const user = c.get('visitor');
      if (user !== null) return user;
      record.refused = 'UNAUTHORIZED';
      throw new Refused(needsUser);
    };
    const response = await answerMessage(c.req.raw, message, {
      ask,
      caller: { catalog: required, user: required },
      fault: (error: Error) => fault(error, c.get('requestId')).message,
    });
    // The whole text: a stream would be sent after the audit event is written.
    const text = await response.text();
    const type = response.headers.get('Content-Type');
    const headers = { ...privateHeaders, ...(type === null ? {} : { 'Content-Type': type }) };
    return c.body(text, response.status as 200, {
      ...headers,
      'Content-Length': String(Buffer.byteLength(text)),
    });
  });
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Refuses pages of other origins and, on loopback, names that another site may point here (rule D41.2). */
function refuseForeign({ host: listenedTo, publicUrl, corsOrigins }: Context): MiddlewareHandler<Env> {
  const publicly = publicUrl === null ? null : new URL(publicUrl);
  const bare = listenedTo.replace(/^\[|\]$/g, '');
  const listening = bare.includes(':') ? `[${bare}]` : bare.toLowerCase();
  const names = ['localhost', '127.0.0.1', '[::1]', listening, publicly?.hostname];
  return async (c, next) => {
    const { proxied, host } = c.get('record');
    const named = host.toLowerCase().replace(/:\d+$/, '');
    if (loopback.test(bare) && !proxied && !names.includes(named))
      throw forbidden('Host must be localhost, 127.0.0.1, [::1] or that of GAPSTONE_PUBLIC_URL');
    const origin = c.req.header('Origin');
    const own = [requestOrigin(c), publicly?.origin];
    if (origin !== undefined && !corsOrigins.includes(origin) && !own.includes(origin.toLowerCase()))
      throw forbidden('This origin may not call /mcp: name it in GAPSTONE_CORS_ORIGINS');
    await next();
  };
}
