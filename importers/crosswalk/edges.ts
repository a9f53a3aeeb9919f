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
  /** (a): older lists and deprecated CCIs do not count, nor Rev 4 if there is a Rev 5. */
  const isReplaced = (fact: MappingFact) =>
    fact.fromFramework === 'cci' &&
    (isOutdated(fact) ||
      catalogs.status('cci', fact.fromIdentifier) === 'withdrawn' ||
      (toRevision(fact) === cciRevisions.carriedOver && hasRev5.has(fact.fromIdentifier)));

  for (const fact of facts) {
    if (!isEdgeFact(fact) || isReplaced(fact)) continue;
    const { sourceId, row, fromFramework, fromIdentifier, toFramework, toIdentifier } = fact;
    // (a): a CCI does not pass to the successors of a control.
    const follows = ![fromFramework, toFramework].includes('cci');
    const sources = endsOf(fromFramework, fromIdentifier, catalogs, follows);
    const targets = endsOf(toFramework, toIdentifier, catalogs, follows);
    const gone = sources.length === 0 ? fromFramework : targets.length === 0 ? toFramework : null;
    const what =
      problemOf(fact, catalogs) ??
      (gone === null ? null : `${follows ? 'no active successor' : 'withdrawn'} in ${gone}`);
    if (what === null)
      for (const source of sources) for (const target of targets) add(edges, fact, source, target);
    else {
      const place = row === null ? '' : `row ${row}: `;
      reports.push({ sourceId, what, pair: `${place}${fromIdentifier} -> ${toIdentifier}` });
    }
  }
  const grouped = Map.groupBy(reports, ({ sourceId, what }) => `${sourceId} ${what}`);
  const problems = [...grouped.values()].map((each) => {
    const { sourceId, what } = each[0]!;
    const pairs = firstOf(each.map(({ pair }) => pair));
    return { sourceId, message: `${each.length} pairs make no mapping, ${what}: ${pairs}` };
  });
  return { edges: [...edges.values()], problems };
}

/** The revision of 800-53, infinite for a label without a number; null for another framework. */
function revisionOf(framework: string, version: string): number | null {
  if (framework !== 'nist-800-53') return null;
  const key = versionKey(framework, version);
  return /^\d+$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY;
}

const toRevision = ({ toFramework, toVersion }: MappingFact) => revisionOf(toFramework, toVersion);

function revisionsOf(fact: MappingFact): number[] {
  return [revisionOf(fact.fromFramework, fact.fromVersion), toRevision(fact)].filter((each) => each !== null);
}

/** Pairs with Rev 3 and older give no edge (D7.1). */
const isEdgeFact = (fact: MappingFact) =>
  revisionsOf(fact).every((revision) => revision >= cciRevisions.carriedOver);

function problemOf(fact: MappingFact, catalogs: CatalogView): string | null {
  const { fromFramework, fromVersion, fromIdentifier, toFramework, toIdentifier } = fact;
  if (catalogs.isOutdated(fromFramework, fromVersion))
    return `a newer version of ${fromFramework} is imported`;
  // A revision newer than all imported ones may have other controls. A label without a number is a site's own.
  const newer = revisionsOf(fact).find(
    (revision) => Number.isFinite(revision) && revision > cciRevisions.verified,
  );
  if (newer !== undefined && fromFramework === 'cci')
    return `Rev ${cciRevisions.verified} is the newest that counts for a CCI`;
  if (newer !== undefined && !catalogs.hasVersion('nist-800-53', String(newer)))
    return `Rev ${newer} of nist-800-53 is not imported`;
  const missing = [fromFramework, toFramework].find((framework) => !catalogs.has(framework));
  if (missing !== undefined) return `${excerpt(missing)} is not imported`;
  if (catalogs.status(fromFramework, fromIdentifier) === 'unknown')
    return `unknown control of ${fromFramework}`;
  return catalogs.status(toFramework, toIdentifier) === 'unknown'
    ? `unknown control of ${toFramework}`
    : null;
}

/** The active controls of an end: itself, or the active ones that it went into. */
function endsOf(framework: string, identifier: string, catalogs: CatalogView, follows: boolean): GraphNode[] {
  const found: GraphNode[] = [];
  const queue = [identifier];
  // The queue grows while it is read.
  for (const each of queue) {
    const status = catalogs.status(framework, each);
    if (status === 'active') found.push({ framework, identifier: each });
    else if (status === 'withdrawn' && follows)
      for (const next of catalogs.withdrawnInto(framework, each)) if (!queue.includes(next)) queue.push(next);
  }
  return found;
}

/** (a) to (d) of D7.1; a site's own pairs are `auto` until an operator decides. */
function statedStatus(fact: MappingFact): MappingStatus {
  const { fromFramework, fromVersion, isVerified } = fact;
  const revision = toRevision(fact);
  const isPublished =
    (fromFramework === 'cci' && revision === cciRevisions.verified) ||
    (fromFramework === 'nist-800-171' && versionKey(fromFramework, fromVersion) === '3' && revision === 5) ||
    (fromFramework === 'dod-8500' && revision === 4);
  return isPublished || isVerified ? 'verified' : 'auto';
}

function add(edges: Map<string, DerivedEdge>, fact: MappingFact, a: GraphNode, b: GraphNode): void {
  if (nameOf(a) === nameOf(b)) return;
  const isStated = a.identifier === fact.fromIdentifier && b.identifier === fact.toIdentifier;
  const status = isStated ? statedStatus(fact) : 'auto';
  const key = nameOfEdge({ a, b });
  const edge = edges.get(key) ?? { a, b, status, evidence: [] };
  edges.set(key, edge);
  edge.evidence.push(fact);
  if (status === 'verified') edge.status = 'verified';
}
