import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Caller } from './calls.ts';
import { createPrograms, type Programs } from './tool-server.ts';

/** Answers one message over HTTP, for a caller; `message` is the body, parsed and bounded, `only` the tool that it calls. */
export type AnswerMessage = (
  request: Request,
  message: unknown,
  only: Programs['only'],
  caller: Caller,
  fault: Programs['fault'],
) => Promise<Response>;

/** Both protocol versions, without sessions or streams that stay open (rule D41.1). */
export function createHttpPrograms(services: Programs['services']): AnswerMessage {
  const handler = createMcpHandler(
    ({ authInfo }) => createPrograms({ services, ...(authInfo!.extra as Omit<Programs, 'services'>) }),
    { legacy: 'stateless', maxSubscriptions: 0, keepAliveMs: 0 },
  );
  return (request, message, only, caller, fault) => {
    const authInfo = { token: '', clientId: '', scopes: [], extra: { caller, fault, only } };
    return handler.fetch(request, { parsedBody: message, authInfo });
  };
}
