import { type AuditEvent, systemEvent } from '../audit/event.ts';
import type { AuditStream } from '../audit/stream.ts';
import type { EndedSession, SessionAudit } from '../auth/sessions.ts';

/** Writes ended sessions to the audit stream. */
export function createSessionAudit(
  stream: Pick<AuditStream, 'must' | 'hold' | 'note' | 'stats'>,
): SessionAudit {
  return {
    ended: (sessions) => stream.must(...sessions.map(eventOf)),
    rolledBack(sessions) {
      for (const session of sessions)
        stream.note({ ...eventOf(session), outcome: 'failure', reason: 'ROLLED_BACK' });
    },
    hold: (work) => stream.hold(work, false),
    failing: () => stream.stats().failing,
  };
}

function eventOf({ action, reason, id, subject: actor, organization: org }: EndedSession): AuditEvent {
  const object = { objectType: 'session', objectId: id };
  return systemEvent(action, null, { actorType: 'user', actor, org, ...object, reason });
}
