import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { callerFinder, networkMatcher, plainAddress } from './addresses.ts';
import { statusOf } from './errors.ts';
import { type Connection, createConnections, readerLimits } from './limits/connections.ts';
import type { Log } from './log.ts';
import type { Quick } from './quick.ts';
import { beginExchange, type Exchange } from './watch/exchange.ts';
import type { Observer } from './watch/observer.ts';
import {
  notHttp,
  parserRefusal,
  type Refusal,
  refusalResponse,
  refusalText,
  refuse,
} from './wire/refusals.ts';
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

type Connections = ReturnType<typeof createConnections<Socket, ServerResponse, Exchange>>;
type Open = Connection<ServerResponse, Exchange>;
type Watched = IncomingMessage & { exchange?: Exchange };

const noRoom: Refusal = { code: 'UNAVAILABLE', message: 'The service has no connection left' };
const manyHeaders: Refusal = { code: 'HEADERS_TOO_LARGE', message: 'The request has too many headers' };
const noExpect: Refusal = { code: 'BAD_REQUEST', message: 'The Expect header is not supported' };
const graceMilliseconds = 30_000;
const idleMilliseconds = 1_000;
const sweepMilliseconds = 1_000;
const requestsPerConnection = 1000;
const headersPerRequest = 100;
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
      // Stands in for the Host that a request of HTTP/1.0 may lack.
      hostname: 'localhost',
      // It is called for a bad Host and for a target that is no path, in the same turn as the listener.
      errorHandler: () => refusalResponse(current!, notHttp),
    },
  );

  function begin(
    request: Watched,
    response: ServerResponse,
    { forwardedFor, forwardedProto, requestId, userAgent, traceparent }: RequestHead,
  ): Open {
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
    response.on('close', () => finish(socket, connection, response));
    return connection;
  }

  /** Sees an answer to its end, once: Node tells of none that still waited behind another when the connection died. */
  function finish(socket: Socket, connection: Open, response: ServerResponse): void {
    const exchange = connection.active.get(response);
    if (exchange === undefined) return;
    connection.active.delete(response);
    state.requests--;
    connection.waitsSince = null;
    const bytes = socket.bytesWritten - connection.counted;
    connection.counted += bytes;
    // 499 is how others write that the caller was gone before there was an answer.
    const status = exchange.status ?? (response.headersSent ? response.statusCode : 499);
    // Node calls an answer finished also when its socket was destroyed under it.
    observer.end(exchange, status, bytes, response.headersSent && socket.destroyed);
    // `end` flushes what is still on its way; `closeIdleConnections` would cut it (SECURITY 2.8).
    if (state.draining && connection.active.size === 0) socket.end();
  }

  function handle(request: Watched, response: ServerResponse): void {
    const head = readHead(request.rawHeaders);
    const connection = begin(request, response, head);
    current = request.exchange!;
    if (connection.refused) {
      refuse(request, response, current, noRoom, { 'Retry-After': '5' });
      return;
    }
    if (request.rawHeaders.length > 2 * headersPerRequest) {
      refuse(request, response, current, manyHeaders);
      return;
    }
    // Health checks of load balancers come in HTTP/1.0, where there need be none.
    if (head.hosts === 0 ? request.httpVersion !== '1.0' : head.hosts > 1 || head.host === '') {
      refuse(request, response, current, notHttp);
      return;
    }
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
  // Node would drop the last ones unsaid, and with them what a proxy says of the caller.
  server.maxHeadersCount = 0;
  server.on('drop', refused);
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    const connection = connections.add(socket, addressOf(socket), Date.now());
    if (connection.refused) refused();
    socket.on('close', () => {
      for (const response of connection.active.keys()) finish(socket, connection, response);
      connections.remove(socket);
    });
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    log.info('TLS handshake failed', { remote: addressOf(socket), reason: error.code ?? 'unknown' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    answerClientError(error, socket as Socket, connections, observer, tls !== null),
  );
  server.on('checkExpectation', (request: Watched, response: ServerResponse) => {
    begin(request, response, readHead(request.rawHeaders));
    refuse(request, response, request.exchange!, noExpect);
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
  const refusal = parserRefusal(error.code);
  const unheard = { target: '', requestId: undefined, userAgent: undefined, traceparent: undefined };
  const remote = connection?.address ?? addressOf(socket);
  const exchange = beginExchange({ method: 'unknown', remote, secure, connected: true, ...unheard });
  socket.end(refusalText(exchange, refusal));
  // Where the body of a request is at fault, the request itself is seen to its end with this status.
  if (active.length === 0) observer.end(exchange, statusOf[refusal.code], null);
  for (const [, answered] of active) answered.status = statusOf[refusal.code];
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
