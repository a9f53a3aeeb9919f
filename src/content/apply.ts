import { rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isThere, realFile } from '../base/files.ts';
import { withoutFolder } from '../base/source-name.ts';
import { count } from '../base/text.ts';
import { type Connection, connectReadOnly } from '../db/connect.ts';
import { copyDatabase } from '../db/copy.ts';
import type { Database } from '../db/database.ts';
import { catalogDigest } from '../db/digest.ts';
import { changeOf, holdCatalog, replaceCatalog } from '../db/replace.ts';
import { damaged, damageOf } from '../db/schema-check.ts';
import { recordTakenBack, sourcesOf } from '../db/site-records.ts';
import {
  beforeOf,
  beginExchange,
  type Exchange,
  endExchange,
  forgetExchange,
  lastExchange,
  removeFormerCatalogs,
  removeParts,
  replayProblem,
  undoneOf,
} from './exchanges.ts';
import { requireCatalog, type VerifiedBundle } from './read-bundle.ts';

/** Both files of a site. */
export interface OpenSite {
  db: Database;
  file: string;
  /** Changes users' data, and writes the audit event in the same transaction. */
  record(action: string, exchange: Omit<Exchange, 'id' | 'state'>, change: () => void): Promise<void>;
}

/** The result of an exchange. */
export interface Exchanged {
  exchange: Exchange;
  keptAs: string | null;
}

/** A source that the site has and a bundle lacks. */
interface LocalSource {
  sha256: string;
  source: string;
  target: string | null;
}

const mostNamed = 10;

/**
 * Replaces the catalog by that of a verified bundle (rule D32.3). `unpack` verifies the bundle again while unpacking it
 * into a file beside the catalog. Throws `CommandError`, and then nothing has changed. After a kill at any moment
 * either catalog is there, and the next call repairs the record in users' data.
 */
export async function applyBundle(
  site: OpenSite,
  bundle: VerifiedBundle,
  unpack: (to: string) => Promise<VerifiedBundle>,
  options: { now: Date; dropLocal: boolean },
): Promise<Exchanged> {
  const { db, file } = site;
  using held = holdCatalog(file);
  const recovered = await recover(site);
  if (recovered?.bundle === bundle.id && recovered.state === 'applied') return end(file, recovered);
  const problem = replayProblem(db, bundle.id, bundle.manifest);
  if (problem !== null) throw new CommandError(`${bundle.file} is refused: ${problem}`);
  const applied = await inPrivateFolder(`${realFile(file)}.content`, async (temporary) => {
    const unpacked = await unpack(temporary);
    if (unpacked.id !== bundle.id) throw new CommandError(`${bundle.file} was exchanged while it was read`);
    return exchange(site, held, unpacked, temporary, options);
  });
  return end(file, applied);
}

async function exchange(
  site: OpenSite,
  held: Connection,
  bundle: VerifiedBundle,
  made: string,
  { now, dropLocal }: { now: Date; dropLocal: boolean },
): Promise<Exchange> {
  const { db, file } = site;
  const { manifest, signer } = bundle;
  const hasContent = db.sqlite.prepare('SELECT 1 FROM sources').get() !== undefined;
  requireCatalog(bundle, made);
  const local = localSources(db, made);
  if (local.length > 0 && !dropLocal)
    throw new CommandError(`${bundle.file} is refused: ${refusalOf(local)}`);
  const row = {
    bundle: bundle.id,
    channel: manifest.channel,
    sequence: manifest.sequence,
    digest: manifest.digest,
    signedBy: signer.name ?? signer.fingerprint,
    fingerprint: signer.fingerprint,
    builtAt: manifest.builtAt,
    appliedAt: now.toISOString(),
  };
  const removed = sourcesRemovedBy(db, made);
  let id = 0;
  await site.record('content.apply-start', row, () => {
    id = beginExchange(db, row);
    recordTakenBack(db, removed);
  });
  const begun: Exchange = { ...row, id, state: 'begun' };
  // A call that holds the catalog meanwhile takes this one for killed.
  const isCurrent = () => isDeepStrictEqual(lastExchange(db), begun);
  try {
    if (hasContent) await copyAside(file, beforeOf(file, id));
    await replaceCatalog(held, file, made, isCurrent);
  } catch (error) {
    if (!isCurrent()) throw error;
    if (catalogDigest(db) !== row.digest) {
      await forget(site, begun);
      throw error;
    }
  }
  const applied: Exchange = { ...row, id, state: 'applied' };
  await recordExchange(site, applied);
  return applied;
}

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
  const removed = sourcesRemovedBy(db, before);
  await site.record('content.rollback-start', last, () => recordTakenBack(db, removed));
  await copyAside(file, keptAs);
  // Another call that holds the catalog meanwhile removes it.
  await replaceCatalog(held, file, before, () => isThere(keptAs));
  const undone: Exchange = { ...last, state: 'rolled-back' };
  await recordExchange(site, undone);
  return end(undone);

  function end(exchange: Exchange): Exchanged {
    rmSync(before, { force: true });
    return { exchange, keptAs };
  }
}

/** Copies the catalog to another name, in the place of what a former call left there. */
async function copyAside(file: string, copy: string): Promise<void> {
  rmSync(copy, { force: true });
  using sqlite = connectReadOnly(file, 'catalog');
  await copyDatabase(sqlite, copy);
}

/** Records the exchange. The catalog is already exchanged: if this fails, the next call repairs it. */
async function recordExchange(site: OpenSite, exchange: Exchange): Promise<void> {
  const action = exchange.state === 'applied' ? 'content.apply' : 'content.rollback';
  try {
    await site.record(action, exchange, () => endExchange(site.db, exchange));
  } catch (error) {
    throw new CommandError(
      `the catalog was exchanged, but the exchange could not be recorded: ${(error as Error).message}. Run the command again`,
    );
  }
}

/** Removes the former catalogs that are not needed any more. */
function end(file: string, applied: Exchange): Exchanged {
  const before = beforeOf(file, applied.id);
  const keptAs = isThere(before) ? before : null;
  removeFormerCatalogs(file, keptAs);
  return { exchange: applied, keptAs };
}

/**
 * Repairs the record, and removes unfinished copies, after a kill during an exchange; the catalog must be held. Gives
 * the exchange whose catalog is there, or null.
 */
async function recover(site: OpenSite): Promise<Exchange | null> {
  const { db, file } = site;
  removeParts(file);
  const last = lastExchange(db);
  if (last === null) return null;
  const before = beforeOf(file, last.id);
  const formerChange = isThere(before) ? changeOfFile(before) : null;
  const isFormer = formerChange === changeOf(db.sqlite);
  if (last.state === 'begun') {
    const isExchanged = catalogDigest(db) === last.digest;
    if (!isExchanged && (isFormer || formerChange === null)) {
      await forget(site, last);
      return null;
    }
    // Another catalog than both: an import changed it since, and the kept one is the way back.
    const applied: Exchange = { ...last, state: 'applied' };
    await recordExchange(site, applied);
    return isExchanged ? applied : null;
  }
  if (last.state !== 'applied' || !isThere(undoneOf(file, last.id))) return null;
  // A rollback was begun: its last step is to replace the catalog by the one that is kept.
  if (!isFormer) {
    rmSync(undoneOf(file, last.id));
    return null;
  }
  const undone: Exchange = { ...last, state: 'rolled-back' };
  await recordExchange(site, undone);
  return undone;
}

function changeOfFile(catalog: string): string {
  using sqlite = connectReadOnly(catalog, 'catalog', { anySchema: true });
  return changeOf(sqlite);
}

async function forget(site: OpenSite, begun: Exchange): Promise<void> {
  rmSync(beforeOf(site.file, begun.id), { force: true });
  await site.record('content.apply-undone', begun, () => forgetExchange(site.db, begun.id));
}

/** The sources that only this site has (rule D32.3), except those of the package (rule D44.1). */
export function localSources(db: Database, made: string): LocalSource[] {
  const shipped = db.sqlite.prepare<[], string>('SELECT sha256 FROM shipped_sources').pluck().all();
  const known = new Set([...sourcesOf(made), ...shipped]);
  return sourcesBeside(db, known);
}

/** SHA-256 of the sources that an exchange of the catalog removes (rule D42.8). */
const sourcesRemovedBy = (db: Database, next: string): string[] =>
  sourcesBeside(db, new Set(sourcesOf(next))).map(({ sha256 }) => sha256);

const sourcesBeside = (db: Database, known: Set<string>): LocalSource[] =>
  db.sqlite
    .prepare<[], LocalSource>('SELECT sha256, source, target FROM sources ORDER BY source, sha256')
    .all()
    .filter(({ sha256 }) => !known.has(sha256));

/** Why a bundle that would remove sources is refused. */
export function refusalOf(local: Pick<LocalSource, 'source' | 'target'>[]): string {
  const named = local
    .slice(0, mostNamed)
    .map(({ source, target }) => `${withoutFolder(source)}${target === null ? '' : ` (${target})`}`);
  const more = local.length > mostNamed ? `, and ${local.length - mostNamed} more` : '';
  return (
    `this site holds ${count(local.length, 'source')} that it lacks: ${named.join(', ')}${more}; ` +
    'see "gapstone content plan", then use --drop-local to remove them'
  );
}
