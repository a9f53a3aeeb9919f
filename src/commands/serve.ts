import { randomUUID } from 'node:crypto';
import { createApp } from '../app/app.ts';
import type { Context } from '../app/context.ts';
import { createAudit } from '../audit/audited-action.ts';
import type { AuditStream } from '../audit/stream.ts';
import { checkKeys, loadKeys } from '../auth/keys.ts';
import { createOrganizationSignIn } from '../auth/organization-sign-in.ts';
import { createVerifyUserToken } from '../auth/tokens.ts';
import { type Config, configWarnings, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { writableByOthers } from '../base/files.ts';
import { createLog, type Log } from '../base/log.ts';
import { packageCommit, packageVersion } from '../base/root.ts';
import { addCatalogMetrics } from '../catalog/catalog-metrics.ts';
import type { Database } from '../db/database.ts';
import { requireDriver } from '../db/driver.ts';
import { recordInboxContents } from '../db/site-records.ts';
import { type AnswerCache, createAnswerCache, createShortcut } from '../http/cache.ts';
import { createLimiter, createQueue, createUploadQueues, expensiveLimits } from '../http/limits.ts';
import { createLineWriter, type LineWriter } from '../http/lines.ts';
import { createMetrics, type Figures } from '../http/metrics.ts';
import { callerKey, createObserver, currentRecord } from '../http/record.ts';
import { rememberTokens } from '../http/verified-tokens.ts';
import { createUploads } from '../pages/checklists/uploads.ts';
import { type RunningServer, startServer } from '../server.ts';
import { createServices } from '../services.ts';
import { askInline } from '../work/jobs.ts';
import { createPool } from '../work/pool.ts';
import { auditNewKey, openForCommand, type ServerAudit, startServerAudit } from './audit.ts';
import { command, hostOption, portOption, serverSettings } from './command.ts';
import { watchInbox } from './inbox.ts';
import { purgeDaily } from './purge.ts';
import { loadSecurity, type Security } from './secure.ts';

export const serveCommand = () =>
  command('serve', 'serve the catalog over HTTP', {
    settings: serverSettings,
    examples: ['gapstone serve --port 8081'],
  })
    .addOption(hostOption)
    .addOption(portOption)
    .action((options) => {
      const config = readConfig(options);
      return serve(config, () => openForCommand(config, { checkUnclean: true }));
    });

/** The caller of the request that is being answered. */
function callerOf(): string {
  const record = currentRecord.getStore();
  return record === undefined ? '' : callerKey(record);
}

/** Serves until SIGTERM or SIGINT. Calls `open` after checking the keys. */
export async function serve(
  config: Config,
  open: () => Promise<Database>,
  onReady?: (url: string) => Promise<void>,
): Promise<void> {
  const lines = createLineWriter();
  const log = createLog(config.logLevel, lines.write);
  endOnFailure(log, lines);
  for (const { msg, fields } of configWarnings(config)) log.warn(msg, fields);
  await checkKeys(config);
  {
    using db = await open();
    db.neverBlock();
    for (const open of writableByOthers([config.usersDb, config.auditFile])) log.warn(open);
    await serveOpen(config, db, log, lines, onReady);
  }
  log.info('stopped');
  // A reader that keeps the pipe open without reading must not keep the process alive.
  if (!(await lines.close())) process.exit(0);
}

async function serveOpen(
  config: Config,
  db: Database,
  log: Log,
  lines: LineWriter,
  onReady?: (url: string) => Promise<void>,
): Promise<void> {
  const state = { draining: false };
  const now = () => new Date();
  let server: RunningServer | undefined;
  const security = await loadSecurity(config, now, log);
  let following: ReturnType<Security['follow']> | undefined;
  const follows = config.tls !== null || security.certificates !== null;
  const stopped = untilSignal(follows ? () => following?.reloadAll() : null);
  let serverAudit: ServerAudit | null = null;
  const onReload = (reason: string | null) => serverAudit?.keysReloaded(reason);
  const keys = await loadKeys(config, log, onReload, auditNewKey(config));
  serverAudit = await startServerAudit(config, log, db);
  const { known, verify } = rememberTokens(createVerifyUserToken(config, keys, now), keys.version, now);
  const metrics = createMetrics();
  const cache = createAnswerCache(db);
  const isInMemory = config.db === ':memory:' || config.usersDb === ':memory:';
  const work = isInMemory ? null : createPool({ files: config, banner: config.banner }, log, { callerOf });
  const context: Context = {
    ...config,
    catalog: db,
    users: db,
    log,
    now,
    newId: randomUUID,
    verify,
    state,
    cache,
    limiter: createLimiter(config.rateLimit, () => performance.now(), metrics.reject),
    queue: createQueue(expensiveLimits, metrics.reject),
    uploadQueue: createUploadQueues(metrics.reject),
    rejected: metrics.reject,
    audit: createAudit(serverAudit.stream, db),
    keyId: keys.id,
    observer: createObserver(log, metrics),
    metrics: config.metrics ? metrics.text : null,
    uploads: createUploads(log),
    askWith: (services) => work?.ask ?? askInline(db, services),
    secureCookies: config.tls !== null,
    certificates: security.certificates,
    organization: createOrganizationSignIn(config, keys, db, now),
  };
  const services = createServices(context);
  const app = createApp(context, services);
  const shortcut = createShortcut({ ...context, cache, known });
  const options = { ...config, ...context, shortcut, tls: security.tls() };
  try {
    server = await startServer((request, record) => app.fetch(request, { record }), options);
  } catch (error) {
    await work?.stop();
    await serverAudit.stop('CANNOT_LISTEN');
    throw new CommandError(`cannot listen on ${config.host}:${config.port}: ${(error as Error).message}`);
  }
  addCatalogMetrics(metrics, db);
  metrics.addProcess();
  metrics.info('gapstone_build_info', 'What is running.', await buildLabels());
  metrics.add(serviceMetrics(server, lines, context.audit.stream, cache));
  metrics.add(security.figures());
  following = security.follow(server);
  const url = urlOf(config, server.port);
  log.info('listening', { url, version: packageVersion, certificateUntil: security.certificateUntil() });
  await onReady?.(url);
  const stopPurging = purgeDaily(context);
  const inbox =
    config.inbox === null
      ? null
      : watchInbox(config.inbox, config, log, (hashes) => recordInboxContents(db, hashes));
  const signal = await stopped;
  following.stop();
  await inbox?.stop();
  log.info('stopping', { signal });
  state.draining = true;
  await server.stop();
  await context.uploads.stop();
  await work?.stop();
  await stopPurging();
  await db.idle();
  await serverAudit.stop(signal);
  emptyWriteAheadLog(db, log);
}

const buildLabels = async () => ({
  version: packageVersion,
  commit: packageCommit,
  node: process.versions.node,
  sqlite: await requireDriver(),
});

function emptyWriteAheadLog(db: Database, log: Log): void {
  try {
    db.sqlite.pragma('main.wal_checkpoint(TRUNCATE)');
  } catch (error) {
    // Nothing is lost: the log stays beside the file, and the next start reads it.
    log.warn('the write-ahead log was not emptied', { reason: (error as Error).message });
  }
}

function urlOf({ host, tls }: Config, port: number): string {
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const serviceMetrics = (server: RunningServer, lines: LineWriter, audit: AuditStream, cache: AnswerCache) =>
  ({
    gapstone_http_connections: ['Open connections.', () => server.load().connections],
    gapstone_http_requests_in_flight: ['Requests that are not finished.', () => server.load().requests],
    gapstone_log_lines_dropped_total: ['Log lines that could not be written.', lines.dropped],
    gapstone_audit_events_total: ['Events written to the audit stream.', () => audit.stats().written],
    gapstone_audit_events_lost_total: ['Events that could not be written.', () => audit.stats().lost],
    gapstone_audit_failing: [
      '1 while the audit stream cannot be written.',
      () => Number(audit.stats().failing),
    ],
    gapstone_cache_entries: ['Cached responses.', () => cache.stats().entries],
    gapstone_cache_bytes: ['Bytes of cached responses.', () => cache.stats().bytes],
    gapstone_cache_hits_total: ['Requests answered from the cache.', () => cache.stats().hits],
    gapstone_cache_misses_total: ['Responses added to the cache.', () => cache.stats().misses],
  }) satisfies Figures;

/** Logs an uncaught error and ends the process: its state is unknown (threat O2). */
function endOnFailure(log: Log, lines: LineWriter): void {
  process.on('uncaughtException', (error: unknown, origin) => {
    log.error('unexpected error: the process ends', {
      origin,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    lines.flush();
    process.exit(1);
  });
}

/** Waits for the signal to stop; a second one ends the process at once. With `onHangup`, SIGHUP only calls it. */
function untilSignal(onHangup: (() => void) | null): Promise<string> {
  let signals = 0;
  if (onHangup) process.on('SIGHUP', onHangup);
  const ending: NodeJS.Signals[] = ['SIGTERM', 'SIGINT', ...(onHangup ? [] : ['SIGHUP' as const])];
  return new Promise((resolve) => {
    for (const signal of ending) {
      process.on(signal, () => {
        if (++signals > 1) process.exit(1);
        resolve(signal);
      });
    }
  });
}
