import { and, eq, sql } from 'drizzle-orm';
import { knownControls } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { canonicalIdentifier } from './identifier.ts';

/** A control as GET /controls answers it. */
export type KnownControl = typeof knownControls.$inferSelect;

/** Prepares the look-up of a control by its id or its identifier in any usual spelling (rule D6.1). */
export function createFindControl({ orm }: Database) {
  const finder = (column: typeof knownControls.id | typeof knownControls.identifier) =>
    orm
      .select()
      .from(knownControls)
      .where(
        and(
          eq(column, sql.placeholder('name')),
          eq(knownControls.framework, sql`${sql.placeholder('framework')}`),
        ),
      )
      .prepare();
  const byId = finder(knownControls.id);
  const byIdentifier = finder(knownControls.identifier);
  return (framework: string, controlId: string): KnownControl | null => {
    const found = byId.get({ name: controlId.toLowerCase(), framework });
    if (found) return found;
    const identifier = canonicalIdentifier(framework, controlId);
    return identifier === null ? null : (byIdentifier.get({ name: identifier, framework }) ?? null);
  };
}
