import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { createPrograms, type Programs } from './tool-server.ts';

/** Who calls, in a message over HTTP. */
interface Asking extends Pick<Programs, 'caller' | 'fault'> {
  /** The only tool that is called. To register ten takes longer than a call. */
  only: string | undefined;
}

/** The most servers that wait for a call: as many as are answered at a time. */
const mostIdle = 32;

/** Gives a function that answers a message, parsed and bounded: both protocol versions, without sessions (rule D41.1). */
export function createHttpPrograms(common: Pick<Programs, 'services' | 'kept'>) {
  const of = (extra: unknown) => extra as Asking;
  // A server is used again after its call. What the library allocates for a new one stays in memory until a full
  // collection, 30 KB for each call. Of the older version it keeps what the client said, so there each call has its own.
  const idle = new Set<McpServer>();
  const handler = createMcpHandler(
    ({ era, authInfo }) => {
      const [known] = idle;
      const isOld = era === 'legacy';
      const server =
        (isOld ? undefined : known) ??
        createPrograms(
          ({ http }) => ({ ...common, ...of(http!.authInfo!.extra) }),
          isOld ? of(authInfo!.extra).only : undefined,
        );
      idle.delete(server);
      if (!isOld)
        server.server.onclose = () => {
          if (idle.size < mostIdle) idle.add(server);
        };
      return server;
    },
    { legacy: 'stateless', maxSubscriptions: 0, keepAliveMs: 0 },
  );
  return (request: Request, message: unknown, asking: Asking): Promise<Response> => {
    const authInfo = { token: '', clientId: '', scopes: [], extra: { ...asking } };
    return handler.fetch(request, { parsedBody: message, authInfo });
  };
}
