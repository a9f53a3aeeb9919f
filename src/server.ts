import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { ErrorCode } from './errors.ts';
import type { Log } from './log.ts';

/** A server that listens, and how it is stopped. */
export interface RunningServer {
  port: number;
  /** Takes no new work, lets what is under way end whole, and closes; resolves when the last connection is gone. */
  stop(): Promise<void>;
}

const graceMilliseconds = 30_000;
const idleMilliseconds = 1_000;

const serverOptions = {
  // Node answers a request without Host by itself, without a body: the router's own refusal has one.
  requireHostHeader: false,
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};

/** Listens on an address. Rejects when it cannot, for one when the port is taken. */
export function startServer(
  fetch: (request: Request) => Response | Promise<Response>,
  options: { host: string; port: number; log: Log },
): Promise<RunningServer> {
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false, errorHandler: refuse });
  const server = createServer(serverOptions, listener);
  server.maxConnections = 1000;
  server.maxRequestsPerSocket = 1000;
  server.maxHeadersCount = 100;
  const connections = trackConnections(server);
  server.on('clientError', (error, socket) => answerClientError(error, socket as Socket, connections));
  server.on('checkExpectation', (_request, response) => {
    const body = problem('BAD_REQUEST', 'The Expect header is not supported');
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    response.writeHead(400, { ...headers, Connection: 'close' }).end(body);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      const { port } = server.address() as AddressInfo;
      resolve({ port, stop: () => stop(server, connections, options.log) });
    });
  });
}

/** The error form of DECISIONS D2.1, for what arises before the router. */
function problem(code: ErrorCode, message: string): string {
  return JSON.stringify({ error: { code, message, requestId: crypto.randomUUID() } });
}

/** Answers a request that is valid HTTP and still cannot be handed to the router: a bad Host, a target that is no path. */
function refuse(): Response {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return new Response(problem('BAD_REQUEST', 'The request is not valid HTTP'), { status: 400, headers });
}

/** Gives what the HTTP parser refuses the documented form too, unless an answer is on its way already. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket, connections: Connections): void {
  const begun = [...(connections.open.get(socket) ?? [])].some((response) => response.headersSent);
  if (!socket.writable || begun) {
    socket.destroy();
    return;
  }
  const problems: Record<string, [string, ErrorCode, string]> = {
    ERR_HTTP_REQUEST_TIMEOUT: [
      '408 Request Timeout',
      'REQUEST_TIMEOUT',
      'The request took too long to arrive',
    ],
    HPE_HEADER_OVERFLOW: [
      '431 Request Header Fields Too Large',
      'HEADERS_TOO_LARGE',
      'The request headers are too large',
    ],
  };
  const fallback: [string, ErrorCode, string] = [
    '400 Bad Request',
    'BAD_REQUEST',
    'The request is not valid HTTP',
  ];
  const [status, code, message] = problems[error.code ?? ''] ?? fallback;
  const body = problem(code, message);
  const headers = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`);
}

interface Connections {
  /** The responses under way on every connection. */
  open: Map<Socket, Set<ServerResponse>>;
  draining: boolean;
}

function trackConnections(server: Server): Connections {
  const connections: Connections = { open: new Map(), draining: false };
  const { open } = connections;
  server.on('connection', (socket: Socket) => {
    open.set(socket, new Set());
    socket.on('close', () => open.delete(socket));
  });
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    const socket = response.socket;
    if (!socket) return;
    const active = open.get(socket) ?? new Set();
    open.set(socket, active.add(response));
    if (connections.draining) response.setHeader('Connection', 'close');
    response.on('close', () => {
      active.delete(response);
      // `end` flushes what is still on its way; `closeIdleConnections` would cut it (SECURITY 2.8).
      if (connections.draining && active.size === 0) socket.end();
    });
  });
  return connections;
}

function stop(server: Server, connections: Connections, log: Log): Promise<void> {
  connections.draining = true;
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      log.warn('stopping without waiting longer', { connections: connections.open.size });
      for (const socket of connections.open.keys()) socket.destroy();
    }, graceMilliseconds);
    // `close` calls it, and it cuts a connection whose response is ended but not flushed yet (SECURITY 2.8).
    server.closeIdleConnections = () => undefined;
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    for (const [socket, active] of connections.open) {
      if (active.size > 0) continue;
      socket.end();
      setTimeout(() => socket.destroy(), idleMilliseconds).unref();
    }
  });
}
