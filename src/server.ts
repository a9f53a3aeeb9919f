import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { callerFinder, networkMatcher, plainAddress } from './base/addresses.ts';
import { statusOf } from './base/errors.ts';
import type { Log } from './base/log.ts';
import type { FastPath } from './http/cache/fast-path.ts';
import { certificateOfHeader, certificateOfPeer } from './http/client-certificate.ts';
import { type Connection, createConnections, readerLimits } from './http/limits/connections.ts';
import { createHandshakeLimit, mostOfHandshake } from './http/limits/handshakes.ts';
import { createInTurn } from './http/limits/in-turn.ts';
import type { Rejection } from './http/limits/limiter.ts';
import type { Observer } from './http/observe/observer.ts';
import { addressKey, beginRecord, type RequestRecord } from './http/observe/record.ts';
import { notHttp, parserRefusal, type Refusal, refusalText, refuse } from './http/refusals.ts';
import { readHeaders, requestTarget } from './http/request.ts';

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

/** A certificate chain and its key, PEM; with `ca`, clients are asked for a certificate of these authorities. */
export interface Tls {
  cert: Buffer;
  key: Buffer;
  ca?: string;
}

export interface ServerOptions {
  host: string;
  port: number;
  log: Log;
  observer: Observer;
  /** Counts connections and handshakes that are refused. */
  rejected?: (why: Rejection) => void;
  tls?: Tls | null;
  maxConnections?: number;
  /** Seconds that a request may take to arrive. */
  requestTimeout?: number;
  /** Addresses and networks whose `X-Forwarded-For` and `X-Forwarded-Proto` the server trusts. */
  trustedProxies?: readonly string[];
  /** The header in which they hand on a client's certificate, in lower case. */
  certHeader?: string | null;
  readers?: typeof readerLimits;
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
const failed: Refusal = { code: 'INTERNAL_ERROR', message: 'Internal error' };
const noExpect: Refusal = { code: 'BAD_REQUEST', message: 'The Expect header is not supported' };
const graceMilliseconds = 30_000;
const idleMilliseconds = 1_000;
const sweepMilliseconds = 250;
const refusedMilliseconds = 500;
const keepAliveSeconds = 5;
const requestsPerConnection = 1000;
const headersPerRequest = 100;
/** Connections above the limit that get a 503; further ones are dropped. */
const refusedAtOnce = 64;

interface Context {
  options: ServerOptions;
  secure: boolean;
  connections: Connections;
  state: { draining: boolean; requests: number };
}

/** Listens on an address. Rejects when it cannot, for example when the port is in use. */
export async function startServer(
  fetch: (request: Request, record: RequestRecord) => Response | Promise<Response>,
  options: ServerOptions,
) {
  const { host, port, log, tls = null, maxConnections = 1000 } = options;
  const limits = { most: maxConnections, ...(options.readers ?? readerLimits) };
  const connections: Connections = createConnections(limits);
  const state = { draining: false, requests: 0 };
  const context: Context = { options, secure: tls !== null, connections, state };
  const requests = createRequests(context, fetch);
  const server = createNodeServer(options, requests.handle);
  // A connection that cannot be accepted must not end the others.
  server.on('error', (error) => log.error('server error', { reason: error.message }));
  server.maxConnections = maxConnections + refusedAtOnce;
  // Without it, Node drops further headers without an error, and with them what a proxy says about the caller.
  server.maxHeadersCount = 0;
  const sweepHandshakes = followConnections(server, context, requests.finish);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    log.info('TLS handshake failed', { remote: addressOf(socket), reason: error.code ?? 'unknown' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    answerClientError(error, socket as Socket, context),
  );
  server.on('checkExpectation', requests.refuseExpectation);
  const sweeper = setInterval(() => {
    sweepHandshakes();
    const cut = connections.sweep(Date.now());
    if (cut > 0) log.warn('responses cut off: their clients read too slowly', { connections: cut });
  }, sweepMilliseconds).unref();

  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** Uses another certificate and key, PEM, for new connections. Throws when they do not fit. */
    renew(fresh: Tls): void {
      if ('setSecureContext' in server) server.setSecureContext({ ...fresh, ...tlsOptions });
    },
    load: () => ({ connections: connections.open.size, requests: state.requests }),
    /** Accepts no new request, finishes those in progress, and closes; resolves when the last connection is closed. */
    async stop(): Promise<void> {
      state.draining = true;
      await stop(server, connections, log);
      clearInterval(sweeper);
    },
  };
}

type Handle = (request: Watched, response: ServerResponse) => void;

/** Without renegotiation: in TLS 1.2 each would verify the client's certificates again. */
const tlsOptions = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;

function createNodeServer({ tls = null, requestTimeout = 30 }: ServerOptions, handle: Handle) {
  const serverOptions = {
    // Node answers a request without Host by itself and without a body; the router's own refusal has one.
    requireHostHeader: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: Math.min(10, requestTimeout) * 1000,
    requestTimeout: requestTimeout * 1000,
    keepAliveTimeout: keepAliveSeconds * 1000,
    connectionsCheckingInterval: 500,
  };
  if (!tls) return createServer(serverOptions, handle);
  const { headersTimeout: handshakeTimeout } = serverOptions;
  // Whoever has none, or a bad one, is served too: a certificate is checked where somebody signs in with it.
  const asking = { requestCert: tls.ca !== undefined, rejectUnauthorized: false };
  return createTlsServer({ ...serverOptions, ...tls, ...asking, ...tlsOptions, handshakeTimeout }, handle);
}

function createRequests(
  { options, secure, connections, state }: Context,
  fetch: Parameters<typeof startServer>[0],
) {
  const { observer, fastPath, tls, log, certHeader = null } = options;
  const asksCertificates = tls?.ca !== undefined;
  const trusted = networkMatcher(options.trustedProxies ?? []);
  const findCaller = callerFinder(trusted);
  const inTurn = createInTurn<Open>();
  // It puts its own Request and Response in the place of Node's, which copy a body twice.
  const listener = getRequestListener((request, { incoming }) =>
    fetch(request, (incoming as Watched).record!),
  );

  function begin(request: Watched, response: ServerResponse, headers: ReadonlyMap<string, string>): Open {
    const forwardedFor = headers.get('x-forwarded-for');
    const socket = request.socket;
    const connection = connections.open.get(socket) ?? connections.add(socket, addressOf(socket), Date.now());
    const { address } = connection;
    const remote = forwardedFor === undefined ? address : findCaller(address, forwardedFor);
    const isSecure = secure || (headers.get('x-forwarded-proto') === 'https' && trusted(address));
    const proxied = trusted(address);
    const arrival = { method: request.method!, remote, secure: isSecure, proxied, connected: true };
    const sent = asksCertificates
      ? { certificate: () => certificateOfPeer(socket) }
      : !secure && proxied && certHeader !== null
        ? { certificate: () => certificateOfHeader(headers.get(certHeader)) }
        : null;
    const record = beginRecord({ ...arrival, ...sent }, (name) => headers.get(name));
    request.record = record;
    state.requests++;
    connection.requests++;
    connection.active.set(response, record);
    response.on('close', () => finish(socket, connection, response));
    return connection;
  }

  /** Ends a record once: when a connection closes, Node emits no event for a response that waited behind another. */
  function finish(socket: Socket, connection: Open, response: ServerResponse): void {
    const record = connection.active.get(response);
    if (record === undefined) return;
    connection.active.delete(response);
    state.requests--;
    connection.waitsSince = null;
    const bytes = socket.bytesWritten - connection.counted;
    connection.counted += bytes;
    // 499 is the usual status in logs for a client that disconnected before the response.
    const status = record.status ?? (response.headersSent ? response.statusCode : 499);
    // Node reports a response as finished also when its socket was destroyed.
    observer.end(record, status, bytes, response.headersSent && socket.destroyed);
    // `end` flushes the response first; `closeIdleConnections` would cut it (rule S2.8).
    if (state.draining && connection.active.size === 0) socket.end();
  }

  /** Outside the router nothing may throw, as when SQLite cannot read: it would end the process. */
  function guarded(request: Watched, response: ServerResponse, work: () => void): void {
    try {
      work();
    } catch (error) {
      log.error('request failed', { error: (error as Error).stack });
      const { record } = request;
      if (record === undefined || response.headersSent) request.socket.destroy();
      else refuse(request, response, record, failed);
    }
  }

  function handle(request: Watched, response: ServerResponse): void {
    guarded(request, response, () => take(request, response));
  }

  function take(request: Watched, response: ServerResponse): void {
    // Node reads on while requests wait, and they would fill the memory: so many cannot be answered any more.
    const { requests = 0 } = connections.open.get(request.socket) ?? {};
    if (requests >= 2 * requestsPerConnection) request.socket.destroy();
    if (request.socket.destroyed) return;
    const headers = readHeaders(request.rawHeaders);
    const target = requestTarget(request.url!, headers.get('host'), request.httpVersion);
    const connection = begin(request, response, headers);
    const record = request.record!;
    const isLarge = request.rawHeaders.length > 2 * headersPerRequest;
    const refusal = connection.refused ? noRoom : isLarge ? manyHeaders : null;
    if (refusal !== null || target === null) {
      refuse(request, response, record, refusal ?? notHttp);
      return;
    }
    // The router and the fast path must read the same target, whatever Host the client sends.
    request.url = target;
    const last = state.draining || connection.requests >= requestsPerConnection;
    const answersKept = () => {
      try {
        return !last && fastPath?.(request, response, record, headers);
      } catch (error) {
        if (response.headersSent) throw error;
        // The router answers, with an error if it fails too.
        log.warn('answer from the cache failed', { error: (error as Error).stack });
        return false;
      }
    };
    // Node emits all requests of a packet at once: those behind another take turns, though an answer is kept.
    const isFirst = connection.active.size === 1;
    if (isFirst && answersKept()) return;
    inTurn(connection, () => {
      // The client disconnected while the request waited.
      if (!connection.active.has(response)) return;
      guarded(request, response, () => {
        if (last) response.setHeader('Connection', 'close');
        if (!isFirst && answersKept()) return;
        request.headers.host = 'localhost';
        listener(request, response);
      });
    });
  }

  function refuseExpectation(request: Watched, response: ServerResponse): void {
    begin(request, response, readHeaders(request.rawHeaders));
    refuse(request, response, request.record!, noExpect);
  }

  return { handle, finish, refuseExpectation };
}

/**
 * Follows the connections of a server, under TLS from the handshake on, until they close. Gives a function that ends
 * the handshakes that are too large so far.
 */
function followConnections(
  server: Server,
  { options, secure, connections }: Context,
  finish: (socket: Socket, connection: Open, response: ServerResponse) => void,
): () => void {
  const { log, rejected = () => undefined } = options;
  const refused = () => rejected('connections');
  const handshakes = createHandshakeLimit();
  /** Under TLS, connections during their handshake, by the client's address and port. */
  const handshaking = new Map<string, Socket>();

  /** Closes a connection whose handshake received too much, with all handshakes of its address, and refuses that. */
  function endIfTooLarge(socket: Socket, remote: string, bytes: number): void {
    const key = addressKey(remote);
    if (!handshakes.isTooLarge(key, bytes)) return;
    socket.destroy();
    for (const each of handshaking.values()) if (addressKey(addressOf(each)) === key) each.destroy();
    rejected('handshakes');
    log.warn('TLS handshake too large: its address is refused for a minute', { remote, bytes });
  }

  const follow = (socket: Socket, connection: Open) =>
    socket.on('close', () => {
      for (const response of connection.active.keys()) finish(socket, connection, response);
      connections.remove(socket);
    });

  server.on('drop', refused);
  const startTls = server.listeners('connection');
  // In the place of Node's own listener, which would begin the handshake.
  if (secure) server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (secure && handshakes.isRefused(addressKey(addressOf(socket)))) {
      rejected('handshakes');
      socket.destroy();
      return;
    }
    if (secure) for (const start of startTls) start.call(server, socket);
    const connection = connections.add(socket, addressOf(socket), Date.now());
    if (connection.refused) refused();
    if (!secure) {
      follow(socket, connection);
      return;
    }
    const peer = peerOf(socket);
    handshaking.set(peer, socket);
    socket.on('close', () => {
      if (handshaking.delete(peer)) endIfTooLarge(socket, connection.address, socket.bytesRead);
      connections.remove(socket);
    });
  });
  server.on('secureConnection', (socket: Socket) => {
    const peer = peerOf(socket);
    const plain = handshaking.get(peer);
    const connection = plain && connections.move(plain, socket);
    handshaking.delete(peer);
    // The server closed it during the handshake, for example to make room.
    if (plain === undefined || connection === undefined) {
      socket.destroy();
      return;
    }
    follow(socket, connection);
    // In the next turn: what follows a handshake may have come with it, and counts once it is decrypted.
    setImmediate(() => endIfTooLarge(socket, connection.address, plain.bytesRead - socket.bytesRead));
  });
  return () => {
    // Its `close` counts it.
    for (const socket of handshaking.values()) if (socket.bytesRead > mostOfHandshake) socket.destroy();
  };
}

const addressOf = (socket: Socket) => plainAddress(socket.remoteAddress ?? '');
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

/**
 * Answers a request that the HTTP parser refused or that arrived too slowly, in the documented form, unless a response
 * has begun. Closes the connection soon after, whatever the client does.
 */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { connections, options: { observer }, secure }: Context,
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
  // For an error in the body of a request, the request's own record ends with this status.
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
