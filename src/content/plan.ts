import { join } from 'node:path';
import { isThere } from '../base/files.ts';
import { createMappingDecisions, type DecidedPair } from '../catalog/crosswalk/decisions.ts';
import { nameOf } from '../catalog/crosswalk/graph.ts';
import { type GoneReference, goneReferences } from '../collections/gone.ts';
import { createDatabaseFile } from '../db/create.ts';
import { type Database, type Files, openDatabase } from '../db/database.ts';
import { localSources, refusalOf } from './apply.ts';
import { type Comparison, compareCatalogs } from './compare-catalogs.ts';
import { createExchanges } from './exchanges.ts';
import { makeCatalog } from './incoming.ts';
import type { VerifiedBundle } from './read-bundle.ts';

/** A decision about a pair that a catalog says less of than the one before. */
export interface LoneDecision {
  from: string;
  to: string;
  status: string;
  why: string;
}

/** What `apply` of a bundle would do (rule D32.5). */
export interface Plan extends Comparison {
  bundle: {
    bundle: string;
    channel: string;
    sequence: number;
    signedBy: string | null;
    fingerprint: string;
    builtAt: string;
    expiresAt: string | null;
    /** Whether it is a difference. */
    difference: boolean;
    bytes: number;
  };
  /** Of the catalog afterwards. */
  digest: string;
  /** Why `apply` would refuse it, a line each; none where it would not. */
  refusals: string[];
  warnings: string[];
  /** What lists, collections and favorites refer to that goes, and what comes back to them. */
  references: { go: GoneReference[]; comeBack: GoneReference[] };
  decisions: LoneDecision[];
}

/**
 * Tells what applying a bundle would do; it was unpacked to `folder`. Neither file of the site is changed. Throws `CommandError`
 * where the bundle cannot be applied to this catalog at all.
 */
export async function planBundle(files: Files, bundle: VerifiedBundle, folder: string): Promise<Plan> {
  const current = isThere(files.db) ? files.db : null;
  const made = await makeCatalog(bundle, current, folder);
  const none = join(folder, 'none.db');
  if (current === null) createDatabaseFile(none, 'catalog');
  const comparison = compareCatalogs(current ?? none, made);
  const usersDb = isThere(files.usersDb) ? files.usersDb : ':memory:';
  using before = openDatabase({ db: current ?? none, usersDb }, { asItIs: true });
  using after = openDatabase({ db: made, usersDb }, { asItIs: true });
  const { manifest, signer, id, bytes, warnings } = bundle;
  const { channel, sequence, builtAt, expiresAt, digest } = manifest;
  const replay = createExchanges(before).replayProblem(id, channel, sequence);
  const local = localSources(before, made);
  return {
    bundle: {
      ...{ bundle: id, channel, sequence, signedBy: signer.name, fingerprint: signer.fingerprint },
      ...{ builtAt, expiresAt, difference: manifest.before !== null, bytes },
    },
    digest,
    refusals: [...(replay === null ? [] : [replay]), ...(local.length === 0 ? [] : [refusalOf(local)])],
    warnings,
    ...comparison,
    references: referencesOf(before, after),
    decisions: loneDecisions(decisionsOf(before), decisionsOf(after)),
  };
}

function referencesOf(before: Database, after: Database): Plan['references'] {
  const [were, are] = [goneReferences(before), goneReferences(after)];
  const keyOf = ({ kind, id, owner, refersTo }: GoneReference) => JSON.stringify([kind, id, owner, refersTo]);
  const without = (all: GoneReference[], others: GoneReference[]) => {
    const known = new Set(others.map(keyOf));
    return all.filter((each) => !known.has(keyOf(each)));
  };
  return { go: without(are, were), comeBack: without(were, are) };
}

/** The site's decisions as the catalog that is open has them. */
export const decisionsOf = (db: Database): DecidedPair[] => createMappingDecisions(db).all();

/** The decisions that no source states the pair of any more, or an end of which is gone. */
export function loneDecisions(before: DecidedPair[], after: DecidedPair[]): LoneDecision[] {
  const keyOf = ({ ends }: DecidedPair) => ends.map(nameOf).join(' ');
  const were = new Map(before.map((pair) => [keyOf(pair), pair]));
  return after.flatMap((pair) => {
    const was = were.get(keyOf(pair));
    const [from, to] = pair.ends.map(nameOf) as [string, string];
    const tell = (why: string) => [{ from, to, status: pair.status, why }];
    if (pair.stale && !was?.stale)
      return tell('it no longer has an effect: a control was removed or withdrawn');
    if (pair.own && was && !was.own)
      return tell("no source states the pair any more: it is this site's own now");
    return [];
  });
}
