import { createMcpHandler } from '@modelcontextprotocol/server';
import { createPrograms, type Programs } from './tool-server.ts';

/** Who calls what in a message over HTTP. */
type Asking = Omit<Programs, 'services' | 'kept'>;

/** Gives a function that answers a message, parsed and bounded: both protocol versions, without sessions (rule D41.1). */
export function createHttpPrograms(common: Pick<Programs, 'services' | 'kept'>) {
  const handler = createMcpHandler(
    ({ authInfo }) => createPrograms({ ...common, ...(authInfo!.extra as unknown as Asking) }),
    { legacy: 'stateless', maxSubscriptions: 0, keepAliveMs: 0 },
  );
  return (request: Request, message: unknown, asking: Asking): Promise<Response> => {
    const authInfo = { token: '', clientId: '', scopes: [], extra: { ...asking } };
    return handler.fetch(request, { parsedBody: message, authInfo });
  };
}
