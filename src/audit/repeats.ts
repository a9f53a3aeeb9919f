import type { AuditEvent } from './event.ts';

const windowMilliseconds = 60_000;

interface Repeated {
  event: AuditEvent;
  since: number;
  last: number;
  count: number;
}

/**
 * Bounds refusals: the first of a kind is written at once, repeats within a minute as one event with their count.
 * Beyond `most` kinds a minute, new ones are counted by action and reason alone.
 */
export function createRepeats(write: (event: AuditEvent) => void, now: () => Date, most = 1000) {
  const open = new Map<string, Repeated>();

  function tell({ event, since, last, count }: Repeated): void {
    if (count === 0) return;
    const detail = {
      ...event.detail,
      repeats: count,
      from: new Date(since).toISOString(),
      until: new Date(last).toISOString(),
    };
    write({ ...event, requestId: null, detail });
  }

  function flush(all = false): void {
    const time = now().getTime();
    for (const [key, repeated] of open) {
      const over = time - repeated.since >= windowMilliseconds || time < repeated.since;
      if (!all && !over) continue;
      open.delete(key);
      tell(repeated);
    }
  }

  return {
    flush,
    note(event: AuditEvent): void {
      const { actorType, actor, source, action, objectType, objectId, reason } = event;
      let key = JSON.stringify([actorType, actor, source, action, objectType, objectId, reason]);
      let kind = event;
      if (!open.has(key) && open.size >= most) {
        flush();
        if (open.size >= most) {
          key = JSON.stringify([action, reason]);
          kind = { ...event, actor: null, org: null, objectId: null, source: 'many', detail: null };
        }
      }
      const time = now().getTime();
      const former = open.get(key);
      if (former && time - former.since < windowMilliseconds && time >= former.since) {
        former.count++;
        former.last = time;
        return;
      }
      if (former) tell(former);
      open.set(key, { event: kind, since: time, last: time, count: 0 });
      write(kind);
    },
  };
}
