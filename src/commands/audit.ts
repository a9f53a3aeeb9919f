import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { createAudit } from '../audit/audited-action.ts';
import { type AuditEvent, systemEvent } from '../audit/event.ts';
import { openAuditFile } from '../audit/file.ts';
import { type AuditStream, createAuditStream, silentAudit } from '../audit/stream.ts';
import { createWatermark, shareTaken } from '../audit/watermark.ts';
import type { LogNewKey } from '../auth/keys.ts';
import type { Config } from '../base/config.ts';
import { CommandError, unavailable } from '../base/errors.ts';
import { whenWritable } from '../base/faults.ts';
import { rightsAround } from '../base/files.ts';
import { sha256 } from '../base/ids.ts';
import { createLog, type Log } from '../base/log.ts';
import { packageVersion } from '../base/root.ts';
import { auditMemory } from '../db/audit-memory.ts';
import type { Database } from '../db/database.ts';
import { openUpgraded, openUsersUpgraded, type UpgradeOptions, upgradeFiles } from '../db/upgrade.ts';
import { tell } from './command.ts';

const minute = 60_000;
const now = () => new Date();
const service = { objectType: 'service' };

function openStream(
  config: Config,
  log: Log,
  refuse: (cause: Error) => Error,
  lockTimeout: number,
  db: Database | null,
): AuditStream {
  if (config.db === ':memory:') return silentAudit;
  const memory = db === null ? {} : auditMemory(db);
  const file = openAuditFile(config.auditFile, { now, lockTimeout, ...memory });
  return createAuditStream(file, { failure: config.auditFailure, now, log, refuse, ...memory });
}

/** What a command states of its audit event; the rest is filled in. */
export type OperatorEvent = Pick<AuditEvent, 'action' | 'objectType'> &
  Partial<Pick<AuditEvent, 'objectId' | 'org' | 'detail'>>;

/** The audit stream of a command, and its operator's events; a `reason` makes a failure. */
export interface CommandAudit {
  stream: AuditStream;
  event(event: OperatorEvent, reason?: string): AuditEvent;
}

/** Runs a command's work with the audit stream, and logs `failure` when it throws. */
export async function withCommandAudit<T>(
  config: Config,
  db: Database | null,
  failure: OperatorEvent,
  work: (audit: CommandAudit) => T | Promise<T>,
  lockTimeout = 5000,
): Promise<T> {
  const log = createLog('warn', (line) => process.stderr.write(line));
  const refuse = (error: Error) =>
    new CommandError(
      `nothing was changed: the audit stream ${config.auditFile} cannot be written: ${error.message}${rightsAround(config.auditFile, error)}`,
    );
  const stream = openStream(config, log, refuse, lockTimeout, db);
  const operator = { actorType: 'operator' as const, actor: accountName(), source: 'cli' };
  const event = ({ action, detail = null, ...rest }: OperatorEvent, reason?: string) =>
    systemEvent(action, detail, {
      ...operator,
      ...rest,
      ...(reason === undefined ? {} : { outcome: 'failure', reason }),
    });
  try {
    return await work({ stream, event });
  } catch (error) {
    // While the stream cannot write, it counts its refusals itself.
    if (!stream.stats().failing) stream.note(event(failure, reasonOf(error)));
    throw error;
  } finally {
    stream.close();
  }
}

/** Runs work and logs it: inside its transaction where there is a database, otherwise before giving the result. */
export function auditedCommand<T>(
  config: Config,
  db: Database | null,
  done: OperatorEvent,
  work: () => T | Promise<T>,
): Promise<T> {
  const logged = async ({ stream, event }: CommandAudit) => {
    const audit = createAudit(stream, db);
    try {
      return await audit.run(
        () => event(done),
        async (step) => {
          const result = await work();
          if (!step.written()) await stream.tell(event(done));
          return result;
        },
      );
    } finally {
      audit.close();
    }
  };
  // Without a database no transaction is open, so nothing needs to wait synchronously.
  return withCommandAudit(config, db, done, logged, db === null ? 0 : 5000);
}

/** Opens a command's files, upgrading them if needed, which is audited and printed. Throws `CommandError`. */
export function openForCommand(config: Config, options: UpgradeOptions = {}): Promise<Database> {
  return openUpgraded(config, { ...options, say: tell, onMigrate: auditMigration(config) });
}

/** The same for users' data alone; there may be no catalog yet. */
export function openUsersForCommand(config: Config, options: UpgradeOptions = {}) {
  return openUsersUpgraded(config.usersDb, { ...options, say: tell, onMigrate: auditMigration(config) });
}

/** Opens or creates users' data for `work`; does nothing in memory. Throws `CommandError`. */
export async function withUsers(
  config: Config,
  work: (users: Awaited<ReturnType<typeof openUsersForCommand>>) => void,
): Promise<void> {
  if (config.usersDb === ':memory:') return;
  using users = await openUsersForCommand(config);
  work(users);
}

/** Upgrades both files, or neither, before the command uses one of them. Throws `CommandError`. */
export function upgradeForCommand(config: Config): Promise<void> {
  return upgradeFiles(config, { say: tell, onMigrate: auditMigration(config) });
}

function auditMigration(config: Config) {
  const objectType = 'database';
  return (from: number, to: number) =>
    auditedCommand(config, null, { action: 'database.migrate', objectType, detail: { from, to } }, () => {});
}

/** Logs a new local key just before it is saved; a second event says that saving failed. */
export function auditNewKey(config: Config): LogNewKey {
  return (kid, publish) => {
    const created = { action: 'local-key.create', objectType: 'local-key', objectId: kid };
    return withCommandAudit(config, null, created, ({ stream, event }) => {
      stream.must(event(created));
      publish();
    });
  };
}

/** Runs work without a transaction: audits its start (`<action>-start`) and its end with the result. */
export function auditedRun<T>(
  config: Config,
  done: OperatorEvent,
  work: (stream: AuditStream) => T | Promise<T>,
  detailOf: (result: T) => AuditEvent['detail'],
): Promise<T> {
  return withCommandAudit(config, null, done, async ({ stream, event }) => {
    stream.must(event({ ...done, action: `${done.action}-start` }));
    const result = await work(stream);
    stream.note(event({ ...done, detail: detailOf(result) }));
    return result;
  });
}

/** A failure as a code: the text of an error may contain secrets. */
export function reasonOf(error: unknown): string {
  if (error instanceof CommandError) return 'REFUSED';
  return (error as { code?: string }).code ?? 'FAILED';
}

/** The system account that runs the command; a container's user often has no name. */
function accountName(): string {
  const uid = process.getuid?.();
  if (uid === undefined) return userInfo().username;
  try {
    // Not through the C library, which would open the socket of a name service.
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const account = lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid));
    return account?.[0] || `uid ${uid}`;
  } catch {
    return `uid ${uid}`;
  }
}

export type ServerAudit = Awaited<ReturnType<typeof startServerAudit>>;

/**
 * Opens the audit stream for a server, logs its start with a hash of the configuration, and checks the stream every
 * minute. Under the policy `stop` throws `CommandError` when it cannot be written, so that the server does not start.
 */
export async function startServerAudit(config: Config, log: Log, db: Database) {
  let started = false;
  const refuse = ({ message }: Error) =>
    started
      ? unavailable('The audit stream cannot be written: requests that must be audited are refused', 30)
      : new CommandError(`the audit stream ${config.auditFile} cannot be written: ${message}`);
  const stream = openStream(config, log, refuse, 0, db);
  await stream.tell(
    systemEvent('service.start', { version: packageVersion, policy: config.auditFailure }, service),
    systemEvent('config.load', { sha256: configHash(config) }, { objectType: 'config' }),
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
    keysReloaded(reason: string | null): void {
      const kept = reason === null ? {} : { outcome: 'failure' as const, reason: 'KEY_SET_KEPT' };
      stream.note(systemEvent('keys.reload', null, { objectType: 'key-set', ...kept }));
    },
    async stop(reason: string): Promise<void> {
      clearInterval(timer);
      stream.tick(true);
      try {
        await stream.tell(systemEvent('service.stop', null, { ...service, reason }));
      } catch {
        // The stream has counted and logged the failure; the server stops anyway.
      }
      rememberNow(db, stream);
      stream.close();
    },
  };
}

/** Records the last line in the database without another change, if it can be written now. */
function rememberNow(db: Database, stream: AuditStream): void {
  const head = stream.head();
  if (head !== null) whenWritable(() => db.writeNow(() => auditMemory(db).remember(head)));
}

/** A hash that changes with the configuration, computed without secrets. */
function configHash(config: Config): string {
  return sha256(JSON.stringify({ ...config, cronSecret: config.cronSecret !== null }));
}
