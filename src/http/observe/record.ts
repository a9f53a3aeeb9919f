import { randomUUID } from 'node:crypto';

/** One request on its way through the service: what its log line, its metrics and its limits are made of. */
export interface RequestRecord {
  requestId: string;
  method: string;
  /** The template of the route that took it; null while none has. */
  route: string | null;
  /** As `performance.now()` has it. */
  started: number;
  /** The address of the caller, behind trusted proxies too; empty when there is no connection. */
  remote: string;
  /** Whether it came over TLS, here or at a trusted proxy. */
  secure: boolean;
  userAgent: string | undefined;
  traceparent: string | undefined;
  /** Who is calling, once that is known. */
  tokenType: 'user' | 'session' | 'integration' | 'cron' | null;
  subject: string | null;
  organization: string | null;
  /** The status that its connection was closed with, where it was not the status of its answer. */
  status: number | null;
  /** Whether the caller has the whole answer, or is gone. */
  closed: boolean;
  /** Called once when it is closed. Null where nothing needs it. */
  onClose: (() => void) | null;
  /** Whether a connection tells when it is closed; otherwise it is over with its answer. */
  connected: boolean;
}

/**
 * Begins a record of a request, of whose headers `header` gives one by its lower-case name. Its id is the caller's own
 * `X-Request-Id` where that is sane and no token, else a new one.
 */
export function beginRecord(
  arrival: Pick<RequestRecord, 'method' | 'remote' | 'secure' | 'connected'>,
  header: (name: string) => string | undefined,
): RequestRecord {
  const given = header('x-request-id') ?? '';
  const sane = /^[A-Za-z0-9_.-]{1,64}$/.test(given) && !/eyJ|gsi_/.test(given);
  const traceparent = header('traceparent') ?? '';
  const isTrace = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent);
  return {
    requestId: sane ? given : randomUUID(),
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

export function noteCaller(
  record: RequestRecord,
  by: NonNullable<RequestRecord['tokenType']>,
  viewer: { id: string; organization: string } | { subject: string; organization: string | null } | null,
): void {
  record.tokenType = by;
  record.subject = viewer && ('id' in viewer ? viewer.id : viewer.subject);
  record.organization = viewer?.organization ?? null;
}

/** The key under which a caller is limited: who it is, or else the address it comes from. */
export function callerKey(record: RequestRecord): string {
  const { subject, tokenType, remote } = record;
  if (subject === null) return addressKey(remote);
  return tokenType === 'integration' ? `integration ${subject}` : `user ${subject}`;
}

/** The key of an address: an IPv6 network of 64 bits counts as one, as whoever has it has all of it. */
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
