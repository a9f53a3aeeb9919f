import type { Database } from './database.ts';

/** Gives a function whose value `make` computes once for each version of the catalog. */
export function perCatalogVersion<T>(db: Pick<Database, 'catalogVersion'>, make: () => T): () => T {
  let made: { catalogVersion: string; value: T } | null = null;
  return () => {
    const catalogVersion = db.catalogVersion();
    if (made?.catalogVersion !== catalogVersion) made = { catalogVersion, value: make() };
    return made.value;
  };
}
