import { createApp } from '../app.ts';
import { createTrail } from '../audit/trail.ts';
import { loadKeys } from '../auth/keys.ts';
import { createVerifyUserToken } from '../auth/tokens.ts';
import { type Config, readConfig } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { CommandError } from '../errors.ts';
import { createLog } from '../log.ts';
import { packageVersion } from '../openapi.ts';
import { type RunningServer, startServer } from '../server.ts';
import { auditMigration, type ServerAudit, startServerAudit } from './audit.ts';
import { type Command, expectPositionals, parse } from './command.ts';
import { purgeDaily } from './purge.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'serve the catalog over HTTP',
  usage: 'gapstone serve [--host H] [--port P] [--db FILE]',
  help: [
    '--host H  address to listen on (127.0.0.1)',
    '--port P  port to listen on (8080; 0 takes a free one)',
  ],
  async run(args) {
    const { values, positionals } = parse(args, { host: { type: 'string' }, port: { type: 'string' } });
    expectPositionals(positionals, []);
    const config = readConfig(values);
    return serve(
      config,
      openDatabase(config.db, { migrate: true, busyTimeout: 1000, onMigrate: auditMigration(config) }),
    );
  },
};

/** Serves until SIGTERM or SIGINT; a second signal ends the process at once. Gives the exit code. */
export async function serve(
  config: Config,
  db: Database,
  onReady?: (url: string) => Promise<void>,
): Promise<number> {
  const log = createLog(config.logLevel);
  const state = { draining: false };
  const now = () => new Date();
  const stopped = untilSignal();
  let audit: ServerAudit | null = null;
  const keys = await loadKeys(config, log, (reason) => audit?.keysReloaded(reason));
  audit = startServerAudit(config, log);
  const verify = createVerifyUserToken(config, keys, now);
  const { cronSecret, plants } = config;
  const app = createApp({ db, verify, log, now, state, audit: audit.stream, cronSecret, plants });
  let server: RunningServer;
  try {
    server = await startServer(app.fetch, { host: config.host, port: config.port, log });
  } catch (error) {
    audit.stop('CANNOT_LISTEN');
    throw new CommandError(`cannot listen on ${config.host}:${config.port}: ${(error as Error).message}`);
  }
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`;
  log.info('listening', { url, version: packageVersion });
  await onReady?.(url);
  const stopPurging = purgeDaily(db, log, now, createTrail(audit.stream, db));
  const signal = await stopped;
  log.info('stopping', { signal });
  stopPurging();
  state.draining = true;
  await server.stop();
  audit.stop(signal);
  db.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  log.info('stopped');
  return 0;
}

function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    let signals = 0;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (++signals > 1) process.exit(1);
        resolve(signal);
      });
    }
  });
}
