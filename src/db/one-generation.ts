import { unavailable } from '../base/errors.ts';
import type { Database } from './database.ts';

/** How often the work runs again because the catalog changed meanwhile. */
const attempts = 5;

/** `inOneGeneration` of a database. */
export type InOneGeneration = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Runs asynchronous work until the catalog does not change meanwhile, and gives its result. Throws what the work
 * throws, and 503 where the catalog changes in every attempt.
 */
export async function inOneGeneration<T>(
  db: Pick<Database, 'catalogVersion'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const catalogVersion = db.catalogVersion();
    try {
      const made = await work();
      if (db.catalogVersion() === catalogVersion) return made;
    } catch (error) {
      if (db.catalogVersion() === catalogVersion) throw error;
    }
  }
  throw unavailable('The catalog is being changed. Try again', 5);
}

/** Gives a function whose value `make` computes once for each generation of the catalog. */
export function perGeneration<T>(db: Pick<Database, 'catalogVersion'>, make: () => T): () => T {
  let made: { catalogVersion: string; value: T } | null = null;
  return () => {
    const catalogVersion = db.catalogVersion();
    if (made?.catalogVersion !== catalogVersion) made = { catalogVersion, value: make() };
    return made.value;
  };
}
