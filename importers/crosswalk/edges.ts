import { cciRevisions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import {
  type GraphNode,
  type MappingStatus,
  type NamedEdge,
  nameOf,
  nameOfEdge,
} from '../../src/catalog/crosswalk/graph.ts';
import type { SourceProblem } from '../../src/read/import-error.ts';
import { excerpt, firstOf } from '../read/source-text.ts';
import type { CatalogView } from './catalog-view.ts';

/** One pair that a source states; `row` is that of a CSV. */
export interface MappingFact {
  sourceId: number;
  ordinal: number;
  fromFramework: string;
  fromVersion: string;
  fromIdentifier: string;
  toFramework: string;
  toVersion: string;
  toIdentifier: string;
  row: number | null;
  /** 1 where an operator of another site confirmed the pair. */
  isVerified: number | null;
}

/** One edge and the facts that state it. */
export interface DerivedEdge extends NamedEdge {
  evidence: MappingFact[];
}

/** Derives the edges (rule D7.1), and reports pairs without the edge that they should give. Pure. */
export function deriveEdges(
  facts: MappingFact[],
  catalogs: CatalogView,
): { edges: DerivedEdge[]; problems: SourceProblem[] } {
  const edges = new Map<string, DerivedEdge>();
  const reports: { sourceId: number; what: string; pair: string }[] = [];
  const isOutdated = (fact: MappingFact) => catalogs.isOutdated(fact.fromFramework, fact.fromVersion);
  const hasRev5 = new Set(
    facts
      .filter((fact) => fact.fromFramework === 'cci' && toRevision(fact) === 5 && !isOutdated(fact))
      .map((fact) => fact.fromIdentifier),
  );

  const report = ({ sourceId, row, fromIdentifier, toIdentifier }: MappingFact, what: string) => {
    const place = row === null ? '' : `row ${row}: `;
    reports.push({ sourceId, what, pair: `${place}${fromIdentifier} -> ${toIdentifier}` });
  };

  for (const fact of facts) {
    const { fromFramework, fromIdentifier, toFramework, toIdentifier } = fact;
    if (!isEdgeFact(fact)) continue;
    if (fromFramework === 'cci') {
      // (a): older lists and deprecated CCIs do not count, nor Rev 4 if there is a Rev 5.
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
    // (a): a CCI does not pass to the successors of a control.
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
    problems: [...Map.groupBy(reports, ({ sourceId, what }) => `${sourceId} ${what}`).values()].map(
      (each) => {
        const { sourceId, what } = each[0]!;
        const pairs = firstOf(each.map(({ pair }) => pair));
        return { sourceId, message: `${each.length} pairs make no mapping, ${what}: ${pairs}` };
      },
    ),
  };
}

/** The revision of 800-53, infinite for a label without a number; null for another framework. */
function revisionOf(framework: string, version: string): number | null {
  if (framework !== 'nist-800-53') return null;
  const key = versionKey(framework, version);
  return /^\d+$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY;
}

function toRevision(fact: MappingFact): number | null {
  return revisionOf(fact.toFramework, fact.toVersion);
}

function revisionsOf(fact: MappingFact): number[] {
  return [revisionOf(fact.fromFramework, fact.fromVersion), toRevision(fact)].filter((each) => each !== null);
}

/** Pairs with Rev 3 and older give no edge (D7.1). */
function isEdgeFact(fact: MappingFact): boolean {
  return revisionsOf(fact).every((revision) => revision >= cciRevisions.carriedOver);
}

function problemOf(fact: MappingFact, catalogs: CatalogView): string | null {
  const { fromFramework, fromIdentifier, toFramework, toIdentifier } = fact;
  // A revision newer than all imported ones may have other controls. A label without a number is a site's own.
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
  if (missing) return `${excerpt(missing[0])} is not imported`;
  const unknown = ends.find((end) => catalogs.status(...end) === 'unknown');
  return unknown ? `unknown control of ${unknown[0]}` : null;
}

function endsOf(framework: string, identifier: string, catalogs: CatalogView, follows: boolean): GraphNode[] {
  if (catalogs.status(framework, identifier) === 'active') return [{ framework, identifier }];
  if (!follows) return [];
  return successors(framework, identifier, catalogs).map((each) => ({ framework, identifier: each }));
}

/** (a) to (d) of D7.1; a site's own pairs are `auto` until an operator decides. */
function statedStatus(fact: MappingFact): MappingStatus {
  const revision = toRevision(fact);
  const isPublished =
    (fact.fromFramework === 'cci' && revision === cciRevisions.verified) ||
    (fact.fromFramework === 'nist-800-171' &&
      versionKey(fact.fromFramework, fact.fromVersion) === '3' &&
      revision === 5) ||
    (fact.fromFramework === 'dod-8500' && revision === 4);
  return isPublished || fact.isVerified ? 'verified' : 'auto';
}

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

function add(edges: Map<string, DerivedEdge>, fact: MappingFact, a: GraphNode, b: GraphNode): void {
  if (nameOf(a) === nameOf(b)) return;
  const isStated = a.identifier === fact.fromIdentifier && b.identifier === fact.toIdentifier;
  const status = isStated ? statedStatus(fact) : 'auto';
  const key = nameOfEdge({ a, b });
  const known = edges.get(key);
  if (!known) {
    edges.set(key, { a, b, status, evidence: [fact] });
    return;
  }
  known.evidence.push(fact);
  if (status === 'verified') known.status = 'verified';
}
