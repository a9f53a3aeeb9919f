import { cciRevisions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import type { MappingStatus } from '../../src/catalog/crosswalk/graph.ts';
import type { SourceProblem } from '../read/errors.ts';
import type { CatalogView } from './catalog-view.ts';

/** One stated pair, as `mapping_facts` holds it. */
export interface MappingFact {
  sourceId: number;
  ordinal: number;
  fromFramework: string;
  fromVersion: string;
  fromIdentifier: string;
  toFramework: string;
  toVersion: string;
  toIdentifier: string;
  /** The row of a CSV. */
  row: number | null;
}

/** One undirected edge with the facts that it rests on. */
export interface DerivedEdge {
  a: { framework: string; identifier: string };
  b: { framework: string; identifier: string };
  status: MappingStatus;
  evidence: MappingFact[];
}

/**
 * Derives the edges of the crosswalk from what the sources state (rule D7.1). Pure; the order of the facts does
 * not matter. Pairs that give no edge although they should are reported.
 */
export function deriveEdges(
  facts: MappingFact[],
  catalogs: CatalogView,
): { edges: DerivedEdge[]; problems: SourceProblem[] } {
  const edges = new Map<string, DerivedEdge>();
  const problems = new Map<string, { sourceId: number; what: string; where: string[] }>();
  const isOutdated = (fact: MappingFact) => catalogs.isOutdated(fact.fromFramework, fact.fromVersion);
  const hasRev5 = new Set(
    facts
      .filter((fact) => fact.fromFramework === 'cci' && toRevision(fact) === 5 && !isOutdated(fact))
      .map((fact) => fact.fromIdentifier),
  );

  const report = (fact: MappingFact, what: string) => {
    const key = `${fact.sourceId} ${what}`;
    const row = fact.row === null ? '' : `row ${fact.row}: `;
    const where = `${row}${fact.fromIdentifier} -> ${fact.toIdentifier}`;
    const known = problems.get(key);
    if (known) known.where.push(where);
    else problems.set(key, { sourceId: fact.sourceId, what, where: [where] });
  };

  for (const fact of facts) {
    const { fromFramework, fromIdentifier, toFramework, toIdentifier } = fact;
    if (!isEdgeFact(fact)) continue;
    if (fromFramework === 'cci') {
      // (a): neither an older list nor a deprecated CCI counts, and Rev 4 only where there is no Rev 5.
      if (isOutdated(fact) || catalogs.status('cci', fromIdentifier) === 'withdrawn') continue;
      if (toRevision(fact) === cciRevisions.carriedOver && hasRev5.has(fromIdentifier)) continue;
    } else if (isOutdated(fact)) {
      report(fact, `a newer version of ${fromFramework} is imported`);
      continue;
    }
    const problem = problemOf(fact, catalogs);
    if (problem !== null) {
      report(fact, problem);
      continue;
    }
    // (a): what a CCI refers to is not followed.
    const follows = ![fromFramework, toFramework].includes('cci');
    const sources = endsOf(fromFramework, fromIdentifier, catalogs, follows);
    const targets = endsOf(toFramework, toIdentifier, catalogs, follows);
    const gone = follows ? 'no active successor' : 'withdrawn';
    if (sources.length === 0) report(fact, `${gone} in ${fromFramework}`);
    else if (targets.length === 0) report(fact, `${gone} in ${toFramework}`);
    for (const source of sources) for (const target of targets) add(edges, fact, source, target);
  }
  return {
    edges: [...edges.values()],
    problems: [...problems.values()].map(({ sourceId, what, where }) => ({
      sourceId,
      message: `${where.length} pairs make no mapping, ${what}: ${where.slice(0, 5).join(', ')}${where.length > 5 ? ', ...' : ''}`,
    })),
  };
}

/** The revision that a version of 800-53 means, infinite for a label without a number; null for another framework. */
function revisionOf(framework: string, version: string): number | null {
  if (framework !== 'nist-800-53') return null;
  const key = versionKey(framework, version);
  return /^\d+$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY;
}

function toRevision(fact: MappingFact): number | null {
  return revisionOf(fact.toFramework, fact.toVersion);
}

/** What a pair is stated for where one of its ends is of 800-53. */
function revisionsOf(fact: MappingFact): number[] {
  return [revisionOf(fact.fromFramework, fact.fromVersion), toRevision(fact)].filter((each) => each !== null);
}

/** References to Rev 3 and older make no edge (D7.1). */
function isEdgeFact(fact: MappingFact): boolean {
  return revisionsOf(fact).every((revision) => revision >= cciRevisions.carriedOver);
}

/** Why a pair cannot make an edge, whatever became of its controls; null where it can. */
function problemOf(fact: MappingFact, catalogs: CatalogView): string | null {
  const { fromFramework, fromIdentifier, toFramework, toIdentifier } = fact;
  // A revision that nothing here knows says nothing of today's controls. A label without a number is a site's own.
  const newer = revisionsOf(fact).find(
    (revision) => Number.isFinite(revision) && revision > cciRevisions.verified,
  );
  if (newer !== undefined && fromFramework === 'cci')
    return `Rev ${cciRevisions.verified} is the newest that counts for a CCI`;
  if (newer !== undefined && !catalogs.hasVersion('nist-800-53', String(newer)))
    return `Rev ${newer} of nist-800-53 is not imported`;
  const ends = [
    [fromFramework, fromIdentifier],
    [toFramework, toIdentifier],
  ] as const;
  const missing = ends.find(([framework]) => !catalogs.has(framework));
  if (missing) return `${missing[0]} is not imported`;
  const unknown = ends.find((end) => catalogs.status(...end) === 'unknown');
  return unknown ? `unknown control of ${unknown[0]}` : null;
}

/** An end of an edge: a stated control that is active, or an active one that it went into. */
interface End {
  framework: string;
  identifier: string;
  isFollowed: boolean;
}

/** The active controls that an end of a pair stands for. */
function endsOf(framework: string, identifier: string, catalogs: CatalogView, follows: boolean): End[] {
  if (catalogs.status(framework, identifier) === 'active')
    return [{ framework, identifier, isFollowed: false }];
  if (!follows) return [];
  return successors(framework, identifier, catalogs).map((each) => ({
    framework,
    identifier: each,
    isFollowed: true,
  }));
}

/** The status of a pair whose controls are active: (a) to (d) of D7.1; a site's own pairs wait for an operator. */
function statedStatus(fact: MappingFact): MappingStatus {
  const revision = toRevision(fact);
  const isPublished =
    (fact.fromFramework === 'cci' && revision === cciRevisions.verified) ||
    (fact.fromFramework === 'nist-800-171' &&
      versionKey(fact.fromFramework, fact.fromVersion) === '3' &&
      revision === 5) ||
    (fact.fromFramework === 'dod-8500' && revision === 4);
  return isPublished ? 'verified' : 'auto';
}

/** The active controls that a withdrawn one went into, followed to the end. */
function successors(framework: string, identifier: string, catalogs: CatalogView): string[] {
  const found = new Set<string>();
  const seen = new Set([identifier]);
  const queue = [identifier];
  for (let each = queue.shift(); each !== undefined; each = queue.shift()) {
    for (const next of catalogs.withdrawnInto(framework, each)) {
      if (seen.has(next)) continue;
      seen.add(next);
      const status = catalogs.status(framework, next);
      if (status === 'active') found.add(next);
      else if (status === 'withdrawn') queue.push(next);
    }
  }
  return [...found];
}

function add(edges: Map<string, DerivedEdge>, fact: MappingFact, source: End, target: End): void {
  const [a, b] = [source, target].map(({ framework, identifier }) => ({ framework, identifier })) as [
    DerivedEdge['a'],
    DerivedEdge['b'],
  ];
  if (a.framework === b.framework && a.identifier === b.identifier) return;
  const status = source.isFollowed || target.isFollowed ? 'auto' : statedStatus(fact);
  const keys = [`${a.framework}:${a.identifier}`, `${b.framework}:${b.identifier}`].sort();
  const key = keys.join(' ');
  const known = edges.get(key);
  if (!known) {
    edges.set(key, { a, b, status, evidence: [fact] });
    return;
  }
  known.evidence.push(fact);
  if (status === 'verified') known.status = 'verified';
}
