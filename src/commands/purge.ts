import { readConfig } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { AppError, CommandError } from '../errors.ts';
import type { Log } from '../log.ts';
import { createPurgeService } from '../services/purge.ts';
import { type Command, expectPositionals, parse } from './command.ts';

const day = 24 * 3600 * 1000;

export const purgeCommand: Command = {
  name: 'purge',
  summary: 'remove for good the lists that were deleted more than 30 days ago',
  usage: 'gapstone purge [--dry-run] [--accept-clock] [--db FILE] [--json]',
  help: [
    '--dry-run       only say how many there are',
    '--accept-clock  go on although the clock is behind the latest time seen: it is right now, and was wrong before',
    '--json          the count as JSON',
  ],
  async run(args) {
    const { values, positionals } = parse(args, {
      'dry-run': { type: 'boolean' },
      'accept-clock': { type: 'boolean' },
    });
    expectPositionals(positionals, []);
    const db = openDatabase(readConfig({ db: values.db }).db);
    try {
      const dryRun = values['dry-run'] ?? false;
      const acceptClock = values['accept-clock'] ?? false;
      const purged = createPurgeService(db, () => new Date()).purge({ dryRun, acceptClock });
      process.stdout.write(values.json ? `${JSON.stringify({ purged, dryRun })}\n` : `${purged}\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new CommandError(`${error.message} (see --accept-clock)`);
    } finally {
      db.close();
    }
  },
};

/** Purges now and once a day while the process runs (DECISIONS D8.5). Gives what stops it. */
export function purgeDaily(db: Database, log: Log, now: () => Date, every = day): () => void {
  const purges = createPurgeService(db, now);
  const purge = () => {
    try {
      log.info('purge', { purged: purges.purge() });
    } catch (error) {
      // The next day tries again: a purge that waits harms nobody.
      log.warn('purge put off', { reason: (error as Error).message });
    }
  };
  purge();
  const timer = setInterval(purge, every).unref();
  return () => clearInterval(timer);
}
