import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isThere, realFile } from '../base/files.ts';
import { withoutFolder } from '../base/source-name.ts';
import { count } from '../base/text.ts';
import type { Database } from '../db/database.ts';
import { type HeldCatalog, holdCatalog, isSameFile } from '../db/exchange.ts';
import { removeForeignLog } from '../db/foreign-log.ts';
import { keepTakenBack, sourcesOf } from '../db/kept.ts';
import { beforeOf, createExchanges, type Exchange, removeKept, undoneOf } from './exchanges.ts';
import { digestOfFile, makeCatalog } from './incoming.ts';
import type { VerifiedBundle } from './read-bundle.ts';

/** Both files of a site; no journal mode is changed by who opened them. */
export interface OpenSite {
  db: Database;
  /** The catalog. */
  file: string;
  /** Writes to users' data, and tells the audit stream of it in the same transaction. */
  record(action: string, exchange: Omit<Exchange, 'id' | 'state'>, change: () => void): Promise<void>;
}

/** What an exchange did. */
export interface Exchanged {
  exchange: Exchange;
  /** Where the catalog that was served before is kept; null where there was none. */
  keptAs: string | null;
}

/** A source that the site holds and a bundle lacks. */
export interface LocalSource {
  sha256: string;
  source: string;
  target: string | null;
}

const mostNamed = 10;

/**
 * Puts the catalog of a verified bundle in the place of the one that is served, which goes on until then (rule D32.3). `unpack`
 * verifies it once more while it unpacks it to a folder beside the catalog. Throws `CommandError`; then nothing has changed. Killed
 * at any moment either catalog is there, and the next call sets right what users' data says of it.
 */
export async function applyBundle(
  site: OpenSite,
  bundle: VerifiedBundle,
  unpack: (folder: string) => Promise<VerifiedBundle>,
  options: { now: Date; dropLocal: boolean },
): Promise<Exchanged> {
  const { db, file } = site;
  const { channel, sequence } = bundle.manifest;
  using held = await holdCatalog(file);
  db.renewCatalog();
  const healed = await heal(site);
  if (healed?.bundle === bundle.id && healed.state === 'applied') return end(site, held, healed);
  const problem = createExchanges(db).replayProblem(bundle.id, channel, sequence);
  if (problem !== null) throw new CommandError(`${bundle.file} is refused: ${problem}`);
  const place = `${realFile(file)}.content`;
  removeParts(place);
  const applied = await inPrivateFolder(place, async (temporary) => {
    const folder = dirname(temporary);
    const unpacked = await unpack(folder);
    if (unpacked.id !== bundle.id) throw new CommandError(`${bundle.file} was exchanged while it was read`);
    return exchange(site, held, unpacked, folder, options);
  });
  return end(site, held, applied);
}

async function exchange(
  site: OpenSite,
  held: HeldCatalog,
  bundle: VerifiedBundle,
  folder: string,
  { now, dropLocal }: { now: Date; dropLocal: boolean },
): Promise<Exchange> {
  const { db, file } = site;
  const { manifest, signer } = bundle;
  const exchanges = createExchanges(db);
  const hasContent = db.sqlite.prepare('SELECT 1 FROM sources').get() !== undefined;
  const made = await makeCatalog(bundle, hasContent ? file : null, folder);
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
  const takenBack = takenBackBy(db, made);
  let id = 0;
  await site.record('content.apply-start', row, () => {
    id = exchanges.begin(row);
    keepTakenBack(db, takenBack);
  });
  const keptAs = hasContent ? beforeOf(file, id) : null;
  try {
    if (keptAs !== null) rmSync(keptAs, { force: true });
    held.exchange(made, keptAs);
  } catch (error) {
    if (!held.exchanged) await forget(site, { ...row, id, state: 'begun' });
    throw error;
  }
  await settle(site, { ...row, id, state: 'applied' });
  return { ...row, id, state: 'applied' };
}

/** Writes down what was done. The catalog is exchanged already: where this fails, the next call makes it good. */
export async function settle(site: OpenSite, exchange: Exchange): Promise<void> {
  const action = exchange.state === 'applied' ? 'content.apply' : 'content.rollback';
  try {
    await site.record(action, exchange, () => createExchanges(site.db).settle(exchange.id, exchange.state));
  } catch (error) {
    throw new CommandError(
      `the catalog was exchanged, but the exchange could not be recorded: ${(error as Error).message}. Run the command again`,
    );
  }
}

/** Goes over to the catalog that is there now, and removes what need not be kept any longer. */
async function end(site: OpenSite, held: HeldCatalog, applied: Exchange): Promise<Exchanged> {
  await goOver(site, held);
  const { file } = site;
  const before = beforeOf(file, applied.id);
  const keptAs = isThere(before) ? before : null;
  removeKept(file, keptAs);
  return { exchange: applied, keptAs };
}

/**
 * Lets a catalog go, and attaches the one that has its name now; a server that does the same may hold it for a moment. It is left
 * to the server to begin a log: two who did would be in each other's way.
 */
export async function goOver({ db, file }: OpenSite, held: HeldCatalog): Promise<void> {
  held[Symbol.dispose]();
  removeForeignLog(file);
  const deadline = performance.now() + 5000;
  for (;;) {
    try {
      db.renewCatalog();
      return;
    } catch (error) {
      if (performance.now() >= deadline) throw error;
      await pause(20);
    }
  }
}

/** What killed calls left behind: the catalog is held, so nobody is at it. */
function removeParts(place: string): void {
  for (const name of readdirSync(dirname(place)))
    if (name.startsWith(`${basename(place)}.part-`))
      rmSync(join(dirname(place), name), { recursive: true, force: true });
}

/**
 * Sets right what a kill left between an exchange and its record. The catalog must be held. Gives the exchange whose record
 * was completed; null where there was nothing to do, or nothing had been exchanged.
 */
export async function heal(site: OpenSite): Promise<Exchange | null> {
  const { db, file } = site;
  const last = createExchanges(db).last();
  if (last?.state === 'begun') {
    const came = digestOfFile(file) === last.digest && !isSameFile(beforeOf(file, last.id), file);
    if (!came) {
      await forget(site, last);
      return null;
    }
    const applied: Exchange = { ...last, state: 'applied' };
    await settle(site, applied);
    return applied;
  }
  if (last?.state !== 'applied' || !isThere(undoneOf(file, last.id))) return null;
  // It was to be taken back: the catalog before is kept until it is the one that is served. A restore may have brought back both the
  // catalog of the bundle and the word that it was applied.
  if (isThere(beforeOf(file, last.id)) || digestOfFile(file) === last.digest) {
    rmSync(undoneOf(file, last.id));
    return null;
  }
  const undone: Exchange = { ...last, state: 'rolled-back' };
  await settle(site, undone);
  return undone;
}

async function forget(site: OpenSite, begun: Exchange): Promise<void> {
  rmSync(beforeOf(site.file, begun.id), { force: true });
  await site.record('content.apply-undone', begun, () => createExchanges(site.db).forget(begun.id));
}

/** The sources that only this site holds (rule D32.3), but for those that came with the package (rule D44.1). */
export function localSources(db: Database, made: string): LocalSource[] {
  const shipped = db.sqlite.prepare<[], string>('SELECT sha256 FROM shipped_sources').pluck().all();
  const known = new Set([...sourcesOf(made), ...shipped]);
  return sourcesBeside(db, known);
}

/** SHA-256 of the sources that go with an exchange of the catalog (rule D42.8). */
export const takenBackBy = (db: Database, next: string): string[] =>
  sourcesBeside(db, new Set(sourcesOf(next))).map(({ sha256 }) => sha256);

const sourcesBeside = (db: Database, known: Set<string>): LocalSource[] =>
  db.sqlite
    .prepare<[], LocalSource>('SELECT sha256, source, target FROM sources ORDER BY source, sha256')
    .all()
    .filter(({ sha256 }) => !known.has(sha256));

/** Why a bundle is refused that would take sources away, in words. */
export function refusalOf(local: Pick<LocalSource, 'source' | 'target'>[]): string {
  const named = local
    .slice(0, mostNamed)
    .map(({ source, target }) => `${withoutFolder(source)}${target === null ? '' : ` (${target})`}`);
  const more = local.length > mostNamed ? `, and ${local.length - mostNamed} more` : '';
  return (
    `this site holds ${count(local.length, 'source')} that it lacks: ${named.join(', ')}${more}; ` +
    'look at "gapstone content plan", then give --drop-local to go without'
  );
}
