import { randomBytes } from 'node:crypto';
import { asc, desc, eq, lte, sql } from 'drizzle-orm';
import { type AuditEvent, systemEvent } from '../audit/event.ts';
import type { AuditStream } from '../audit/stream.ts';
import { takesNoWrites, whenWritable } from '../base/faults.ts';
import { sha256 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../db/database.ts';
import { sessions } from '../db/user-tables.ts';
import type { ClientCertificates } from './certificates.ts';
import type { User } from './viewer.ts';

export const sessionCookie = 'gapstone_session';

const longestMilliseconds = 12 * 3600 * 1000;
const perUser = 10;
/** A sign-in ends a few expired sessions: all end some day, and a sign-in stays cheap. */
const endedAtOnce = 20;
/** A use is saved at most this often, so that reads rarely write. */
const writtenEvery = 60 * 1000;
/** If the clock is set back further than this, a session ends instead of lasting longer. */
const clockTolerance = 60 * 1000;

type SessionRow = typeof sessions.$inferSelect;

/** Why a session ends, with the action of its audit event; the request itself audits a sign-out. */
const endEvents = {
  logoff: null,
  idle: ['session.timeout', 'IDLE'],
  expired: ['session.timeout', 'EXPIRED'],
  certificate: ['session.end', 'CERTIFICATE'],
  replaced: ['session.renew', 'REPLACED'],
  'too many': ['session.end', 'TOO_MANY'],
} as const;
type EndReason = keyof typeof endEvents;
type End = (row: SessionRow, reason: EndReason) => void;

export type Sessions = ReturnType<typeof createSessions>;

/** What sessions go by, besides the database. */
interface SessionOptions {
  audit: Pick<AuditStream, 'must' | 'hold' | 'note' | 'stats'>;
  keyId: () => string;
  /** Minutes without a request after which a session ends (rule D43.5). */
  idleMinutes: number;
  /** Who comes in by certificate; null: nobody. */
  certificates: Pick<ClientCertificates, 'standing' | 'rightsOf'> | null;
}

/**
 * Sessions (rule D1.7): 256 random bits, of which the database stores only the SHA-256. A session ends after some idle
 * minutes, after 12 hours, with the token or the certificate that started it, or when the local issuer's key (`keyId`)
 * changes (D34.4). A user has at most ten. The transaction that ends a session without a sign-out also writes its event
 * to `audit`.
 */
export function createSessions(
  db: Database,
  now: () => Date,
  log: Log,
  { audit, keyId, idleMinutes, certificates }: SessionOptions,
) {
  const idleMilliseconds = idleMinutes * 60_000;
  const { orm } = db;
  /** The time of each session's last use in this process, by hash. */
  const lastUse = new Map<string, number>();
  const byHash = orm
    .select()
    .from(sessions)
    .where(eq(sessions.hash, sql.placeholder('hash')))
    .prepare();

  /** The hash of a cookie's value and the key id: after a change of the key it matches no session. */
  const hashOf = (secret: string) => sha256(secret + keyId());

  function whyOver(row: SessionRow): 'expired' | 'idle' | null {
    const time = now().getTime();
    const used = Math.max(Date.parse(row.usedAt), lastUse.get(row.hash) ?? 0);
    if (time >= Date.parse(row.endsAt) || time < used - clockTolerance) return 'expired';
    return time >= used + idleMilliseconds ? 'idle' : null;
  }

  function touch(row: SessionRow): void {
    const time = now().getTime();
    lastUse.set(row.hash, time);
    if (time - Date.parse(row.usedAt) < writtenEvery) return;
    const usedAt = new Date(time).toISOString();
    whenWritable(() => orm.update(sessions).set({ usedAt }).where(eq(sessions.hash, row.hash)).run());
  }

  /** Ends some expired sessions, and the user's oldest ones to make room for one more. */
  function sweep(subject: string, end: End): void {
    const before = new Date(now().getTime() - idleMilliseconds).toISOString();
    const unused = orm.select().from(sessions).where(lte(sessions.usedAt, before));
    for (const row of unused.orderBy(asc(sessions.usedAt)).limit(endedAtOnce).all()) {
      const reason = whyOver(row);
      if (reason !== null) end(row, reason);
    }
    const own = orm.select().from(sessions).where(eq(sessions.subject, subject));
    const newestFirst = own.orderBy(desc(sessions.createdAt), asc(sessions.hash)).all();
    for (const row of newestFirst.slice(perUser - 1)) end(row, 'too many');
  }

  /**
   * Runs a write which may end sessions. It audits them before the commit, so that a failing audit prevents the change,
   * records a rollback as a second event, and logs them after the commit.
   */
  async function ending<T>(write: (work: () => T) => T | Promise<T>, work: (end: End) => T): Promise<void> {
    let ended: { row: SessionRow; reason: EndReason }[] = [];
    let written: AuditEvent[] = [];
    try {
      await write(() => {
        ended = [];
        const result = work((row, reason) => {
          orm.delete(sessions).where(eq(sessions.hash, row.hash)).run();
          ended.push({ row, reason });
        });
        const events = ended.flatMap(({ row, reason }) => eventOf(row, reason) ?? []);
        if (events.length > 0) audit.must(...events);
        written = events;
        return result;
      });
    } catch (error) {
      for (const event of written) audit.note({ ...event, outcome: 'failure', reason: 'ROLLED_BACK' });
      throw error;
    }
    for (const { row, reason } of ended) {
      lastUse.delete(row.hash);
      log.info('session ended', { ...named(row), reason });
    }
  }

  /** Ends an expired session, if database and audit stream can be written now. */
  async function expire(row: SessionRow, reason: EndReason): Promise<void> {
    // Not `db.write`, whose audit event would be that of the request's own change.
    const write = (work: () => void) => db.writeNow(() => audit.hold(work, false));
    try {
      await ending(write, (end) => end(row, reason));
    } catch (error) {
      if (!takesNoWrites(error) && !audit.stats().failing) throw error;
    }
  }

  return {
    /**
     * Starts a session of a user, ends the session `former`, and gives the cookie's value. `within` is called in its
     * transaction, and may throw.
     */
    async start(user: User, former: string | undefined, within = () => {}): Promise<string> {
      const secret = randomBytes(32).toString('base64url');
      const time = now().getTime();
      const createdAt = new Date(time).toISOString();
      const { subject, email, organization, certificate = null } = user;
      const row: SessionRow = {
        // With the id of the token's key: the issuer may have a new key by now.
        hash: sha256(secret + (user.keyId ?? keyId())),
        subject,
        email,
        organization,
        entitlements: [...user.entitlements],
        createdAt,
        usedAt: createdAt,
        endsAt: new Date(Math.min(time + longestMilliseconds, user.expiresAt * 1000)).toISOString(),
        certificate,
      };
      await ending(db.write, (end) => {
        const replaced = former === undefined ? undefined : byHash.get({ hash: hashOf(former) });
        if (replaced) end(replaced, 'replaced');
        within();
        sweep(subject, end);
        orm.insert(sessions).values(row).run();
        return { id: idOf(row) };
      });
      log.info('session started', { ...named(row), endsAt: row.endsAt });
      return secret;
    },

    /** The user of a cookie's value; null for an ended session. Counts as a use of it. */
    async find(secret: string): Promise<User | null> {
      if (!/^[\w-]{43}$/.test(secret)) return null;
      const row = byHash.get({ hash: hashOf(secret) });
      if (!row) return null;
      const reason = whyOver(row);
      if (reason !== null) {
        await expire(row, reason);
        return null;
      }
      const { subject, email, certificate } = row;
      if (certificate !== null) {
        const standing = certificates?.standing(certificate) ?? 'over';
        if (standing === 'over') await expire(row, 'certificate');
        if (standing !== 'good') return null;
      }
      touch(row);
      const { organization, entitlements } = certificate === null ? row : certificates!.rightsOf(subject);
      return {
        kind: 'user',
        subject,
        email,
        organization,
        entitlements: new Set(entitlements),
        expiresAt: Math.floor(Date.parse(row.endsAt) / 1000),
        ...(certificate === null ? {} : { certificate }),
      };
    },

    async end(secret: string): Promise<void> {
      await ending(db.write, (end) => {
        const row = byHash.get({ hash: hashOf(secret) });
        if (row) end(row, 'logoff');
        return row ? { id: idOf(row) } : null;
      });
    },
  };
}

function idOf(row: { hash: string }): string {
  return row.hash.slice(0, 12);
}

function eventOf(row: SessionRow, why: EndReason): AuditEvent | null {
  const event = endEvents[why];
  if (event === null) return null;
  const [action, reason] = event;
  return systemEvent(action, null, {
    actorType: 'user',
    actor: row.subject,
    org: row.organization,
    objectType: 'session',
    objectId: idOf(row),
    reason,
  });
}

/** The log fields of a session: no secret and no name (rule S3.1). */
function named(row: SessionRow) {
  return { session: idOf(row), subjectHash: sha256(row.subject).slice(0, 12) };
}
