import type { Database } from '../../db/database.ts';
import { canonicalIdentifier } from './identifier.ts';
import type { CatalogFramework } from './queries.ts';

/** A control as users' data refers to it: whether the catalog still holds it, and what is known of it. */
export interface KnownControl {
  id: string;
  framework: CatalogFramework;
  identifier: string;
  in_catalog: 0 | 1;
  title: string;
  family: string;
  statement: string;
}

export type FindControl = (framework: string, controlId: string) => KnownControl | null;

/** Prepares the look-up of a control by its id or its identifier in any usual spelling (rule D6.1). */
export function createFindControl(db: Database): FindControl {
  const columns =
    'SELECT id, framework, identifier, in_catalog, title, family, statement FROM known_controls';
  const byId = db.sqlite.prepare<[string, string], KnownControl>(`${columns} WHERE id = ? AND framework = ?`);
  const byIdentifier = db.sqlite.prepare<[string, string], KnownControl>(
    `${columns} WHERE framework = ? AND identifier = ?`,
  );
  return (framework, controlId) => {
    const found = byId.get(controlId.toLowerCase(), framework);
    if (found) return found;
    const identifier = canonicalIdentifier(framework, controlId);
    return identifier === null ? null : (byIdentifier.get(framework, identifier) ?? null);
  };
}
