import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { callerFinder, networkMatcher, plainAddress } from './base/addresses.ts';
import { AppError, badRequest, statusOf, unavailable } from './base/errors.ts';
import type { Log } from './base/log.ts';
import type { Shortcut } from './http/cache.ts';
import { certificateOfHeader, certificateOfPeer } from './http/certificate.ts';
import { parserRefusal, refusalText, refuse } from './http/error-answers.ts';
import { limitHandshakes } from './http/handshakes.ts';
import type { Rejected } from './http/limits.ts';
import { beginRecord, type Observer, type RequestRecord } from './http/record.ts';
import { readHeaders, readTarget } from './http/request.ts';

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
  rejected?: Rejected;
  tls?: Tls | null;
  maxConnections?: number;
  /** Seconds that a request may take to arrive. */
  requestTimeout?: number;
  /** Addresses and networks whose `X-Forwarded-For` and `X-Forwarded-Proto` the server trusts. */
  trustedProxies?: readonly string[];
  /** The header in which they hand on a client's certificate, in lower case. */
  certHeader?: string | null;
  readers?: typeof readerLimits;
  shortcut?: Shortcut;
}

interface Connection {
  address: string;
  /** Whether it comes from a trusted proxy. */
  proxied: boolean;
  /** The responses that are not finished, in the order of their requests. */
  active: Map<ServerResponse, RequestRecord>;
  requests: number;
  /** Accepted beyond the limit: its first request gets 503. */
  refused: boolean;
  /** Bytes written, as counted so far. */
  counted: number;
  /** When the client stopped reading the answer (ms); null while it reads. */
  waitsSince: number | null;
}

type Watched = IncomingMessage & { record?: RequestRecord };

const noRoom = unavailable('The service has too many connections. Try again', 5);
const manyHeaders = new AppError('HEADERS_TOO_LARGE', 'The request has too many headers');
const noExpect = badRequest('The Expect header is not supported');

/** The time that every client has to read an answer, and the bytes that it must then read in each second. */
const readerLimits = { graceMilliseconds: 30_000, slowestBytesPerSecond: 16 * 1024 };
const stopMilliseconds = 30_000;
const idleMilliseconds = 1_000;
const sweepMilliseconds = 250;
const refusedMilliseconds = 500;
const requestsPerConnection = 1000;
const headersPerRequest = 100;
/** Connections above the limit that get a 503; further ones are dropped. */
const refusedAtOnce = 64;

const addressOf = (socket: Socket) => plainAddress(socket.remoteAddress ?? '');

/** Listens on an address. Rejects when it cannot, for example when the port is in use. */
export async function startServer(
  fetch: (request: Request, record: RequestRecord) => Response | Promise<Response>,
  options: ServerOptions,
) {
  const { host, port, log, observer, shortcut, tls = null, maxConnections = 1000 } = options;
  const { certHeader = null, rejected = () => undefined, readers = readerLimits } = options;
  const trusted = networkMatcher(options.trustedProxies ?? []);
  const findCaller = callerFinder(trusted);
  const open = new Map<Socket, Connection>();
  let isStopping = false;

  function follow(socket: Socket): void {
    // Its handshake ended after the server began to stop.
    if (isStopping) {
      socket.destroy();
      return;
    }
    const refused = open.size >= maxConnections;
    if (refused) rejected('connections');
    const address = addressOf(socket);
    open.set(socket, {
      address,
      proxied: trusted(address),
      active: new Map(),
      requests: 0,
      refused,
      counted: 0,
      waitsSince: null,
    });
    if (refused) setTimeout(() => closeIdle(socket), refusedMilliseconds).unref();
    socket.on('close', () => {
      for (const response of open.get(socket)!.active.keys()) finish(socket, response);
      open.delete(socket);
    });
  }

  function closeIdle(socket: Socket): void {
    if (open.get(socket)?.active.size === 0) socket.destroy();
  }

  /** Begins the record of a request; false where the request was answered with a refusal. */
  function begin(request: Watched, response: ServerResponse, headers: ReadonlyMap<string, string>): boolean {
    const { socket } = request;
    const connection = open.get(socket)!;
    const { address, proxied } = connection;
    const target = readTarget(request.url!, headers.get('host'), request.httpVersion);
    const record = beginRecord(
      {
        method: request.method!,
        ...(target && { host: target.host }),
        remote: findCaller(address, headers.get('x-forwarded-for')),
        secure: tls !== null || (proxied && headers.get('x-forwarded-proto') === 'https'),
        proxied,
        connected: true,
        certificate: () => {
          if (tls?.ca !== undefined) return certificateOfPeer(socket);
          return tls === null && proxied && certHeader !== null
            ? certificateOfHeader(headers.get(certHeader))
            : null;
        },
      },
      (name) => headers.get(name),
    );
    request.record = record;
    connection.active.set(response, record);
    connection.requests++;
    if (isStopping || connection.requests >= requestsPerConnection) response.shouldKeepAlive = false;
    response.on('close', () => finish(socket, response));
    const isLarge = request.rawHeaders.length > 2 * headersPerRequest;
    const refusal = connection.refused
      ? noRoom
      : isLarge
        ? manyHeaders
        : target === null
          ? parserRefusal()
          : null;
    if (refusal !== null) refuse(request, response, record, refusal);
    else request.url = target!.path;
    return refusal === null;
  }

  /** Ends a record once: when a connection closes, Node emits no event for a response that waited behind another. */
  function finish(socket: Socket, response: ServerResponse): void {
    const connection = open.get(socket);
    const record = connection?.active.get(response);
    if (connection === undefined || record === undefined) return;
    connection.active.delete(response);
    connection.waitsSince = null;
    const bytes = socket.bytesWritten - connection.counted;
    connection.counted += bytes;
    // 499 is the usual status in logs for a client that disconnected before the response.
    const status = record.status ?? (response.headersSent ? response.statusCode : 499);
    // Node reports a response as finished also when its socket was destroyed.
    observer.end(record, status, bytes, response.headersSent && socket.destroyed);
    // `end` flushes the response first; `closeIdleConnections` would cut it (rule S2.8).
    if (isStopping && connection.active.size === 0) socket.end();
  }

  const listener = getRequestListener((request, { incoming }) =>
    fetch(request, (incoming as Watched).record!),
  );

  function handle(request: Watched, response: ServerResponse): void {
    const headers = readHeaders(request.rawHeaders);
    if (!begin(request, response, headers)) return;
    try {
      if (shortcut?.(request, response, request.record!, headers)) return;
    } catch (error) {
      // The router answers, with an error if it fails too.
      log.warn('answer from the cache failed', { error: (error as Error).stack });
    }
    // The adapter takes an absolute target as it is, whatever Host says.
    request.url = `http://${request.record!.host}${request.url}`;
    void listener(request, response);
  }

  /** Closes the connections of clients that do not read their answers. */
  function closeSlowReaders(): void {
    let closed = 0;
    for (const [socket, connection] of open) {
      const waiting = socket.writableLength;
      connection.waitsSince = waiting === 0 ? null : (connection.waitsSince ?? Date.now());
      const allowed = readers.graceMilliseconds + (waiting / readers.slowestBytesPerSecond) * 1000;
      if (connection.waitsSince === null || Date.now() - connection.waitsSince <= allowed) continue;
      socket.destroy();
      closed++;
    }
    if (closed > 0) log.warn('responses cut off: their clients read too slowly', { connections: closed });
  }

  /**
   * Answers a request that the HTTP parser refused or that arrived too slowly, in the documented form, unless a
   * response has begun. Closes the connection soon after, whatever the client does.
   */
  function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = open.get(socket);
    const active = [...(connection?.active ?? [])];
    if (!socket.writable || active.some(([response]) => response.headersSent)) {
      socket.destroy();
      return;
    }
    const refusal = parserRefusal(error.code);
    const remote = connection?.address ?? addressOf(socket);
    const arrival = { method: 'unknown', remote, secure: tls !== null, connected: true };
    const record = beginRecord(arrival, () => undefined);
    socket.end(refusalText(record, refusal));
    setTimeout(() => socket.destroy(), refusedMilliseconds).unref();
    // For an error in the body of a request, the request's own record ends with this status.
    if (active.length === 0) observer.end(record, statusOf[refusal.code], null);
    for (const [, answered] of active) answered.status = statusOf[refusal.code];
  }

  const server = createNodeServer(options, handle);
  server.maxConnections = maxConnections + refusedAtOnce;
  server.maxRequestsPerSocket = requestsPerConnection;
  // Without it, Node drops further headers without an error, and with them what a proxy says about the caller.
  server.maxHeadersCount = 0;
  server.on('drop', () => rejected('connections'));
  const endHandshakes = tls === null ? null : limitHandshakes(server, log, rejected);
  server.on(tls === null ? 'connection' : 'secureConnection', follow);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    log.info('TLS handshake failed', { remote: addressOf(socket), reason: error.code ?? 'unknown' });
  });
  server.on('clientError', (error, socket) => answerClientError(error, socket as Socket));
  server.on('checkExpectation', (request: Watched, response: ServerResponse) => {
    if (begin(request, response, readHeaders(request.rawHeaders)))
      refuse(request, response, request.record!, noExpect);
  });
  const sweeper = setInterval(closeSlowReaders, sweepMilliseconds).unref();
  server.listen(port, host);
  await once(server, 'listening');
  // A connection that cannot be accepted must not end the others.
  server.on('error', (error) => log.error('server error', { reason: error.message }));

  return {
    port: (server.address() as AddressInfo).port,
    /** Uses another certificate and key, PEM, for new connections. Throws when they do not fit. */
    renew(fresh: Tls): void {
      if ('setSecureContext' in server) server.setSecureContext({ ...fresh, ...tlsOptions });
    },
    load: () => ({
      connections: open.size,
      requests: [...open.values()].reduce((sum, { active }) => sum + active.size, 0),
    }),
    /** Accepts no new request, finishes those in progress, and closes; resolves when the last connection is closed. */
    async stop(): Promise<void> {
      isStopping = true;
      const deadline = setTimeout(() => {
        log.warn('stopping without waiting any longer', { connections: open.size });
        for (const socket of open.keys()) socket.destroy();
      }, stopMilliseconds);
      // `close` calls it, and it cuts a connection whose response is ended but not flushed yet (rule S2.8).
      server.closeIdleConnections = () => undefined;
      const closed = once(server, 'close');
      server.close();
      endHandshakes?.();
      for (const [socket, { active }] of open) {
        if (active.size > 0) continue;
        socket.end();
        setTimeout(() => socket.destroy(), idleMilliseconds).unref();
      }
      await closed;
      clearTimeout(deadline);
      clearInterval(sweeper);
    },
  };
}

/** Without renegotiation: in TLS 1.2 each would verify the client's certificates again. */
const tlsOptions = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;

function createNodeServer(
  { tls = null, requestTimeout = 30 }: ServerOptions,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const limits = {
    // Node answers a request without Host by itself and without a body; our own refusal has one.
    requireHostHeader: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: Math.min(10, requestTimeout) * 1000,
    requestTimeout: requestTimeout * 1000,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 500,
  };
  if (!tls) return createServer(limits, handle);
  // Whoever has no certificate, or a bad one, is served too: it is checked where somebody signs in with it.
  const asking = { requestCert: tls.ca !== undefined, rejectUnauthorized: false };
  const handshakeTimeout = limits.headersTimeout;
  return createTlsServer({ ...limits, ...tls, ...asking, ...tlsOptions, handshakeTimeout }, handle);
}
