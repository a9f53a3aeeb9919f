import { cciRevisions, versionKey } from '../../src/crosswalk/frameworks.ts';
import type { MappingStatus } from '../../src/crosswalk/graph.ts';

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

/** What the derivation must know of the catalogs. */
export interface CatalogView {
  /** True when some version of the framework is imported. */
  has(framework: string): boolean;
  /** `active` in the version of the framework that is newest (800-171: in its own), `withdrawn`, or unknown. */
  status(framework: string, identifier: string): 'active' | 'withdrawn' | 'unknown';
  /**
   * Whether a newer edition of what a framework publishes is imported: of the CCI list only the newest counts. What
   * is stated for a revision of the NIST catalogs counts whatever newer one there is.
   */
  isOutdated(framework: string, version: string): boolean;
  /** The identifiers that a withdrawn control went into. */
  withdrawnInto(framework: string, identifier: string): string[];
}

/** One undirected edge with the facts that it rests on. */
export interface DerivedEdge {
  a: { framework: string; identifier: string };
  b: { framework: string; identifier: string };
  status: MappingStatus;
  evidence: MappingFact[];
}

/** What a fact could not be used for, in words, for the ledger line of its source. */
export interface MappingProblem {
  sourceId: number;
  message: string;
}

interface Target {
  identifier: string;
  status: MappingStatus;
}

/**
 * Derives the edges of the crosswalk from what the sources state (DECISIONS D7.1). Pure; the order of the facts does
 * not matter. Pairs that give no edge although they should are reported.
 */
export function deriveEdges(
  facts: MappingFact[],
  catalogs: CatalogView,
): { edges: DerivedEdge[]; problems: MappingProblem[] } {
  const edges = new Map<string, DerivedEdge>();
  const problems = new Map<string, { sourceId: number; what: string; where: string[] }>();
  const current = facts.filter((fact) => !catalogs.isOutdated(fact.fromFramework, fact.fromVersion));
  const hasRev5 = new Set(
    current
      .filter((fact) => fact.fromFramework === 'cci' && revisionOf(fact) === 5)
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

  for (const fact of current) {
    if (
      !isEdgeFact(fact) ||
      (fact.fromFramework === 'cci' &&
        revisionOf(fact) === cciRevisions.carriedOver &&
        hasRev5.has(fact.fromIdentifier))
    )
      continue;
    if (isTooNew(fact)) {
      report(fact, `Rev ${cciRevisions.verified} is the newest that counts for a CCI`);
      continue;
    }
    const missing = [fact.fromFramework, fact.toFramework].find((framework) => !catalogs.has(framework));
    if (missing !== undefined) {
      report(fact, `${missing} is not imported`);
      continue;
    }
    const from = catalogs.status(fact.fromFramework, fact.fromIdentifier);
    if (from === 'unknown') report(fact, `unknown control of ${fact.fromFramework}`);
    if (from !== 'active') continue;
    const targets = targetsOf(fact, catalogs);
    if (targets.length === 0) {
      const unknown = catalogs.status(fact.toFramework, fact.toIdentifier) === 'unknown';
      report(fact, unknown ? `unknown control of ${fact.toFramework}` : 'no active successor');
    }
    for (const target of targets) add(edges, fact, target);
  }
  return {
    edges: [...edges.values()],
    problems: [...problems.values()].map(({ sourceId, what, where }) => ({
      sourceId,
      message: `${where.length} pairs make no edge, ${what}: ${where.slice(0, 5).join(', ')}${where.length > 5 ? ', ...' : ''}`,
    })),
  };
}

/** The revision of 800-53 that a pair is stated for; null for another framework. */
function revisionOf(fact: MappingFact): number | null {
  if (fact.toFramework !== 'nist-800-53') return null;
  const key = versionKey(fact.toFramework, fact.toVersion);
  return /^\d+$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY;
}

/** References to Rev 3 and older make no edge (D7.1). */
function isEdgeFact(fact: MappingFact): boolean {
  const revision = revisionOf(fact);
  return revision === null || revision >= cciRevisions.carriedOver;
}

/** A revision of 800-53 that D7.1 (a) does not know says nothing of a CCI. A label without a number is a site's own. */
function isTooNew(fact: MappingFact): boolean {
  const revision = fact.fromFramework === 'cci' ? revisionOf(fact) : null;
  return revision !== null && Number.isFinite(revision) && revision > cciRevisions.verified;
}

function targetsOf(fact: MappingFact, catalogs: CatalogView): Target[] {
  const { fromFramework, toFramework, toIdentifier } = fact;
  const status = catalogs.status(toFramework, toIdentifier);
  if (fromFramework === 'cci' && toFramework === 'nist-800-53') {
    // (a): active controls only, nothing is followed; an older reference is only carried over.
    if (status !== 'active') return [];
    const isVerified = revisionOf(fact) === cciRevisions.verified;
    return [{ identifier: toIdentifier, status: isVerified ? 'verified' : 'auto' }];
  }
  if (status === 'active') return [{ identifier: toIdentifier, status: statedStatus(fact) }];
  if (status === 'unknown') return [];
  return successors(toFramework, toIdentifier, catalogs).map((identifier) => ({
    identifier,
    status: 'auto',
  }));
}

/** The status of a pair whose target is active: (b), (c), (d) of D7.1; a site's own pairs wait for an operator. */
function statedStatus(fact: MappingFact): MappingStatus {
  if (fact.fromFramework === 'nist-800-171' && fact.toFramework === 'nist-800-53') {
    return versionKey(fact.fromFramework, fact.fromVersion) === '3' ? 'verified' : 'auto';
  }
  return fact.fromFramework === 'dod-8500' && fact.toFramework === 'nist-800-53' ? 'verified' : 'auto';
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

function add(edges: Map<string, DerivedEdge>, fact: MappingFact, target: Target): void {
  const a = { framework: fact.fromFramework, identifier: fact.fromIdentifier };
  const b = { framework: fact.toFramework, identifier: target.identifier };
  if (a.framework === b.framework && a.identifier === b.identifier) return;
  const keys = [`${a.framework}:${a.identifier}`, `${b.framework}:${b.identifier}`].sort();
  const key = keys.join(' ');
  const known = edges.get(key);
  if (!known) {
    edges.set(key, { a, b, status: target.status, evidence: [fact] });
    return;
  }
  known.evidence.push(fact);
  if (target.status === 'verified') known.status = 'verified';
}
