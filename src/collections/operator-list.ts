import { and, eq, isNull } from 'drizzle-orm';
import { CommandError } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { collections } from '../db/user-tables.ts';
import { createListRows, type ListRow } from './list-rows.ts';

/** The rows of a list, for the operator of this machine. Throws `CommandError` for a missing or deleted list. */
export function operatorList(db: Database, id: string): ListRow[] {
  const isActiveList = and(
    eq(collections.id, id),
    eq(collections.kind, 'list'),
    isNull(collections.deletedAt),
  );
  return db.read(() => {
    if (db.orm.select().from(collections).where(isActiveList).get() === undefined)
      throw new CommandError(`there is no list ${id.slice(0, 64)}`);
    return createListRows(db).entries(id);
  });
}
