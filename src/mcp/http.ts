import { createMcpHandler, type JSONRPCResultResponse, type McpServer } from '@modelcontextprotocol/server';
import { withoutStacks } from '../base/errors.ts';
import { createPrograms, type Programs } from './tool-server.ts';

/** Who calls, in a message over HTTP. `only`: the tool that is called, as to register ten takes longer than a call. */
type Asking = Pick<Programs, 'caller' | 'fault'> & { only: string | undefined };
/** One message, with what the library makes of it and the text of the answer. */
interface Exchange extends Asking, Pick<Programs, 'taken'> {
  message?: JSONRPCResultResponse | undefined;
  text?: string | undefined;
}

/** Gives a function that answers a message, parsed and bounded: both protocol versions, without sessions (rule D41.1). */
export function createHttpPrograms(common: Pick<Programs, 'services'>) {
  const of = (authInfo?: { extra?: { exchange?: unknown } }) => authInfo!.extra!.exchange as Exchange;
  const make = (only?: string) => createPrograms(({ http }) => ({ ...common, ...of(http?.authInfo) }), only);
  // A server is used again after its call: what the library allocates for a new one, 20 KB, outlives all but a full
  // collection. In the older version a server remembers what its client said, so there each call has its own.
  const idle = new Set<McpServer>();
  const handler = createMcpHandler(
    ({ era, authInfo }) => {
      const exchange = of(authInfo);
      if (era === 'legacy') return make(exchange.only);
      const [server = make()] = idle;
      idle.delete(server);
      server.server.onclose = () => {
        if (idle.size < 32) idle.add(server);
      };
      takeResult(server, exchange);
      return server;
    },
    { legacy: 'stateless', maxSubscriptions: 0, keepAliveMs: 0 },
  );
  return async (request: Request, message: unknown, asking: Asking) => {
    const exchange: Exchange = { ...asking };
    // Copied: the library keeps the request longer than the call.
    const copy = { method: request.method, headers: new Headers(request.headers) } as Request;
    const authInfo = { token: '', clientId: '', scopes: [], extra: { exchange } };
    const response = await handler.fetch(copy, { parsedBody: message, authInfo });
    const text = written(exchange) ?? (await response.text());
    exchange.message = exchange.text = undefined;
    return { status: response.status, type: response.headers.get('Content-Type'), text };
  };
}

/** Takes the result of the next exchange as it is: the response would hold it twice more, as bytes and as a stream. */
function takeResult(server: McpServer, exchange: Exchange): void {
  exchange.taken = exchange;
  server.connect = (transport) => {
    const [send, close] = [transport.send.bind(transport), transport.close.bind(transport)];
    transport.close = () => withoutStacks(close);
    transport.send = (message, options) => {
      if (!('result' in message)) return send(message, options);
      exchange.message = message;
      return send({ ...message, result: {} }, options);
    };
    return server.server.connect(transport);
  };
}

/** The message with the text of the answer, once as text and once as structured content. */
function written({ message, text }: Exchange): string | undefined {
  if (message === undefined || text === undefined) return message && JSON.stringify(message);
  (message.result as unknown as { content: [{ text: string }] }).content[0].text = text;
  // In a text its quotation marks would be escaped.
  return JSON.stringify(message).replace('"structuredContent":{}', () => `"structuredContent":${text}`);
}
