import type { knownControls } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { createPublishedForm } from './own-controls.ts';

/** A control as GET /controls shows it. */
export type KnownControl = typeof knownControls.$inferSelect;

/**
 * Prepares the look-up of many controls at once, each by its id or its identifier in any usual spelling (rule D6.1).
 * The result is in the order of the request, with null for an unknown control.
 */
export function createFindControls(db: Database) {
  const publishedForm = createPublishedForm(db);
  const find = db.sqlite.prepare<[string], KnownControl & { at: number }>(
    `SELECT n.key AS at, k.id, k.framework, k.identifier, k.sort_key AS sortKey, k.title, k.family, k.statement
       FROM json_each(?) AS n CROSS JOIN known_controls AS k ON k.id = coalesce(
            (SELECT id FROM control_keys WHERE id = n.value ->> 1 AND framework = n.value ->> 0),
            (SELECT id FROM control_keys WHERE framework = n.value ->> 0 AND identifier = n.value ->> 2))`,
  );
  return (asked: { framework: string; controlId: string }[]): (KnownControl | null)[] => {
    const names = asked.map(({ framework, controlId }) => [
      framework,
      controlId.toLowerCase(),
      publishedForm(framework, controlId),
    ]);
    const found: (KnownControl | null)[] = asked.map(() => null);
    for (const { at, ...control } of find.all(JSON.stringify(names))) found[at] = control;
    return found;
  };
}

/** Prepares the look-up of one control, null for one that is not known. */
export function createFindControl(db: Database) {
  const find = createFindControls(db);
  return (framework: string, controlId: string): KnownControl | null => find([{ framework, controlId }])[0]!;
}
