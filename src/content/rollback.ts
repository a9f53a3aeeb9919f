import { rmSync } from 'node:fs';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { connectReadOnly } from '../db/connect.ts';
import { holdCatalog, replaceCatalog } from '../db/replace.ts';
import { damaged, damageOf } from '../db/schema-check.ts';
import { recordTakenBack } from '../db/site-records.ts';
import { copyAside, type Exchanged, type OpenSite, recover, settle, takenBackBy } from './apply.ts';
import { beforeOf, type Exchange, lastExchange, undoneOf } from './exchanges.ts';

/**
 * Restores the catalog from before the last bundle, and keeps the replaced one until the next bundle is applied (rule
 * D32.4). Throws `CommandError` where there is none, or it is in use, and then nothing has changed.
 */
export async function rollBack(site: OpenSite): Promise<Exchanged> {
  const { db, file } = site;
  using held = holdCatalog(file);
  const recovered = await recover(site);
  const last = lastExchange(db);
  if (last === null) throw new CommandError('no bundle was applied here: there is nothing to roll back');
  const keptAs = undoneOf(file, last.id);
  const before = beforeOf(file, last.id);
  // A kill had interrupted this rollback.
  if (recovered?.state === 'rolled-back') return end(recovered);
  if (last.state === 'rolled-back')
    throw new CommandError(
      `the last bundle (channel ${last.channel}, sequence ${last.sequence}) was rolled back already: no earlier catalog is kept`,
    );
  if (!isThere(before)) throw new CommandError('no catalog from before the last bundle is kept');
  {
    using sqlite = connectReadOnly(before, 'catalog', { anySchema: true });
    const [damage] = damageOf(sqlite, 'quick');
    if (damage !== undefined) throw damaged(before, damage);
  }
  const takenBack = takenBackBy(db, before);
  await site.record('content.rollback-start', last, () => recordTakenBack(db, takenBack));
  await copyAside(file, keptAs);
  // Another call that holds the catalog meanwhile removes it.
  await replaceCatalog(held, file, before, () => isThere(keptAs));
  const undone: Exchange = { ...last, state: 'rolled-back' };
  await settle(site, undone);
  return end(undone);

  function end(exchange: Exchange): Exchanged {
    rmSync(before, { force: true });
    return { exchange, keptAs };
  }
}
