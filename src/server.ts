import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { callerFinder, networkMatcher, plainAddress } from './base/addresses.ts';
import { statusOf } from './base/errors.ts';
import type { Log } from './base/log.ts';
import type { Shortcut } from './http/cache.ts';
import { certificateOfHeader, certificateOfPeer } from './http/certificate.ts';
import { parserRefusal, refusalText, refuseRequest } from './http/error-answers.ts';
import { limitHandshakes } from './http/handshakes.ts';
import type { Rejected } from './http/limits.ts';
import { beginRecord, type Observer, type RequestRecord } from './http/record.ts';
import { readTarget } from './http/request.ts';

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
  /** Further connections are closed. */
  maxConnections?: number;
  /** Seconds that a request may take to arrive. */
  requestTimeout?: number;
  /** Addresses and networks whose `X-Forwarded-For` and `X-Forwarded-Proto` the server trusts. */
  trustedProxies?: readonly string[];
  /** The header in which they hand on a client's certificate, in lower case. */
  certHeader?: string | null;
  /** How slowly a client may read an answer. */
  readers?: typeof readerLimits;
  shortcut?: Shortcut;
}

interface Connection {
  address: string;
  /** Whether it comes from a trusted proxy. */
  proxied: boolean;
  /** The responses that are not finished, in the order of their requests. */
  active: Map<ServerResponse, RequestRecord>;
  /** Bytes written, as counted so far. */
  counted: number;
  /** When bytes began to wait for the client to read (ms); null while none wait. */
  waitsSince: number | null;
}

type Watched = IncomingMessage & { record?: RequestRecord };

/** The milliseconds that every client has to read what waits for it, and the bytes that it reads in each second beyond. */
const readerLimits = { graceMilliseconds: 30_000, slowestBytesPerSecond: 16 * 1024 };
const sweepMilliseconds = 250;
const stopMilliseconds = 30_000;
const idleMilliseconds = 1_000;
const refusedMilliseconds = 500;

const addressOf = (socket: Socket) => plainAddress(socket.remoteAddress ?? '');

/** Listens on an address. Rejects when it cannot, for example when the port is in use. */
export async function startServer(
  fetch: (request: Request, record: RequestRecord) => Response | Promise<Response>,
  options: ServerOptions,
) {
  const { host, port, log, observer, shortcut, tls = null, certHeader = null } = options;
  const { rejected = () => undefined, readers = readerLimits } = options;
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
    const address = addressOf(socket);
    open.set(socket, { address, proxied: trusted(address), active: new Map(), counted: 0, waitsSince: null });
    socket.on('close', () => {
      for (const response of open.get(socket)!.active.keys()) finish(socket, response);
      open.delete(socket);
    });
  }

  function begin({ method, headers, socket }: IncomingMessage, host: string): RequestRecord {
    const { address, proxied } = open.get(socket)!;
    const header = (name: string) => headers[name] as string | undefined;
    return beginRecord(
      {
        method: method!,
        host,
        remote: findCaller(address, header('x-forwarded-for')),
        secure: tls !== null || (proxied && header('x-forwarded-proto') === 'https'),
        proxied,
        certificate: () => {
          if (tls?.ca !== undefined) return certificateOfPeer(socket);
          return tls === null && proxied && certHeader !== null
            ? certificateOfHeader(header(certHeader))
            : null;
        },
      },
      header,
    );
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
    const { socket, headers } = request;
    const target = readTarget(request.url!, headers.host, request.httpVersion);
    const record = begin(request, target?.host ?? '');
    request.record = record;
    open.get(socket)!.active.set(response, record);
    if (isStopping) response.shouldKeepAlive = false;
    response.on('close', () => finish(socket, response));
    if (target === null) {
      refuseRequest(response, record, parserRefusal());
      return;
    }
    request.url = target.path;
    try {
      if (shortcut?.(request, response, record)) return;
    } catch (error) {
      // The router answers, with an error if it fails too.
      log.warn('answer from the cache failed', { error: (error as Error).stack });
    }
    // The adapter takes an absolute target as it is, whatever Host says.
    request.url = `http://${record.host}${request.url}`;
    void listener(request, response);
  }

  /** Closes the connections of clients that do not read their answers, or too slowly. */
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
   * Answers what the HTTP parser refused, or what arrived too slowly, in the documented form, unless a response has
   * begun. Closes the connection soon after, whatever the client does.
   */
  function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const active = [...(open.get(socket)?.active ?? [])];
    if (!socket.writable || active.some(([response]) => response.headersSent)) {
      socket.destroy();
      return;
    }
    const refusal = parserRefusal(error.code);
    const record = beginRecord(
      { method: 'unknown', remote: addressOf(socket), secure: tls !== null },
      () => undefined,
    );
    socket.end(refusalText(record, refusal));
    setTimeout(() => socket.destroy(), refusedMilliseconds).unref();
    // For an error in the body of a request, the request's own record ends with this status.
    if (active.length === 0) observer.end(record, statusOf[refusal.code], null);
    for (const [, answered] of active) answered.status = statusOf[refusal.code];
  }

  const server = createNodeServer(options, handle);
  const endHandshakes = tls === null ? null : limitHandshakes(server, log, rejected);
  server.on('drop', () => rejected('connections'));
  server.on(tls === null ? 'connection' : 'secureConnection', follow);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    log.info('TLS handshake failed', { remote: addressOf(socket), reason: error.code ?? 'unknown' });
  });
  server.on('clientError', (error, socket) => answerClientError(error, socket as Socket));
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
  { tls = null, requestTimeout = 30, maxConnections = 1000 }: ServerOptions,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const limits = {
    // Node answers a request without Host by itself and without a body; our own refusal has one.
    requireHostHeader: false,
    // Else Node drops the second header of a name without an error (RFC 9110 5.3).
    joinDuplicateHeaders: true,
    maxHeaderSize: 16 * 1024,
    headersTimeout: Math.min(10, requestTimeout) * 1000,
    requestTimeout: requestTimeout * 1000,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 500,
  };
  // Whoever has no certificate, or a bad one, is served too: it is checked where somebody signs in with it.
  const asking = { requestCert: tls?.ca !== undefined, rejectUnauthorized: false };
  const handshakeTimeout = limits.headersTimeout;
  const server = tls
    ? createTlsServer({ ...limits, ...tls, ...asking, ...tlsOptions, handshakeTimeout }, handle)
    : createServer(limits, handle);
  server.maxConnections = maxConnections;
  // Without it, Node drops further headers without an error, and with them what a proxy says about the caller.
  server.maxHeadersCount = 0;
  return server;
}
