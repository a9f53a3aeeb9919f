import { randomUUID } from 'node:crypto';

/** One request: the data of its log line, its metrics and its limits. */
export interface RequestRecord {
  requestId: string;
  method: string;
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
  tokenType: 'user' | 'session' | 'integration' | 'cron' | 'certificate' | 'organization' | null;
  subject: string | null;
  organization: string | null;
  /** The status sent when the connection was closed, if not that of the answer. */
  status: number | null;
  /** Whether the client received the whole answer, or disconnected. */
  closed: boolean;
  onClose: (() => void) | null;
  /** The certificate that the client sent, DER; it is read where somebody signs in with it. */
  certificate: () => Uint8Array | null;
  /** Whether the server reports the end of the connection; otherwise the record ends with the answer. */
  connected: boolean;
}

/**
 * Begins the record of a request; `header` gives a header by its lower-case name. The request id is the client's
 * `X-Request-Id` if it is well formed and no token, else a new one.
 */
export function beginRecord(
  arrival: Pick<RequestRecord, 'method' | 'remote' | 'secure' | 'connected'> &
    Partial<Pick<RequestRecord, 'proxied' | 'certificate'>>,
  header: (name: string) => string | undefined,
): RequestRecord {
  const given = header('x-request-id') ?? '';
  const sane = /^[A-Za-z0-9_.-]{1,64}$/.test(given) && !/eyJ|gs[iu]_/.test(given);
  const traceparent = header('traceparent') ?? '';
  const isTrace = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent);
  return {
    requestId: sane ? given : randomUUID(),
    proxied: false,
    certificate: noCertificate,
    ...arrival,
    route: null,
    started: performance.now(),
    userAgent: header('user-agent'),
    traceparent: isTrace ? traceparent : undefined,
    tokenType: null,
    subject: null,
    organization: null,
    status: null,
    closed: false,
    onClose: null,
  };
}

const noCertificate = () => null;

export function noteCaller(
  record: RequestRecord,
  by: NonNullable<RequestRecord['tokenType']>,
  viewer: { id: string; organization: string } | { subject: string; organization: string | null } | null,
): void {
  record.tokenType = by;
  record.subject = viewer && ('id' in viewer ? viewer.id : viewer.subject);
  record.organization = viewer?.organization ?? null;
}

/** The key of a caller's limits: its identity, or its address when anonymous. */
export function callerKey(record: RequestRecord): string {
  const { subject, tokenType, remote } = record;
  if (subject === null) return addressKey(remote);
  return tokenType === 'integration' ? `integration ${subject}` : `user ${subject}`;
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
