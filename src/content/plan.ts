import { isThere } from '../base/files.ts';
import { formatDigest } from '../base/text.ts';
import { createMappingDecisions, type DecidedPair } from '../catalog/crosswalk/decisions.ts';
import { nameOf } from '../catalog/crosswalk/graph.ts';
import { type GoneReference, goneReferences } from '../collections/gone.ts';
import { createDatabaseFile } from '../db/connect.ts';
import { type Database, type Files, openDatabase } from '../db/database.ts';
import { localSources, refusalOf } from './apply.ts';
import { type Changes, compareCatalogs, kinds, type PlannedSource, type Row } from './compare-catalogs.ts';
import { replayProblem } from './exchanges.ts';
import { requireCatalog, type VerifiedBundle } from './read-bundle.ts';

/** A mapping decision that the new catalog makes ineffective, or leaves without a source. */
export interface LoneDecision {
  from: string;
  to: string;
  status: string;
  why: string;
}

/** The effect of applying a bundle (rule D32.5). */
export type Plan = ReturnType<typeof planBundle>;

/** The effect of applying a bundle that was unpacked to `made`; changes no file of the site. Throws `CommandError`. */
export function planBundle(files: Files, bundle: VerifiedBundle, made: string) {
  requireCatalog(bundle, made);
  const current = isThere(files.db) ? files.db : null;
  const none = `${made}.none`;
  if (current === null) createDatabaseFile(none, 'catalog');
  const comparison = compareCatalogs(current ?? none, made);
  const usersDb = isThere(files.usersDb) ? files.usersDb : ':memory:';
  using before = openDatabase({ db: current ?? none, usersDb }, { asItIs: true });
  using after = openDatabase({ db: made, usersDb }, { asItIs: true });
  const { manifest, signer, id, bytes, warnings } = bundle;
  const { channel, sequence, builtAt, expiresAt, digest } = manifest;
  const replay = replayProblem(before, id, manifest);
  const local = localSources(before, made);
  return {
    bundle: {
      bundle: id,
      channel,
      sequence,
      signedBy: signer.name,
      fingerprint: signer.fingerprint,
      builtAt,
      expiresAt,
      difference: false,
      bytes,
    },
    /** Of the catalog afterwards. */
    digest,
    /** SHA-256 of the removed sources that only this site holds: those of the package are not among them. */
    localSources: local.map(({ sha256 }) => sha256),
    /** Why `apply` would reject it, a line each. */
    refusals: [...(replay === null ? [] : [replay]), ...(local.length === 0 ? [] : [refusalOf(local)])],
    warnings,
    ...comparison,
    /** Entries of lists, collections and favorites whose target is removed, or is back. */
    references: referencesOf(before, after),
    decisions: loneDecisions(decisionsOf(before), decisionsOf(after)),
  };
}

function referencesOf(before: Database, after: Database) {
  const [were, are] = [goneReferences(before), goneReferences(after)];
  const keyOf = ({ kind, id, owner, refersTo }: GoneReference) => JSON.stringify([kind, id, owner, refersTo]);
  const without = (all: GoneReference[], others: GoneReference[]) => {
    const known = new Set(others.map(keyOf));
    return all.filter((each) => !known.has(keyOf(each)));
  };
  return { go: without(are, were), comeBack: without(were, are) };
}

/** The site's decisions, applied to the open catalog. */
export const decisionsOf = (db: Database): DecidedPair[] => createMappingDecisions(db).all();

/** The decisions whose pair lost its last source, or one of its controls. */
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

/** A part of a plan in words. */
interface PlanSection {
  title: string;
  /** How many things are added, changed and removed. */
  totals: string;
  /** Each change that there is, with a line for each thing. */
  changes: { sign: string; word: string; lines: string[] }[];
}

/** One line that identifies the bundle of a plan. */
export function planHeading({ bundle, digest }: Plan): string {
  const { channel, sequence, builtAt, signedBy, fingerprint } = bundle;
  return `${channel} ${sequence} of ${builtAt}, signed by ${signedBy ?? fingerprint}, whole: catalog ${formatDigest(digest)}`;
}

/** A plan in words, without empty sections. */
export function planSections(plan: Plan): PlanSection[] {
  const { slugs, references, decisions, sources, localSources } = plan;
  const isLocal = ({ sha256 }: PlannedSource) => localSources.includes(sha256);
  const all: PlanSection[] = [
    section('Sources that only this site holds', { go: sources.go.filter(isLocal) }, describeSource),
    section(
      'References of lists, collections and favorites',
      { come: references.comeBack, go: references.go },
      describeReference,
    ),
    section(
      "This site's mapping decisions",
      { change: decisions },
      ({ from, to, status, why }) => `${from} and ${to} (${status}): ${why}`,
    ),
    section('Renamed slugs', { change: slugs }, ({ from, to }) => `${from} is ${to} now`),
    ...Object.entries(kinds).map(([name, { title, words }]) =>
      section<Row>(title, plan[name as keyof typeof kinds], words),
    ),
    section(
      'Other sources',
      { come: sources.come, go: sources.go.filter((each) => !isLocal(each)) },
      describeSource,
    ),
  ];
  return all.filter(({ changes }) => changes.length > 0);
}

function section<T>(
  title: string,
  { come = [], change = [], go = [] }: Partial<Changes<T>>,
  words: (row: T) => string,
): PlanSection {
  const changes = [
    { sign: '+', word: 'added', lines: come.map(words) },
    { sign: '~', word: 'changed', lines: change.map(words) },
    { sign: '-', word: 'removed', lines: go.map(words) },
  ].filter(({ lines }) => lines.length > 0);
  const totals = changes
    .map(({ word, lines }) => `${lines.length.toLocaleString('en-US')} ${word}`)
    .join(', ');
  return { title, totals, changes };
}

const describeSource = ({ source, target, sha256 }: PlannedSource) =>
  `${source}${target === null ? '' : ` (${target})`}, SHA-256 ${sha256}`;

const describeReference = ({ kind, id, name, owner, refersTo, title }: Plan['references']['go'][0]) =>
  `${kind === 'favorite' ? `favorite of ${owner}` : `${kind} "${name}" of ${owner} (${id})`}: ${refersTo} ${title}`;
