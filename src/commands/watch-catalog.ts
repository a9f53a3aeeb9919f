import type { Log } from '../base/log.ts';
import type { Database } from '../db/database.ts';
import type { Services } from '../services.ts';

const watchMilliseconds = 200;

/** Has what the answers to ids rest on. */
const firstQuestion = 'V-1';

/**
 * Serves a new catalog as soon as it replaces the current file, and prepares the search of each: what it keeps of a
 * catalog takes 300 ms to read. Gives a function that stops watching.
 */
export function watchCatalog(
  db: Pick<Database, 'generation' | 'renewCatalog'>,
  log: Pick<Log, 'info' | 'warn' | 'error'>,
  { search, answers }: Pick<Services, 'search' | 'answers'>,
): () => void {
  let last = '';
  let logged = '';
  let asked: number | null = null;
  let ended = false;
  async function prepare(): Promise<void> {
    try {
      const generation = db.generation();
      if (generation === asked) return;
      asked = generation;
      await answers(firstQuestion);
      await search.prepare();
    } catch (error) {
      const { message: reason } = error as Error;
      if (!ended) log.warn('the search is not prepared: the first question waits', { reason });
    }
  }
  void prepare();
  const timer = setInterval(() => {
    try {
      if (db.renewCatalog()) log.info('another catalog is served');
      void prepare();
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
  return () => {
    ended = true;
    clearInterval(timer);
  };
}
