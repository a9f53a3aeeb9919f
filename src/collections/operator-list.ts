import { and, eq, isNull } from 'drizzle-orm';
import { CommandError } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { collections } from '../db/user-tables.ts';
import { createListEntryService } from './list-entries.ts';
import type { ListExport } from './lists-schema.ts';

/**
 * A list with its STIGs as its creator sees it, for the operator of this machine, who can read the file anyway. Throws
 * `CommandError` where there is none, or it is deleted.
 */
export function operatorList(db: Database, id: string): ListExport {
  const isActiveList = and(
    eq(collections.id, id),
    eq(collections.kind, 'list'),
    isNull(collections.deletedAt),
  );
  const list = db.orm.select().from(collections).where(isActiveList).get();
  if (list === undefined) throw new CommandError(`there is no list ${id.slice(0, 64)}`);
  const creator = {
    kind: 'user' as const,
    subject: list.createdById,
    email: null,
    organization: list.organizationId,
    entitlements: new Set<never>(),
    expiresAt: 0,
  };
  return createListEntryService(db).exported(creator, id);
}
