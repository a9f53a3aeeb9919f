import { randomBytes } from 'node:crypto';
import { asc, desc, eq, lte, sql } from 'drizzle-orm';
import { sha256 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../db/database.ts';
import { takesNoWrites, whenWritable } from '../db/faults.ts';
import { sessions } from '../db/user-tables.ts';
import type { User } from './viewer.ts';

export const sessionCookie = 'gapstone_session';

const idleMilliseconds = 15 * 60 * 1000;
const longestMilliseconds = 12 * 3600 * 1000;
const perUser = 10;
/** How many expired sessions a sign-in ends: more than it starts, so that all end, but few, so that its cost is bounded. */
const endedAtOnce = 20;
/** A use is written to the database this often: a reader must not wait for a writer. */
const writtenEvery = 60 * 1000;
/** A clock that is set back further than this ends a session and does not prolong it. */
const clockTolerance = 60 * 1000;

type SessionRow = typeof sessions.$inferSelect;
type EndReason = 'logoff' | 'idle' | 'expired' | 'replaced' | 'too many';
type Ended = { row: SessionRow; reason: EndReason };

/** A session that ended without a request to end it, as the audit stream names it. */
export interface EndedSession {
  action: 'session.timeout' | 'session.renew' | 'session.end';
  reason: string;
  /** The beginning of the hash of its secret. */
  id: string;
  subject: string;
  organization: string | null;
}

/** How ended sessions get into the audit stream. */
export interface SessionAudit {
  /** Writes their events. Throws when they cannot be written and the policy is to stop. */
  ended(sessions: EndedSession[]): void;
  /** Writes that the transaction which ended them was rolled back. */
  rolledBack(sessions: EndedSession[]): void;
  /** Runs work while no other process appends to the stream. */
  hold(work: () => void): void;
  /** Whether the stream cannot be written now. */
  failing(): boolean;
}

const noAudit: SessionAudit = { ended() {}, rolledBack() {}, hold: (work) => work(), failing: () => false };

export type Sessions = ReturnType<typeof createSessions>;

/** What the parts of the sessions share. */
interface Context {
  db: Database;
  now: () => Date;
  log: Log;
  audit: SessionAudit;
  /** When this process last saw each session, by its hash. */
  lastUse: Map<string, number>;
  keyId: () => Promise<string>;
}

/**
 * Sessions (rule D1.7): 256 random bits, of which the database has the SHA-256 alone. A session ends after 15 idle
 * minutes, after 12 hours, with the token that started it, or when the local issuer's key changes, which `keyId` names
 * (D34.4). A user has at most ten. The transaction that ends a session unasked also writes its event to `audit`.
 */
export function createSessions(
  db: Database,
  now: () => Date,
  log: Log,
  audit: SessionAudit = noAudit,
  keyId: () => Promise<string> = async () => '',
) {
  const context: Context = { db, now, log, audit, keyId, lastUse: new Map() };
  const { orm } = db;
  const { byHash, end, sweep } = createEnds(context);
  const { whyOver, touch } = createAges(context);
  const ending = createAuditedEnds(context);

  /** The hash of a cookie's value. It includes the key: after a change of the key no session has it. */
  const hashOf = async (secret: string) => sha256(secret + (await keyId()));

  /** Ends an expired session, if the database and the audit stream can be written now. */
  async function expire(row: SessionRow, reason: EndReason): Promise<void> {
    // Not `db.write`, which may belong to a change that this request makes later.
    const write = (work: () => void) => db.sqlite.transaction(() => audit.hold(work)).immediate();
    try {
      await ending(write, (over) => end(row, reason, over));
    } catch (error) {
      if (!takesNoWrites(error) && !audit.failing()) throw error;
    }
  }

  return {
    /** Starts a session for the user of a token, ends the session `former`, and returns the cookie's value. */
    async start(user: User, former: string | undefined): Promise<string> {
      const secret = randomBytes(32).toString('base64url');
      // The key of the token: the issuer may have another by now.
      const row = newRow(sha256(secret + (user.keyId ?? '')), user, now().getTime());
      const formerHash = former === undefined ? null : await hashOf(former);
      await ending(db.write, (over) => {
        const replaced = formerHash === null ? undefined : byHash.get({ hash: formerHash });
        if (replaced) end(replaced, 'replaced', over);
        sweep(user.subject, whyOver, over);
        orm.insert(sessions).values(row).run();
        return { id: idOf(row) };
      });
      log.info('session started', { ...named(row), endsAt: row.endsAt });
      return secret;
    },

    /** The user of a cookie's value; null when the session is over. Counts as a use of the session. */
    async find(secret: string): Promise<User | null> {
      if (!/^[\w-]{43}$/.test(secret)) return null;
      const row = byHash.get({ hash: await hashOf(secret) });
      if (!row) return null;
      const reason = whyOver(row);
      if (reason !== null) {
        await expire(row, reason);
        return null;
      }
      touch(row);
      const { subject, email, organization } = row;
      const expiresAt = Math.floor(Date.parse(row.endsAt) / 1000);
      const entitlements = new Set(row.entitlements);
      return { kind: 'user', subject, email, organization, entitlements, expiresAt };
    },

    /** Ends the session of a cookie's value, if there is one. */
    async end(secret: string): Promise<void> {
      const hash = await hashOf(secret);
      await ending(db.write, (over) => {
        const row = byHash.get({ hash });
        if (row) end(row, 'logoff', over);
        return row ? { id: idOf(row) } : null;
      });
    },
  };
}

function newRow(hash: string, user: User, time: number): SessionRow {
  const { subject, email, organization } = user;
  const created = new Date(time).toISOString();
  const endsAt = new Date(Math.min(time + longestMilliseconds, user.expiresAt * 1000)).toISOString();
  const entitlements = [...user.entitlements];
  return { hash, subject, email, organization, entitlements, createdAt: created, usedAt: created, endsAt };
}

/** When a session is over, and the record of its uses. */
function createAges({ db, now, lastUse }: Context) {
  return {
    /** Why a session is over, or null. */
    whyOver(row: SessionRow): EndReason | null {
      const time = now().getTime();
      const used = Math.max(Date.parse(row.usedAt), lastUse.get(row.hash) ?? 0);
      if (time >= Date.parse(row.endsAt) || time < used - clockTolerance) return 'expired';
      return time >= used + idleMilliseconds ? 'idle' : null;
    },

    touch(row: SessionRow): void {
      const time = now().getTime();
      lastUse.set(row.hash, time);
      if (time - Date.parse(row.usedAt) < writtenEvery) return;
      const usedAt = new Date(time).toISOString();
      whenWritable(() => db.orm.update(sessions).set({ usedAt }).where(eq(sessions.hash, row.hash)).run());
    },
  };
}

/** The rows of sessions, and how they are removed inside a write. */
function createEnds({ db: { orm }, now }: Context) {
  const isHash = eq(sessions.hash, sql.placeholder('hash'));
  const byHash = orm.select().from(sessions).where(isHash).prepare();
  const remove = orm.delete(sessions).where(isHash).prepare();
  const unused = orm
    .select()
    .from(sessions)
    .where(lte(sessions.usedAt, sql.placeholder('before')))
    .orderBy(asc(sessions.usedAt))
    .limit(endedAtOnce)
    .prepare();
  const ofSubject = orm
    .select()
    .from(sessions)
    .where(eq(sessions.subject, sql.placeholder('subject')))
    .orderBy(desc(sessions.createdAt), asc(sessions.hash))
    .prepare();

  function end(row: SessionRow, reason: EndReason, over: Ended[]): void {
    remove.run({ hash: row.hash });
    over.push({ row, reason });
  }

  /** Ends some of the sessions that are over, and the oldest of a user so that there is room for one more. */
  function sweep(subject: string, whyOver: (row: SessionRow) => EndReason | null, over: Ended[]): void {
    const before = new Date(now().getTime() - idleMilliseconds).toISOString();
    for (const row of unused.all({ before })) {
      const reason = whyOver(row);
      if (reason !== null) end(row, reason, over);
    }
    for (const row of ofSubject.all({ subject }).slice(perUser - 1)) end(row, 'too many', over);
  }

  return { byHash, end, sweep };
}

/**
 * Makes the function that runs a write which ends sessions. It audits them before the commit, so that nothing is done
 * that cannot be audited; for a rollback after that it writes a second event, a failure. It logs them after the commit.
 */
function createAuditedEnds({ audit, log, lastUse }: Context) {
  return async <T>(write: (work: () => T) => T | Promise<T>, work: (over: Ended[]) => T): Promise<T> => {
    let over: Ended[] = [];
    let written: EndedSession[] = [];
    let result: T;
    try {
      result = await write(() => {
        over = [];
        const made = work(over);
        const events = over.flatMap(({ row, reason }) =>
          reason === 'logoff' ? [] : [endedSession(row, reason)],
        );
        if (events.length > 0) audit.ended(events);
        written = events;
        return made;
      });
    } catch (error) {
      audit.rolledBack(written);
      throw error;
    }
    for (const { row, reason } of over) {
      lastUse.delete(row.hash);
      log.info('session ended', { ...named(row), reason });
    }
    return result;
  };
}

/** The name of a session in logs and events: the beginning of the hash of its secret. */
function idOf(row: { hash: string }): string {
  return row.hash.slice(0, 12);
}

function endedSession(row: SessionRow, why: Exclude<EndReason, 'logoff'>): EndedSession {
  const [action, reason] = (
    {
      idle: ['session.timeout', 'IDLE'],
      expired: ['session.timeout', 'EXPIRED'],
      replaced: ['session.renew', 'REPLACED'],
      'too many': ['session.end', 'TOO_MANY'],
    } as const
  )[why];
  return { action, reason, id: idOf(row), subject: row.subject, organization: row.organization };
}

/** The fields of a session in a log line: no secret and no name (rule S3.1). */
function named(row: { hash: string; subject: string }) {
  return { session: idOf(row), subjectHash: sha256(row.subject).slice(0, 12) };
}
