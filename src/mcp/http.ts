import { type AuthInfo, createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { createPrograms, type Programs } from './tool-server.ts';

/** Who calls, in a message over HTTP. */
interface Asking extends Pick<Programs, 'caller' | 'fault'> {
  /** The only tool that is called. To register ten takes longer than a call. */
  only: string | undefined;
}
/** One message, and what it was answered with. */
type Exchange = Asking & { result?: object | undefined };

/** The most servers that wait for a call: as many as are answered at a time. */
const mostIdle = 32;

/** Gives a function that answers a message, parsed and bounded: both protocol versions, without sessions (rule D41.1). */
export function createHttpPrograms(common: Pick<Programs, 'services' | 'kept'>) {
  const of = (authInfo?: AuthInfo) => authInfo!.extra!.exchange as Exchange;
  const make = (only?: string) => createPrograms(({ http }) => ({ ...common, ...of(http?.authInfo) }), only);
  // A server is used again after its call: what the library allocates for a new one, 30 KB, outlives all but a full
  // collection. In the older version a server remembers what its client said, so there each call has its own.
  const idle = new Set<McpServer>();
  const handler = createMcpHandler(
    ({ era, authInfo }) => {
      const exchange = of(authInfo);
      if (era === 'legacy') return make(exchange.only);
      const [server = make()] = idle;
      idle.delete(server);
      server.server.onclose = () => {
        if (idle.size < mostIdle) idle.add(server);
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
    const text = exchange.result ? JSON.stringify(exchange.result) : await response.text();
    exchange.result = undefined;
    return { status: response.status, type: response.headers.get('Content-Type'), text };
  };
}

/** Takes the result of the next exchange as it is: the response would hold it twice more, as bytes and as a stream. */
function takeResult(server: McpServer, exchange: Exchange): void {
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if (!('result' in message)) return send(message, options);
      exchange.result = message;
      return send({ ...message, result: {} }, options);
    };
    return server.server.connect(transport);
  };
}
