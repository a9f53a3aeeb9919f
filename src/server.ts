import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { callerFinder, networkMatcher, plainAddress } from './base/addresses.ts';
import { statusOf } from './base/errors.ts';
import type { Log } from './base/log.ts';
import type { FastPath } from './http/cache/fast-path.ts';
import { type Connection, createConnections, readerLimits } from './http/limits/connections.ts';
import type { Observer } from './http/observe/observer.ts';
import { beginRecord, type RequestRecord } from './http/observe/record.ts';
import { notHttp, parserRefusal, type Refusal, refusalText, refuse } from './http/refusals.ts';
import { readHeaders, requestTarget } from './http/request.ts';

/** A server that listens, and how it is stopped. */
export type RunningServer = Awaited<ReturnType<typeof startServer>>;

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
  /** The way to kept answers past the router. */
  fastPath?: FastPath;
}

type Connections = ReturnType<typeof createConnections<Socket, ServerResponse, RequestRecord>>;
type Open = Connection<ServerResponse, RequestRecord>;
type Watched = IncomingMessage & { record?: RequestRecord };

const noRoom: Refusal = {
  code: 'UNAVAILABLE',
  message: 'The service has too many connections. Try again',
  headers: { 'Retry-After': '5' },
};
const manyHeaders: Refusal = { code: 'HEADERS_TOO_LARGE', message: 'The request has too many headers' };
const noExpect: Refusal = { code: 'BAD_REQUEST', message: 'The Expect header is not supported' };
const graceMilliseconds = 30_000;
const idleMilliseconds = 1_000;
const sweepMilliseconds = 250;
/** A connection that is refused may take its answer for so long. */
const refusedMilliseconds = 500;
/** Seconds that an idle connection is kept for its next request. */
const keepAliveSeconds = 5;
const requestsPerConnection = 1000;
const headersPerRequest = 100;
/** Room above the limit for those who get a 503; past it connections are dropped. */
const refusedAtOnce = 64;

/** Listens on an address. Rejects when it cannot, for one when the port is taken. */
export async function startServer(
  fetch: (request: Request, record: RequestRecord) => Response | Promise<Response>,
  options: ServerOptions,
) {
  const {
    host,
    port,
    log,
    observer,
    fastPath,
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
  /** Under TLS, connections whose handshake is not over, by the address and port of the other side. */
  const handshaking = new Map<string, Socket>();
  /** Requests that wait behind others of their connection, in order. */
  const pipelined = new Map<Open, (() => void)[]>();
  const state = { draining: false, requests: 0 };

  const listener = getRequestListener(
    (request, { incoming }) => fetch(request, (incoming as Watched).record!),
    { overrideGlobalObjects: false },
  );

  function begin(request: Watched, response: ServerResponse, headers: ReadonlyMap<string, string>): Open {
    const forwardedFor = headers.get('x-forwarded-for');
    const socket = request.socket;
    const connection = connections.open.get(socket) ?? connections.add(socket, addressOf(socket), Date.now());
    const { address } = connection;
    const remote = forwardedFor === undefined ? address : findCaller(address, forwardedFor);
    const secure = tls !== null || (headers.get('x-forwarded-proto') === 'https' && trusted(address));
    const arrival = { method: request.method!, remote, secure, connected: true };
    const record = beginRecord(arrival, (name) => headers.get(name));
    request.record = record;
    state.requests++;
    connection.requests++;
    connection.active.set(response, record);
    response.on('close', () => finish(socket, connection, response));
    return connection;
  }

  /** Sees an answer to its end, once: Node tells of none that still waited behind another when the connection died. */
  function finish(socket: Socket, connection: Open, response: ServerResponse): void {
    const record = connection.active.get(response);
    if (record === undefined) return;
    connection.active.delete(response);
    state.requests--;
    connection.waitsSince = null;
    const bytes = socket.bytesWritten - connection.counted;
    connection.counted += bytes;
    // 499 is how others write that the caller was gone before there was an answer.
    const status = record.status ?? (response.headersSent ? response.statusCode : 499);
    // Node calls an answer finished also when its socket was destroyed under it.
    observer.end(record, status, bytes, response.headersSent && socket.destroyed);
    // `end` flushes what is still on its way; `closeIdleConnections` would cut it (rule S2.8).
    if (state.draining && connection.active.size === 0) socket.end();
  }

  /** Node gives all requests of one packet at once: of those that came behind another, one begins in each turn of the loop. */
  function oneEachTurn(connection: Open, begin: () => void): void {
    const waiting = pipelined.get(connection);
    if (waiting) waiting.push(begin);
    else if (connection.active.size === 1) begin();
    else {
      pipelined.set(connection, [begin]);
      setImmediate(beginNext, connection);
    }
  }

  function beginNext(connection: Open): void {
    const waiting = pipelined.get(connection)!;
    waiting.shift()!();
    if (waiting.length > 0) setImmediate(beginNext, connection);
    else pipelined.delete(connection);
  }

  function handle(request: Watched, response: ServerResponse): void {
    const headers = readHeaders(request.rawHeaders);
    const target = requestTarget(request.url!, headers.get('host'), request.httpVersion);
    const connection = begin(request, response, headers);
    const record = request.record!;
    const refusal = connection.refused
      ? noRoom
      : request.rawHeaders.length > 2 * headersPerRequest
        ? manyHeaders
        : null;
    if (refusal !== null || target === null) {
      refuse(request, response, record, refusal ?? notHttp);
      return;
    }
    // The router and the fast path have one idea of what is asked for, whatever the caller names as Host.
    request.url = target;
    const last = state.draining || connection.requests >= requestsPerConnection;
    oneEachTurn(connection, () => {
      // The client disconnected while the request waited.
      if (!connection.active.has(response)) return;
      if (last) response.setHeader('Connection', 'close');
      else if (fastPath?.(request, response, record, headers)) return;
      request.headers.host = 'localhost';
      listener(request, response);
    });
  }

  const serverOptions = {
    // Node answers a request without Host by itself, without a body: the router's own refusal has one.
    requireHostHeader: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: Math.min(10, requestTimeout) * 1000,
    requestTimeout: requestTimeout * 1000,
    keepAliveTimeout: keepAliveSeconds * 1000,
    connectionsCheckingInterval: 500,
  };
  const server = tls
    ? createTlsServer(
        { ...serverOptions, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: serverOptions.headersTimeout },
        handle,
      )
    : createServer(serverOptions, handle);
  server.maxConnections = maxConnections + refusedAtOnce;
  // Node would drop the last ones unsaid, and with them what a proxy says of the caller.
  server.maxHeadersCount = 0;
  server.on('drop', refused);
  /** Follows a connection that requests come on, until it is closed. */
  function follow(socket: Socket, connection: Open): void {
    socket.on('close', () => {
      for (const response of connection.active.keys()) finish(socket, connection, response);
      connections.remove(socket);
    });
  }

  server.on('connection', (socket: Socket) => {
    const connection = connections.add(socket, addressOf(socket), Date.now());
    if (connection.refused) refused();
    if (!tls) {
      follow(socket, connection);
      return;
    }
    const peer = peerOf(socket);
    handshaking.set(peer, socket);
    socket.on('close', () => {
      handshaking.delete(peer);
      connections.remove(socket);
    });
  });
  server.on('secureConnection', (socket: Socket) => {
    const plain = handshaking.get(peerOf(socket));
    const connection = plain && connections.move(plain, socket);
    // It was closed during the handshake, for one to make room.
    if (connection === undefined) socket.destroy();
    else follow(socket, connection);
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    log.info('TLS handshake failed', { remote: addressOf(socket), reason: error.code ?? 'unknown' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    answerClientError(error, socket as Socket, connections, observer, tls !== null),
  );
  server.on('checkExpectation', (request: Watched, response: ServerResponse) => {
    begin(request, response, readHeaders(request.rawHeaders));
    refuse(request, response, request.record!, noExpect);
  });
  const sweeper = setInterval(() => {
    const cut = connections.sweep(Date.now());
    if (cut > 0) log.warn('responses cut off: their clients read too slowly', { connections: cut });
  }, sweepMilliseconds).unref();

  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** Takes another certificate and key, PEM, for connections to come. Throws when they do not fit. */
    renew(fresh: Tls): void {
      if ('setSecureContext' in server) server.setSecureContext({ ...fresh, minVersion: 'TLSv1.2' });
    },
    /** Connections and requests at this moment. */
    load: () => ({ connections: connections.open.size, requests: state.requests }),
    /** Takes no new work, lets what is under way end whole, and closes; resolves when the last connection is gone. */
    async stop(): Promise<void> {
      state.draining = true;
      await stop(server, connections, log);
      clearInterval(sweeper);
    },
  };
}

const addressOf = (socket: Socket) => plainAddress(socket.remoteAddress ?? '');
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

/**
 * Gives what the HTTP parser refuses, and what takes too long to arrive, the documented form too, unless an answer is on its
 * way already; the connection is gone soon after, whatever the other side does.
 */
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
  const remote = connection?.address ?? addressOf(socket);
  const record = beginRecord({ method: 'unknown', remote, secure, connected: true }, () => undefined);
  socket.end(refusalText(record, refusal));
  setTimeout(() => socket.destroy(), refusedMilliseconds).unref();
  // Where the body of a request is at fault, the request itself is seen to its end with this status.
  if (active.length === 0) observer.end(record, statusOf[refusal.code], null);
  for (const [, answered] of active) answered.status = statusOf[refusal.code];
}

function stop(server: Server, connections: Connections, log: Log): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      log.warn('stopping without waiting any longer', { connections: connections.open.size });
      for (const socket of connections.open.keys()) socket.destroy();
    }, graceMilliseconds);
    // `close` calls it, and it cuts a connection whose response is ended but not flushed yet (rule S2.8).
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
