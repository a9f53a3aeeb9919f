import { sha256 } from '../base/ids.ts';
import { withoutSecrets } from '../base/log.ts';
import { escapedLine } from '../base/text.ts';

type Scalar = string | number | boolean | null;

/** Who did what, with what outcome (rule S3.2); never with a token, a secret or an e-mail address. */
export interface AuditEvent {
  /** The kind of actor: a name alone would let a user pose as an operator. */
  actorType: 'user' | 'integration' | 'operator' | 'system' | 'anonymous';
  /** The subject of a token, the id of an integration token, a system account, `system`; null if unknown. */
  actor: string | null;
  org: string | null;
  /** The kind of object and the verb, as `list.create`. */
  action: string;
  objectType: string | null;
  objectId: string | null;
  outcome: 'success' | 'denied' | 'failure';
  /** The error code; null for most successes. */
  reason: string | null;
  requestId: string | null;
  /** The client's address, or `cli`, or `service`. */
  source: string;
  detail: Record<string, Scalar | readonly string[]> | null;
}

/** An event of the service itself, changed by `more`. */
export function systemEvent(
  action: string,
  detail: AuditEvent['detail'],
  more: Partial<AuditEvent> = {},
): AuditEvent {
  return {
    actorType: 'system',
    actor: 'system',
    org: null,
    action,
    objectType: 'audit',
    objectId: null,
    outcome: 'success',
    reason: null,
    requestId: null,
    source: 'service',
    detail,
    ...more,
  };
}

/** A name from a request or answer, for an event: it may be any text, even a token, so secrets are removed. */
export function shownName(text: string): string {
  return withoutSecrets(text, maxText);
}

/** The end of a chain: number and hash of its last line. */
export interface Head {
  seq: number;
  hash: string;
}

/** The head before the first line. */
export const origin: Head = { seq: 0, hash: '0'.repeat(64) };

const maxText = 300;
const maxItems = 20;
const hashPart = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/s;

/**
 * The line of an event without newline, and the new head. The hash is SHA-256 of the line's bytes without the member
 * `hash`; they include `prevHash`, so the lines form a chain.
 */
export function lineOf(event: AuditEvent, time: Date, previous: Head): { line: string; head: Head } {
  const seq = previous.seq + 1;
  const { detail } = event;
  const stated = JSON.stringify({
    seq,
    time: time.toISOString(),
    actorType: event.actorType,
    actor: bounded(event.actor),
    org: bounded(event.org),
    action: event.action,
    objectType: event.objectType,
    objectId: bounded(event.objectId),
    outcome: event.outcome,
    reason: bounded(event.reason),
    requestId: bounded(event.requestId),
    source: bounded(event.source),
    detail: detail === null ? null : Object.fromEntries(Object.entries(detail).map(boundedEntry)),
    prevHash: previous.hash,
  });
  const body = escapedLine(stated);
  const hash = sha256(body);
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, head: { seq, hash } };
}

function bounded(text: string | null): string | null {
  return text === null || text.length <= maxText ? text : `${text.slice(0, maxText).toWellFormed()}…`;
}

function boundedEntry([name, value]: [string, Scalar | readonly string[]]) {
  if (typeof value === 'string') return [name, bounded(value)];
  return [name, Array.isArray(value) ? value.slice(0, maxItems).map(bounded) : value];
}

/** The chain data of a line. */
export interface ReadLine extends Head {
  prevHash: string;
  time: string;
  action: string;
  detail: Record<string, unknown> | null;
  holds: boolean;
}

/** Reads a line of the stream; null for any other text. */
export function readLine(line: string): ReadLine | null {
  const match = hashPart.exec(line);
  if (!match) return null;
  const body = `${match[1]}}`;
  const hash = match[2]!;
  try {
    const { seq, prevHash, time, action, detail } = JSON.parse(body) as Omit<ReadLine, 'hash' | 'holds'>;
    const sane =
      Number.isSafeInteger(seq) && seq > 0 && typeof prevHash === 'string' && typeof time === 'string';
    return sane ? { seq, prevHash, time, action, detail, hash, holds: sha256(body) === hash } : null;
  } catch {
    return null;
  }
}
