import { unavailable } from '../base/errors.ts';
import type { Database } from './database.ts';

/** How often work is done anew because the catalog changed meanwhile. */
const attempts = 5;

/**
 * Gives what work of several turns of the event loop makes of one state of the catalog: where that changed meanwhile, the
 * work is done anew. Throws what the work throws, and 503 where the catalog changes again and again.
 */
export async function inOneGeneration<T>(
  db: Pick<Database, 'generation'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const generation = db.generation();
    try {
      const made = await work();
      if (db.generation() === generation) return made;
    } catch (error) {
      if (db.generation() === generation) throw error;
    }
  }
  throw unavailable('The catalog is being changed. Try again', 5);
}
