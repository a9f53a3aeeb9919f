import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Viewer } from '../auth/viewer.ts';
import type { ErrorCode } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { type Log, withoutSecrets } from '../base/log.ts';
import type { Presence } from './limits.ts';
import type { Metrics } from './metrics.ts';

/** An authenticated caller, and the kind of credentials. */
export type Caller =
  | { by: 'user' | 'session' | 'integration' | 'certificate' | 'organization'; viewer: Viewer }
  | { by: 'cron'; viewer: null };

/** One request: the data of its log line, its metrics and its limits. */
export interface RequestRecord extends Presence {
  requestId: string;
  method: string;
  /** The host that it asks for, with its port. */
  host: string;
  /** The template of the matched route; null before the match. */
  route: string | null;
  /** When it began, from `performance.now()` (ms). */
  started: number;
  /** The client's address, behind trusted proxies too; empty without a connection. */
  remote: string;
  /** Whether it arrived over TLS, here or at a trusted proxy. */
  secure: boolean;
  /** Whether a trusted proxy sent it. */
  proxied: boolean;
  userAgent: string | undefined;
  traceparent: string | undefined;
  /** The caller, once authenticated. */
  caller: Caller | null;
  /** Whether the caller lacks the product entitlement of the route. */
  unentitled: boolean;
  /** A refusal that the status of the answer does not show (rule D41.2). */
  refused?: ErrorCode;
  /** Why the answer could not be sent to its end, where that is the server's fault. */
  fault?: Error;
  /** Why a sign-in was refused, where more is known than that it was. */
  reason?: string;
  /** The status sent when the connection was closed, if not that of the answer. */
  status: number | null;
  /** The certificate that the client sent, DER; it is read where somebody signs in with it. */
  certificate: () => Uint8Array | null;
}

type Arrival = Pick<RequestRecord, 'method' | 'remote' | 'secure'> &
  Partial<Pick<RequestRecord, 'host' | 'proxied' | 'certificate'>>;

/**
 * Begins the record of a request; `header` gives a header by its lower-case name. The request id is the client's
 * `X-Request-Id` if it is well formed and no token, else a new one.
 */
export function beginRecord(arrival: Arrival, header: (name: string) => string | undefined): RequestRecord {
  const given = header('x-request-id') ?? '';
  const sane = /^[A-Za-z0-9_.-]{1,64}$/.test(given) && !/eyJ|gs[iu]_/.test(given);
  const traceparent = header('traceparent') ?? '';
  const isTrace = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent);
  return {
    requestId: sane ? given : randomUUID(),
    host: header('host') ?? 'localhost',
    proxied: false,
    certificate: noCertificate,
    ...arrival,
    route: null,
    started: performance.now(),
    userAgent: header('user-agent'),
    traceparent: isTrace ? traceparent : undefined,
    caller: null,
    unentitled: false,
    status: null,
    closed: false,
    onClose: null,
  };
}

const noCertificate = () => null;

/** The record of the request that is being answered, for what is called without one. */
export const currentRecord = new AsyncLocalStorage<RequestRecord>();

/** The subject of a user, or the id of an integration token. */
export const nameOf = (viewer: Viewer): string => (viewer.kind === 'user' ? viewer.subject : viewer.id);

/** The key of a caller's limits: its identity, or its address when anonymous. */
export function callerKey(record: RequestRecord): string {
  const viewer = record.caller?.viewer;
  return viewer ? `${viewer.kind} ${nameOf(viewer)}` : addressKey(record.remote);
}

/** The limit key of an address. An IPv6 /64 network counts as one address, because one client usually has all of it. */
export function addressKey(address: string): string {
  if (!address.includes(':')) return `address ${address}`;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const rest = tail === '' ? 0 : tail.split(':').length;
    while (groups.length + rest < 8) groups.push('0');
  }
  return `network ${groups.slice(0, 4).join(':')}`;
}

/** Probes and scrapes, which come every few seconds: they are logged at `debug` (rule D44.6). */
const probes = new Set(['/healthz', '/readyz', '/metrics']);

export type Observer = ReturnType<typeof createObserver>;

/** Logs and counts each request. */
export function createObserver(log: Log, metrics: Metrics | null = null) {
  const hashes = new LRUCache<string, string>({ max: 1000, memoMethod: (text) => sha256(text).slice(0, 12) });
  const texts = new LRUCache<string, string>({ max: 1000, memoMethod: (text) => withoutSecrets(text, 200) });
  const cleaned = (text: string | null | undefined) => (text == null ? undefined : texts.memo(text));
  return {
    /** Records the end of a request; `bytes` were sent, null if unknown. Call it once. */
    end(record: RequestRecord, status: number, bytes: number | null, aborted = false): void {
      const { requestId, route, caller, traceparent } = record;
      record.closed = true;
      record.onClose?.();
      record.onClose = null;
      const ms = performance.now() - record.started;
      if (record.fault) log.error('request failed', { requestId, error: record.fault.stack });
      metrics?.observe(route ?? 'unmatched', record.method, status, ms / 1000);
      // JSON leaves out what is undefined.
      log.line(route !== null && probes.has(route) ? 'debug' : 'info', 'request', {
        requestId,
        method: cleaned(record.method),
        route,
        status,
        durationMs: Math.round(ms * 10) / 10,
        bytes: bytes ?? undefined,
        aborted: aborted || undefined,
        tokenType: caller?.by,
        subjectHash: caller?.viewer ? hashes.memo(nameOf(caller.viewer)) : undefined,
        org: cleaned(caller?.viewer?.organization),
        remote: cleaned(record.remote || null),
        userAgent: cleaned(record.userAgent),
        traceparent,
      });
    },
  };
}
