import type { Audit } from '../audit/audited-action.ts';
import { systemEvent } from '../audit/event.ts';
import { readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { count } from '../base/text.ts';
import { createPurgeService, retentionDays } from '../collections/retention.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { auditedCommand, reasonOf } from './audit.ts';
import { command, print } from './command.ts';

const day = 24 * 3600 * 1000;

export const purgeCommand = () =>
  command('purge', `permanently remove the lists that were deleted more than ${retentionDays} days ago`, {
    settings: ['auditFile', 'auditFailure'],
    examples: ['gapstone purge --dry-run'],
  })
    .option('--dry-run', 'only show how many there are')
    .option(
      '--accept-clock',
      'purge even if the clock is earlier than the latest time in the database, because that time was wrong',
    )
    .action(async ({ dryRun = false, acceptClock = false, ...options }) => {
      const config = readConfig(options);
      using db = openDatabase(config);
      try {
        const purges = createPurgeService(db, () => new Date());
        const purged = dryRun
          ? await purges.purge({ dryRun, acceptClock })
          : await auditedCommand(config, db, { action, objectType, detail: { acceptClock } }, () =>
              purges.purge({ acceptClock }),
            );
        const lists = `${count(purged, 'list')} deleted more than ${retentionDays} days ago`;
        print(
          options.json,
          { purged, dryRun },
          dryRun
            ? `${lists} would be removed; nothing was changed`
            : `${lists} ${purged === 1 ? 'was' : 'were'} removed`,
        );
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        throw new CommandError(`${error.message} (see --accept-clock)`);
      }
    });

const action = 'deleted-lists.purge';
const objectType = 'deleted-lists';

/** Purges now and once a day (rule D8.5). Gives a function that stops it after a running purge. */
export function purgeDaily(
  { users, log, now, audit }: { users: Database; log: Log; now: () => Date; audit: Audit },
  every = day,
): () => Promise<void> {
  const purges = createPurgeService(users, now);
  const purge = async () => {
    try {
      const event = () => systemEvent(action, null, { objectType });
      log.info('purge', { purged: await audit.run(event, () => purges.purge()) });
    } catch (error) {
      audit.stream.note(
        systemEvent(action, null, { objectType, outcome: 'failure', reason: reasonOf(error) }),
      );
      // The next day tries again; a late purge is harmless.
      log.warn('purge postponed', { reason: (error as Error).message });
    }
  };
  let latest = purge();
  const timer = setInterval(() => {
    latest = purge();
  }, every).unref();
  return () => {
    clearInterval(timer);
    return latest;
  };
}
