import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { createAudit } from '../audit/deeds.ts';
import type { AuditEvent } from '../audit/event.ts';
import { lazyAuditFile, openAuditFile } from '../audit/file.ts';
import { auditMemory } from '../audit/memory.ts';
import { ownEvent } from '../audit/resume.ts';
import { type AuditStream, createAuditStream, silentAudit } from '../audit/stream.ts';
import { createWatermark, shareTaken } from '../audit/watermark.ts';
import type { TellNewKey } from '../auth/keys.ts';
import type { Config } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { createLog, type Log } from '../base/log.ts';
import { packageVersion } from '../base/root.ts';
import type { Database } from '../db/database.ts';
import { whenWritable } from '../db/faults.ts';

const minute = 60_000;
const now = () => new Date();

function openStream(
  config: Config,
  log: Log,
  refuse: (cause: Error) => Error,
  lockTimeout: number,
  db: Database | null,
): AuditStream {
  if (config.db === ':memory:') return silentAudit;
  const memory = db === null ? {} : auditMemory(db);
  const file = lazyAuditFile(() => openAuditFile(config.auditFile, { now, lockTimeout, ...memory }));
  return createAuditStream(file, { failure: config.auditFailure, now, log, refuse, ...memory });
}

/** What a command tells of: the rest is known. */
export interface OperatorDeed {
  action: string;
  objectType: string;
  objectId?: string | null;
  org?: string | null;
  detail?: AuditEvent['detail'];
}

/** The audit stream of a command, and the events that its operator makes. */
export interface CommandAudit {
  stream: AuditStream;
  event(deed: OperatorDeed, reason?: string): AuditEvent;
  /** Does something and tells of it: inside its transaction where there is a database, before its result otherwise. */
  run<T>(db: Database | null, deed: OperatorDeed, work: () => T | Promise<T>): Promise<T>;
  close(): void;
}

/**
 * Opens the audit stream for a command, beside the database where it has one open. What cannot be audited ends the command
 * under the policy `stop`.
 */
export function openCommandAudit(
  config: Config,
  database: Database | null = null,
  lockTimeout = 5000,
): CommandAudit {
  const log = createLog('warn', (line) => process.stderr.write(line));
  const refuse = ({ message }: Error) =>
    new CommandError(
      `nothing was changed: the audit stream ${config.auditFile} cannot be written: ${message}`,
    );
  const stream = openStream(config, log, refuse, lockTimeout, database);
  const operator = accountName();
  const event = (deed: OperatorDeed, reason?: string): AuditEvent => ({
    actorType: 'operator',
    actor: operator,
    org: deed.org ?? null,
    action: deed.action,
    objectType: deed.objectType,
    objectId: deed.objectId ?? null,
    outcome: reason === undefined ? 'success' : 'failure',
    reason: reason ?? null,
    requestId: null,
    source: 'cli',
    detail: deed.detail ?? null,
  });
  return {
    stream,
    event,
    async run(db, deed, work) {
      const audit = createAudit(stream, db);
      try {
        return await audit.run(
          () => event(deed),
          async (step) => {
            const result = await work();
            if (!step.written()) await stream.tell(event(deed));
            return result;
          },
        );
      } catch (error) {
        // While nothing can be written, the stream itself counts what it refused.
        if (!stream.stats().failing) stream.note(event(deed, reasonOf(error)));
        throw error;
      } finally {
        audit.close();
      }
    },
    close: () => stream.close(),
  };
}

/** Runs one deed of a command with a stream of its own; see `CommandAudit.run`. */
export async function auditedCommand<T>(
  config: Config,
  db: Database | null,
  deed: OperatorDeed,
  work: () => T | Promise<T>,
): Promise<T> {
  // Without a database the event is written outside a transaction, where nothing needs to wait synchronously.
  const audit = openCommandAudit(config, db, db === null ? 0 : 5000);
  try {
    return await audit.run(db, deed, work);
  } finally {
    audit.close();
  }
}

/** Tells of a migration that is about to be made; for the option `onMigrate` of `openUpgraded`. */
export function auditMigration(config: Config): (from: number, to: number) => Promise<void> {
  return (from, to) =>
    auditedCommand(
      config,
      null,
      { action: 'database.migrate', objectType: 'database', detail: { from, to } },
      () => undefined,
    );
}

/**
 * Tells of a local key that is about to be put in its place, by its id; for `localKey`. Where that fails (another process
 * was first), a second event says so.
 */
export function auditNewKey(config: Config): TellNewKey {
  return (kid, publish) => {
    const deed = { action: 'local-key.create', objectType: 'local-key', objectId: kid };
    const audit = openCommandAudit(config);
    try {
      audit.stream.must(audit.event(deed));
      try {
        publish();
      } catch (error) {
        audit.stream.note(audit.event(deed, reasonOf(error)));
        throw error;
      }
    } finally {
      audit.close();
    }
  };
}

/**
 * Runs what no transaction of the database holds: the start is audited before anything is done, the end with what came
 * of it. `action` is the kind of deed, as `database.backup`.
 */
export async function auditedRun<T>(
  config: Config,
  deed: OperatorDeed,
  work: (stream: AuditStream) => T | Promise<T>,
  detailOf: (result: T) => AuditEvent['detail'],
): Promise<T> {
  const { action, ...rest } = deed;
  const audit = openCommandAudit(config);
  try {
    audit.stream.must(audit.event({ ...rest, action: `${action}-start` }));
    const result = await work(audit.stream);
    audit.stream.note(audit.event({ ...deed, detail: detailOf(result) }));
    return result;
  } catch (error) {
    // While nothing can be written, the stream itself counts what it refused.
    if (!audit.stream.stats().failing) audit.stream.note(audit.event(deed, reasonOf(error)));
    throw error;
  } finally {
    audit.close();
  }
}

/** Why something failed, as a code: the text of an error may hold what the stream must not. */
export function reasonOf(error: unknown): string {
  if (error instanceof CommandError) return 'REFUSED';
  return (error as { code?: string }).code ?? 'FAILED';
}

/** The account of the machine that runs the command; a container's user often has no name. */
function accountName(): string {
  const uid = process.getuid?.();
  if (uid === undefined) return userInfo().username;
  try {
    // Not by the C library: that would open the socket of a name service, and nothing is asked of anybody.
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const account = lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid));
    return account?.[0] || `uid ${uid}`;
  } catch {
    return `uid ${uid}`;
  }
}

export interface ServerAudit {
  stream: AuditStream;
  /** Tells of the key set, when it was read anew or could not be. */
  keysReloaded(reason: string | null): void;
  /** Tells that the service ends, and closes the stream. */
  stop(reason: string): Promise<void>;
}

/**
 * Opens the audit stream for a server and tells of its start, with a hash of its configuration. Under the policy `stop`
 * throws `CommandError` when that cannot be written: the server then does not start. Looks after the stream once a
 * minute.
 */
export async function startServerAudit(config: Config, log: Log, db: Database): Promise<ServerAudit> {
  let started = false;
  const refuse = ({ message }: Error) =>
    started
      ? new AppError(
          'UNAVAILABLE',
          'The audit stream cannot be written: requests that must be audited are refused',
          {
            'Retry-After': '30',
          },
        )
      : new CommandError(`the audit stream ${config.auditFile} cannot be written: ${message}`);
  const stream = openStream(config, log, refuse, 0, db);
  const event = (action: string, objectType: string, detail: AuditEvent['detail'], more = {}) =>
    ownEvent(action, detail, { objectType, ...more });
  await stream.tell(
    event('service.start', 'service', { version: packageVersion, policy: config.auditFailure }),
    event('config.load', 'config', { sha256: configHash(config) }),
  );
  started = true;
  rememberNow(db, stream);
  const watermark = createWatermark(stream, log, () => shareTaken(dirname(config.auditFile)));
  watermark();
  const timer = setInterval(() => {
    stream.tick();
    watermark();
  }, minute).unref();
  return {
    stream,
    keysReloaded(reason) {
      const more = reason === null ? {} : { outcome: 'failure' as const, reason: 'KEY_SET_KEPT' };
      stream.note(event('keys.reload', 'key-set', null, more));
    },
    async stop(reason) {
      clearInterval(timer);
      stream.tick(true);
      const stopped = event('service.stop', 'service', null, { reason });
      try {
        await stream.tell(stopped);
      } catch {
        // Counted and logged by the stream; a server that has to stop stops.
      }
      rememberNow(db, stream);
      stream.close();
    },
  };
}

/** Has the database know the last line although nothing else changes, unless it cannot be written right now. */
function rememberNow(db: Database, stream: AuditStream): void {
  const head = stream.head();
  if (head !== null)
    whenWritable(() => db.sqlite.transaction(() => auditMemory(db).remember(head)).immediate());
}

/** A hash by which a change of the configuration shows; no secret goes into it. */
function configHash(config: Config): string {
  return sha256(JSON.stringify({ ...config, cronSecret: config.cronSecret !== null }));
}
