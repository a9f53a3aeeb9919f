import { createApp } from '../app.ts';
import { checkKeys, loadKeys } from '../auth/keys.ts';
import { createVerifyUserToken } from '../auth/tokens.ts';
import { type Config, readConfig } from '../config.ts';
import type { Database } from '../db/database.ts';
import { openUpgraded } from '../db/upgrade.ts';
import { CommandError } from '../errors.ts';
import { createLog, type Log } from '../log.ts';
import { packageVersion } from '../openapi.ts';
import { type RunningServer, startServer } from '../server.ts';
import { type Command, expectPositionals, parse, tell } from './command.ts';
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
    return serve(config, () => openUpgraded(config.db, { busyTimeout: 1000, checkUnclean: true, say: tell }));
  },
};

/**
 * Serves until SIGTERM or SIGINT; a second signal ends the process at once. `open` is called when the keys are known
 * to be good. Gives the exit code.
 */
export async function serve(
  config: Config,
  open: () => Promise<Database>,
  onReady?: (url: string) => Promise<void>,
): Promise<number> {
  const log = createLog(config.logLevel);
  await checkKeys(config);
  const db = await open();
  try {
    return await serveOpen(config, db, log, onReady);
  } finally {
    db.close();
  }
}

async function serveOpen(
  config: Config,
  db: Database,
  log: Log,
  onReady?: (url: string) => Promise<void>,
): Promise<number> {
  const state = { draining: false };
  const now = () => new Date();
  const stopped = untilSignal();
  const verify = createVerifyUserToken(config, await loadKeys(config, log), now);
  const { cronSecret, plants } = config;
  const app = createApp({ db, verify, log, now, state, cronSecret, plants });
  let server: RunningServer;
  try {
    server = await startServer(app.fetch, { host: config.host, port: config.port, log });
  } catch (error) {
    throw new CommandError(`cannot listen on ${config.host}:${config.port}: ${(error as Error).message}`);
  }
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`;
  log.info('listening', { url, version: packageVersion });
  await onReady?.(url);
  const stopPurging = purgeDaily(db, log, now);
  const signal = await stopped;
  log.info('stopping', { signal });
  stopPurging();
  state.draining = true;
  await server.stop();
  try {
    db.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    // Nothing is lost: the log stays beside the file, and the next start reads it.
    log.warn('the write-ahead log was not emptied', { reason: (error as Error).message });
  }
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
