import { LRUCache } from 'lru-cache';
import { sha256 } from '../../base/ids.ts';
import { type Log, withoutSecrets } from '../../base/log.ts';
import type { Metrics } from './metrics.ts';
import type { RequestRecord } from './record.ts';

export type Observer = ReturnType<typeof createObserver>;

/** Probes and scrapes, which come every few seconds: they are logged at `debug` (rule D44.6). */
const probes = new Set(['/healthz', '/readyz', '/metrics']);

/** The label of requests that matched no route. */
const unmatched = 'unmatched';

/** Logs and counts each request. `JSON.stringify` of the line would cost more than a small answer. */
export function createObserver(log: Log, metrics: Metrics | null = null) {
  const hashes = memo((subject) => sha256(subject).slice(0, 12));
  const quoted = memo((text) => JSON.stringify(withoutSecrets(text, 200)));
  return {
    /** Records the end of a request; `bytes` were sent, null if unknown. Call it once. */
    end(record: RequestRecord, status: number, bytes: number | null, aborted = false): void {
      const { route, method, tokenType, subject, organization, remote, userAgent, traceparent } = record;
      record.closed = true;
      record.onClose?.();
      record.onClose = null;
      const ms = performance.now() - record.started;
      metrics?.observe(route ?? unmatched, method, status, ms / 1000);
      const level = route !== null && probes.has(route) ? 'debug' : 'info';
      if (!log.enabled(level)) return;
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
      log.line(level, 'request', text);
    },
  };
}

/** Caches the last thousand results of a function; LRUCache's own `memo` takes twice as long. */
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
