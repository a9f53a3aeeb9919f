import { LRUCache } from 'lru-cache';
import { sha256 } from '../../base/ids.ts';
import { type Log, withoutSecrets } from '../../base/log.ts';
import type { Metrics } from './metrics.ts';
import type { RequestRecord } from './record.ts';

export type Observer = ReturnType<typeof createObserver>;

/** The route of what no route took. */
const unmatched = 'unmatched';

/** Sees every request that is over: its log line and its metrics. Writes the line by hand: `JSON.stringify` of it would cost more than the look-up of a small answer. */
export function createObserver(log: Log, metrics: Metrics | null = null) {
  const hashes = memo((subject) => sha256(subject).slice(0, 12));
  const quoted = memo((text) => JSON.stringify(withoutSecrets(text, 200)));
  return {
    /** Says that a request is over; `bytes` were written for it, null when that is unknown. Call it once. */
    end(record: RequestRecord, status: number, bytes: number | null, aborted = false): void {
      const { route, method, tokenType, subject, organization, remote, userAgent, traceparent } = record;
      record.closed = true;
      record.onClose?.();
      record.onClose = null;
      const ms = performance.now() - record.started;
      metrics?.observe(route ?? unmatched, method, status, ms / 1000);
      if (!log.enabled('info')) return;
      let text = `"requestId":"${record.requestId}","method":${quoted(method)},"route":${
        route === null ? 'null' : quoted(route)
      },"status":${status},"durationMs":${Math.round(ms * 10) / 10}`;
      if (bytes !== null) text += `,"bytes":${bytes}`;
      if (aborted) text += ',"aborted":true';
      if (tokenType !== null) text += `,"tokenType":"${tokenType}"`;
      if (subject !== null) text += `,"subjectHash":"${hashes(subject)}"`;
      if (organization !== null) text += `,"org":${quoted(organization)}`;
      if (remote !== '') text += `,"remote":${quoted(remote)}`;
      if (userAgent !== undefined) text += `,"userAgent":${quoted(userAgent)}`;
      if (traceparent !== undefined) text += `,"traceparent":"${traceparent}"`;
      log.line('info', 'request', text);
    },
  };
}

/** Remembers what a function gave for the last thousand texts; the cache's own `memo` takes twice as long. */
function memo(work: (text: string) => string): (text: string) => string {
  const known = new LRUCache<string, string>({ max: 1000 });
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      found = work(text);
      known.set(text, found);
    }
    return found;
  };
}
