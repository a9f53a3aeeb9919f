import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { callerFinder, networkMatcher, plainAddress } from './addresses.ts';
import { type ErrorCode, statusOf } from './errors.ts';
import { securityHeaders, strictTransport } from './headers.ts';
import { type Connection, createConnections, readerLimits } from './limits/connections.ts';
import type { Log } from './log.ts';
import type { Quick } from './quick.ts';
import { beginExchange, type Exchange } from './watch/exchange.ts';
import type { Observer } from './watch/observer.ts';
import { type RequestHead, readHead } from './wire/request-head.ts';
import { keepAliveSeconds } from './wire/whole.ts';

/** A server that listens, and how it is stopped. */
export interface RunningServer {
  port: number;
  /** Takes no new work, lets what is under way end whole, and closes; resolves when the last connection is gone. */
  stop(): Promise<void>;
  /** Takes another certificate and key, PEM, for connections to come. Throws when they do not fit. */
  renew(tls: Tls): void;
  /** Connections and requests at this moment. */
  load(): { connections: number; requests: number };
}

/** A certificate chain and its key, PEM. */
export interface Tls {
  cert: Buffer;
  key: Buffer;
}

export interface ServerOptions {
  host: string;
  port: number;
  log: Log;
  observer: Observer;
  /** Called for each connection that there is no room for. */
  connectionRefused?: () => void;
  tls?: Tls | null;
  maxConnections?: number;
  /** Seconds that a request may take to arrive. */
  requestTimeout?: number;
  /** Addresses and networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. */
  trustedProxies?: readonly string[];
  /** How slowly an answer may be read. */
  readers?: typeof readerLimits;
  /** The short way to answers that are prepared. */
  quick?: Quick;
}

type Connections = ReturnType<typeof createConnections<Socket, ServerResponse>>;
type Watched = IncomingMessage & { exchange?: Exchange };

const graceMilliseconds = 30_000;
const idleMilliseconds = 1_000;
const sweepMilliseconds = 1_000;
const requestsPerConnection = 1000;
/** Room above the limit for those who are told that there is none; past it connections are dropped without a word. */
const refusedAtOnce = 64;

/** Listens on an address. Rejects when it cannot, for one when the port is taken. */
export function startServer(
  fetch: (request: Request, exchange: Exchange) => Response | Promise<Response>,
  options: ServerOptions,
): Promise<RunningServer> {
  const {
    host,
    port,
    log,
    observer,
    quick,
    tls = null,
    maxConnections = 1000,
    requestTimeout = 30,
  } = options;
  const trusted = networkMatcher(options.trustedProxies ?? []);
  const findCaller = callerFinder(trusted);
  const connections: Connections = createConnections({
    most: maxConnections,
    ...(options.readers ?? readerLimits),
  });
  const refused = options.connectionRefused ?? (() => undefined);
  const state = { draining: false, requests: 0 };
  let current: Exchange | null = null;

  const listener = getRequestListener(
    (request, { incoming }) => fetch(request, (incoming as Watched).exchange!),
    {
      overrideGlobalObjects: false,
      // It is called for a bad Host and for a target that is no path, in the same turn as the listener.
      errorHandler: () => answerOf(current!, 'BAD_REQUEST', 'The request is not valid HTTP'),
    },
  );

  function begin(
    request: Watched,
    response: ServerResponse,
    { forwardedFor, forwardedProto, requestId, userAgent, traceparent }: RequestHead,
  ): Connection<ServerResponse> {
    const socket = request.socket;
    const connection = connections.open.get(socket) ?? connections.add(socket, addressOf(socket), Date.now());
    const exchange = beginExchange({
      method: request.method!,
      target: request.url!,
      remote: forwardedFor === undefined ? connection.address : findCaller(connection.address, forwardedFor),
      secure: tls !== null || (forwardedProto === 'https' && trusted(connection.address)),
      requestId,
      userAgent,
      traceparent,
      connected: true,
    });
    request.exchange = exchange;
    state.requests++;
    connection.requests++;
    connection.active.set(response, exchange);
    response.on('close', () => {
      state.requests--;
      connection.active.delete(response);
      connection.waitsSince = null;
      const bytes = socket.bytesWritten - connection.counted;
      connection.counted += bytes;
      // 499 is how others write that the caller was gone before there was an answer.
      const status = exchange.status ?? (response.headersSent ? response.statusCode : 499);
      // Node calls an answer finished also when its socket was destroyed under it.
      observer.end(exchange, status, bytes, response.headersSent && socket.destroyed);
      // `end` flushes what is still on its way; `closeIdleConnections` would cut it (SECURITY 2.8).
      if (state.draining && connection.active.size === 0) socket.end();
    });
    return connection;
  }

  function handle(request: Watched, response: ServerResponse): void {
    const head = readHead(request.rawHeaders);
    const connection = begin(request, response, head);
    if (connection.refused) {
      refuse(request, response, 'UNAVAILABLE', 'The service has no connection left', { 'Retry-After': '5' });
      return;
    }
    if (head.hosts > 1) {
      refuse(request, response, 'BAD_REQUEST', 'The request is not valid HTTP');
      return;
    }
    current = request.exchange!;
    const last = state.draining || connection.requests >= requestsPerConnection;
    if (last) response.setHeader('Connection', 'close');
    else if (quick?.(request, response, current, head)) return;
    listener(request, response);
  }

  const serverOptions = {
    // Node answers a request without Host by itself, without a body: the router's own refusal has one.
    requireHostHeader: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: Math.min(10, requestTimeout) * 1000,
    requestTimeout: requestTimeout * 1000,
    keepAliveTimeout: keepAliveSeconds * 1000,
    connectionsCheckingInterval: 1_000,
  };
  const server = tls
    ? createTlsServer({ ...serverOptions, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: 10_000 }, handle)
    : createServer(serverOptions, handle);
  server.maxConnections = maxConnections + refusedAtOnce;
  server.maxHeadersCount = 100;
  server.on('drop', refused);
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (connections.add(socket, addressOf(socket), Date.now()).refused) refused();
    socket.on('close', () => connections.remove(socket));
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    log.info('TLS handshake failed', { remote: addressOf(socket), reason: error.code ?? 'unknown' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    answerClientError(error, socket as Socket, connections, observer, tls !== null),
  );
  server.on('checkExpectation', (request: Watched, response: ServerResponse) => {
    begin(request, response, readHead(request.rawHeaders));
    refuse(request, response, 'BAD_REQUEST', 'The Expect header is not supported');
  });
  const sweeper = setInterval(() => {
    const cut = connections.sweep(Date.now());
    if (cut > 0) log.warn('answers cut: their readers took too long', { connections: cut });
  }, sweepMilliseconds).unref();

  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve({
        port: (server.address() as AddressInfo).port,
        renew(fresh) {
          if ('setSecureContext' in server) server.setSecureContext({ ...fresh, minVersion: 'TLSv1.2' });
        },
        load: () => ({ connections: connections.open.size, requests: state.requests }),
        async stop() {
          state.draining = true;
          await stop(server, connections, log);
          clearInterval(sweeper);
        },
      });
    });
  });
}

const addressOf = (socket: Socket) => plainAddress(socket.remoteAddress ?? '');

/** The error form of DECISIONS D2.1 for what never reaches the router: the body, and the headers of every answer. */
function problem(exchange: Exchange, code: ErrorCode, message: string) {
  return {
    body: JSON.stringify({ error: { code, message, requestId: exchange.requestId } }),
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Request-Id': exchange.requestId,
      ...securityHeaders,
      ...(exchange.secure ? strictTransport : {}),
    },
  };
}

function answerOf(exchange: Exchange, code: ErrorCode, message: string): Response {
  const { body, headers } = problem(exchange, code, message);
  return new Response(body, { status: statusOf[code], headers });
}

/** Answers a request by itself, and closes the connection; its body is thrown away. */
function refuse(
  request: Watched,
  response: ServerResponse,
  code: ErrorCode,
  message: string,
  more: Record<string, string> = {},
): void {
  const { body, headers } = problem(request.exchange!, code, message);
  const length = Buffer.byteLength(body);
  response.writeHead(statusOf[code], {
    ...headers,
    ...more,
    'Content-Length': length,
    Connection: 'close',
  });
  response.end(body);
  // What is still on its way would reset the connection before the answer is read.
  request.resume();
}

const parserProblems: Record<string, [reason: string, code: ErrorCode, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['Request Timeout', 'REQUEST_TIMEOUT', 'The request took too long to arrive'],
  HPE_HEADER_OVERFLOW: [
    'Request Header Fields Too Large',
    'HEADERS_TOO_LARGE',
    'The request headers are too large',
  ],
};

/** Gives what the HTTP parser refuses the documented form too, unless an answer is on its way already. */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  connections: Connections,
  observer: Observer,
  secure: boolean,
): void {
  const connection = connections.open.get(socket);
  const active = [...(connection?.active ?? [])];
  if (!socket.writable || active.some(([response]) => response.headersSent)) {
    socket.destroy();
    return;
  }
  const [reason, code, message] = parserProblems[error.code ?? ''] ?? [
    'Bad Request',
    'BAD_REQUEST',
    'The request is not valid HTTP',
  ];
  const unheard = { target: '', requestId: undefined, userAgent: undefined, traceparent: undefined };
  const remote = connection?.address ?? addressOf(socket);
  const exchange = beginExchange({ method: 'unknown', remote, secure, connected: true, ...unheard });
  const { body, headers } = problem(exchange, code, message);
  const length = Buffer.byteLength(body);
  const lines = Object.entries({ ...headers, 'Content-Length': length, Connection: 'close' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${statusOf[code]} ${reason}\r\n${head}\r\n${body}`);
  // Where the body of a request is at fault, the request itself is seen to its end with this status.
  if (active.length === 0) observer.end(exchange, statusOf[code], null);
  for (const [, answered] of active) answered.status = statusOf[code];
}

function stop(server: Server, connections: Connections, log: Log): Promise<void> {
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
    for (const [socket, { active }] of connections.open) {
      if (active.size > 0) continue;
      socket.end();
      setTimeout(() => socket.destroy(), idleMilliseconds).unref();
    }
  });
}
