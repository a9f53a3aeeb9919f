import type { Log } from '../base/log.ts';
import type { Database } from '../db/database.ts';

const watchMilliseconds = 200;

/** Serves a new catalog as soon as it replaces the current file, and calls `onReplaced`. Gives a function that stops watching. */
export function watchCatalog(
  db: Pick<Database, 'renewCatalog'>,
  log: Pick<Log, 'info' | 'error'>,
  onReplaced: () => void,
): () => void {
  let last = '';
  let logged = '';
  const timer = setInterval(() => {
    try {
      if (db.renewCatalog()) {
        onReplaced();
        log.info('another catalog is served');
      }
      last = '';
      logged = '';
    } catch (error) {
      const reason = (error as Error).message;
      // The other process may still have the file locked: log only a reason that stays, and only once.
      if (reason === last && reason !== logged) {
        log.error('the new catalog cannot be served: the former one is', { reason });
        logged = reason;
      }
      last = reason;
    }
  }, watchMilliseconds).unref();
  return () => clearInterval(timer);
}
