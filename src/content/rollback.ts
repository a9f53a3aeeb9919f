import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { seal } from '../db/copy.ts';
import { holdCatalog } from '../db/exchange.ts';
import { storageFault } from '../db/faults.ts';
import { keepTakenBack } from '../db/kept.ts';
import { type Exchanged, heal, type OpenSite, settle, switchToNewCatalog, takenBackBy } from './apply.ts';
import { beforeOf, createExchanges, type Exchange, undoneOf } from './exchanges.ts';

/**
 * Restores the catalog from before the last bundle in one step, and keeps the replaced one until the next bundle is
 * applied (rule D32.4). Throws `CommandError` where there is none, or it is in use, and then nothing has changed.
 */
export async function rollBack(site: OpenSite): Promise<Exchanged> {
  const { db, file } = site;
  using held = await holdCatalog(file);
  db.renewCatalog();
  const healed = await heal(site);
  const last = createExchanges(db).last();
  if (last === null) throw new CommandError('no bundle was applied here: there is nothing to roll back');
  const keptAs = undoneOf(file, last.id);
  // `heal` completed a rollback that a kill had interrupted.
  if (healed?.state === 'rolled-back') return { exchange: healed, keptAs };
  if (last.state === 'rolled-back')
    throw new CommandError(
      `the last bundle (channel ${last.channel}, sequence ${last.sequence}) was rolled back already: no earlier catalog is kept`,
    );
  const before = beforeOf(file, last.id);
  if (!isThere(before)) throw new CommandError('no catalog from before the last bundle is kept');
  // The kept file must not be in use: a connection from before may still read it.
  const { kind } = await sealUnused(before);
  if (kind !== 'catalog') throw new CommandError(`${before} is no catalog`);
  const takenBack = takenBackBy(db, before);
  await site.record('content.rollback-start', last, () => keepTakenBack(db, takenBack));
  held.exchange(before, keptAs);
  const undone: Exchange = { ...last, state: 'rolled-back' };
  await settle(site, undone);
  await switchToNewCatalog(site, held);
  return { exchange: undone, keptAs };
}

/** A server that is switching to another catalog may read the former one for a moment. */
async function sealUnused(file: string, patience = 10_000): Promise<ReturnType<typeof seal>> {
  const deadline = performance.now() + patience;
  for (;;) {
    try {
      return seal(file, 'quick', file);
    } catch (error) {
      if (storageFault(error) !== 'busy') throw error;
      if (performance.now() >= deadline)
        throw new CommandError(`${file} is still read: try again when that has ended`);
    }
    await pause(50);
  }
}
