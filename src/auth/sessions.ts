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
/** How many that ran out a sign-in ends: more than it begins, so that none stays for good, and it costs the same always. */
const endedAtOnce = 20;
/** Uses are remembered in memory and written down this often: a reader must not wait for a writer. */
const writtenEvery = 60 * 1000;
/** A clock that jumped back further than this ends a session rather than prolong it. */
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

/**
 * Sessions (rule D1.7): 256 random bits of which only SHA-256 is kept, 15 minutes idle, 12 hours in all, never
 * longer than the token they were made with, nor than the local issuer's key, which `keyId` names (D34.4); at most ten for each user. `audit` hears of those that end without being
 * asked to, inside the transaction that ends them.
 */
export function createSessions(
  db: Database,
  now: () => Date,
  log: Log,
  audit: SessionAudit = noAudit,
  keyId: () => Promise<string> = async () => '',
) {
  const { orm } = db;
  const lastUse = new Map<string, number>();
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

  /**
   * Makes one write, which notes the sessions that it ends. They are audited before it is committed, so that what cannot
   * be audited is not done; what is rolled back after that is audited once more, as a failure. They are logged at the end.
   */
  async function ending<T>(write: (work: () => T) => T | Promise<T>, work: (over: Ended[]) => T): Promise<T> {
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
  }

  /** Why a session no longer holds, or null. */
  function whyOver(row: SessionRow): EndReason | null {
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

  function end(row: SessionRow, reason: EndReason, over: Ended[]): void {
    remove.run({ hash: row.hash });
    over.push({ row, reason });
  }

  /** Ends what was not used for long, some at a time, and all but the newest of a user to make room for one more. */
  function sweep(subject: string, over: Ended[]): void {
    const before = new Date(now().getTime() - idleMilliseconds).toISOString();
    for (const row of unused.all({ before })) {
      const reason = whyOver(row);
      if (reason !== null) end(row, reason, over);
    }
    for (const row of ofSubject.all({ subject }).slice(perUser - 1)) end(row, 'too many', over);
  }

  /** What is kept of a cookie's value: with another key it is that of no session. */
  const hashOf = async (secret: string) => sha256(secret + (await keyId()));

  /** Ends what has run out, if that can be written and audited now; it holds no longer in any case. */
  async function expire(row: SessionRow, reason: EndReason): Promise<void> {
    // Not by `db.write`: the request may be on its way to a change of its own, and this is not that.
    const write = (work: () => void) => db.sqlite.transaction(() => audit.hold(work)).immediate();
    try {
      await ending(write, (over) => end(row, reason, over));
    } catch (error) {
      if (!takesNoWrites(error) && !audit.failing()) throw error;
    }
  }

  return {
    /** Starts a session for a user who came with a token, and gives the cookie's value; `former` is ended. */
    async start(user: User, former: string | undefined): Promise<string> {
      const secret = randomBytes(32).toString('base64url');
      const time = now().getTime();
      const row = {
        // The key of the token, which may have been replaced since that was verified.
        hash: sha256(secret + (user.keyId ?? '')),
        subject: user.subject,
        email: user.email,
        organization: user.organization,
        entitlements: [...user.entitlements],
        createdAt: new Date(time).toISOString(),
        usedAt: new Date(time).toISOString(),
        endsAt: new Date(Math.min(time + longestMilliseconds, user.expiresAt * 1000)).toISOString(),
      };
      const formerHash = former === undefined ? null : await hashOf(former);
      await ending(db.write, (over) => {
        const replaced = formerHash === null ? undefined : byHash.get({ hash: formerHash });
        if (replaced) end(replaced, 'replaced', over);
        sweep(user.subject, over);
        orm.insert(sessions).values(row).run();
        return { id: idOf(row) };
      });
      log.info('session started', { ...named(row), endsAt: row.endsAt });
      return secret;
    },

    /** The user of a cookie's value, and counts as a use of it; null when it holds no longer. */
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
      return {
        kind: 'user',
        subject: row.subject,
        email: row.email,
        organization: row.organization,
        entitlements: new Set(row.entitlements),
        expiresAt: Math.floor(Date.parse(row.endsAt) / 1000),
      };
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

/** How a session is named where others read: the beginning of the hash of its secret. */
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

/** What a log line says of a session: no secret, and no name (rule S3.1). */
function named(row: { hash: string; subject: string }) {
  return { session: idOf(row), subjectHash: sha256(row.subject).slice(0, 12) };
}
