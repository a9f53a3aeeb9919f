import type { AuditEvent } from './event.ts';

const windowMilliseconds = 60_000;

/**
 * Bounds refusals: the first of a kind is written at once, repeats within a minute as one event with their count.
 * Beyond `most` kinds a minute, new ones are counted by action and reason alone.
 */
export function createRepeats(write: (event: AuditEvent) => void, now: () => Date, most = 1000) {
  const open = new Map<string, { event: AuditEvent; since: number; last: number; count: number }>();

  /** Writes the counts of the kinds whose minute is over, or of all. */
  function flush(all = false): void {
    const time = now().getTime();
    for (const [key, { event, since, last, count }] of open) {
      const isOver = time - since >= windowMilliseconds || time < since;
      if (!all && !isOver) continue;
      open.delete(key);
      if (count === 0) continue;
      const [from, until] = [since, last].map((each) => new Date(each).toISOString());
      const detail = { ...event.detail, repeats: count, from: from!, until: until! };
      write({ ...event, requestId: null, detail });
    }
  }

  return {
    flush,
    note(event: AuditEvent): void {
      flush();
      const { actorType, actor, source, action, objectType, objectId, reason } = event;
      let key = JSON.stringify([actorType, actor, source, action, objectType, objectId, reason]);
      let kind = event;
      if (!open.has(key) && open.size >= most) {
        key = JSON.stringify([action, reason]);
        kind = { ...event, actor: null, org: null, objectId: null, source: 'many', detail: null };
      }
      const time = now().getTime();
      const former = open.get(key);
      if (former) {
        former.count++;
        former.last = time;
      } else {
        open.set(key, { event: kind, since: time, last: time, count: 0 });
        write(kind);
      }
    },
  };
}
