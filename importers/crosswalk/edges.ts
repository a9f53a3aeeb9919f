import { cciRevisions, compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import {
  type GraphNode,
  type MappingStatus,
  type NamedEdge,
  nameOf,
  nameOfEdge,
} from '../../src/catalog/crosswalk/graph.ts';
import type { SourceProblem } from '../../src/read/import-error.ts';
import type { MergedCatalog } from '../controls/merge.ts';
import { excerpt, firstOf } from '../read/source-text.ts';

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

/** What counts of the catalogs: each control in its newest version, by name, and the versions of frameworks, in order. */
export interface KnownControls {
  controls: Map<string, { version: string; status: 'active' | 'withdrawn'; withdrawnInto: string[] }>;
  versions: Map<string, string[]>;
}

/** The controls of some catalogs. */
export function knownControls(catalogs: MergedCatalog[]): KnownControls {
  const sorted = catalogs.toSorted((a, b) => compareVersions(a.version, b.version));
  const known: KnownControls = { controls: new Map(), versions: new Map() };
  for (const { framework, version, controls } of sorted) {
    known.versions.set(framework, [...(known.versions.get(framework) ?? []), version]);
    for (const { identifier, status, withdrawnInto } of controls)
      known.controls.set(nameOf({ framework, identifier }), { version, status, withdrawnInto });
  }
  return known;
}

/** Derives the edges (rule D7.1), and reports pairs without the edge that they should give. Pure. */
export function deriveEdges(
  facts: MappingFact[],
  { controls, versions }: KnownControls,
): { edges: DerivedEdge[]; problems: SourceProblem[] } {
  const edges = new Map<string, DerivedEdge>();
  const reports: { sourceId: number; what: string; pair: string }[] = [];
  const versionsOf = (framework: string) => versions.get(framework) ?? [];

  /** A control that the newest version lacks is withdrawn, but the revisions of 800-171 have different controls. */
  function isActive(end: GraphNode): boolean {
    const control = controls.get(nameOf(end));
    const isCurrent =
      end.framework === 'nist-800-171' || control?.version === versionsOf(end.framework).at(-1);
    return control?.status === 'active' && isCurrent;
  }

  /** Whether a newer version of the left side is imported. The revisions of NIST's catalogs all count. */
  function isOutdated({ fromFramework, fromVersion }: MappingFact): boolean {
    const known = versionsOf(fromFramework);
    return !fromFramework.startsWith('nist-') && known.includes(fromVersion) && fromVersion !== known.at(-1);
  }

  const hasRev5 = new Set(
    facts
      .filter((fact) => fact.fromFramework === 'cci' && toRevision(fact) === 5 && !isOutdated(fact))
      .map((fact) => fact.fromIdentifier),
  );

  /** (a): older lists and deprecated CCIs do not count, nor Rev 4 if there is a Rev 5. */
  function isReplaced(fact: MappingFact): boolean {
    const [from] = endsIn(fact);
    if (from.framework !== 'cci') return false;
    const isDeprecated = controls.has(nameOf(from)) && !isActive(from);
    const isOlder = toRevision(fact) === cciRevisions.carriedOver && hasRev5.has(from.identifier);
    return isOutdated(fact) || isDeprecated || isOlder;
  }

  function problemOf(fact: MappingFact): string | null {
    const { fromFramework } = fact;
    const ends = endsIn(fact);
    if (isOutdated(fact)) return `a newer version of ${fromFramework} is imported`;
    // A revision newer than all imported ones may have other controls. A label without a number is a site's own.
    const newer = revisionsOf(fact).find(
      (revision) => Number.isFinite(revision) && revision > cciRevisions.verified,
    );
    if (newer !== undefined && fromFramework === 'cci')
      return `Rev ${cciRevisions.verified} is the newest that counts for a CCI`;
    const isNewer = (version: string) => versionKey('nist-800-53', version) === String(newer);
    if (newer !== undefined && !versionsOf('nist-800-53').some(isNewer))
      return `Rev ${newer} of nist-800-53 is not imported`;
    const missing = ends.find(({ framework }) => !versions.has(framework));
    if (missing !== undefined) return `${excerpt(missing.framework)} is not imported`;
    const unknown = ends.find((end) => !controls.has(nameOf(end)));
    return unknown === undefined ? null : `unknown control of ${unknown.framework}`;
  }

  /** The active controls of an end: itself, or the active ones that it went into. */
  function activeEnds(end: GraphNode, follows: boolean): GraphNode[] {
    const identifiers = new Set([end.identifier]);
    const active: GraphNode[] = [];
    // The set grows while it is read.
    for (const identifier of identifiers) {
      const each = { framework: end.framework, identifier };
      if (isActive(each)) active.push(each);
      else if (follows)
        for (const next of controls.get(nameOf(each))?.withdrawnInto ?? []) identifiers.add(next);
    }
    return active;
  }

  for (const fact of facts) {
    if (!isEdgeFact(fact) || isReplaced(fact)) continue;
    const { sourceId, row, fromIdentifier, toIdentifier } = fact;
    const ends = endsIn(fact);
    // (a): a CCI does not pass to the successors of a control.
    const follows = !ends.some(({ framework }) => framework === 'cci');
    const [sources, targets] = ends.map((end) => activeEnds(end, follows)) as [GraphNode[], GraphNode[]];
    const gone = sources.length === 0 ? ends[0] : targets.length === 0 ? ends[1] : null;
    const what =
      problemOf(fact) ?? (gone && `${follows ? 'no active successor' : 'withdrawn'} in ${gone.framework}`);
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

const endsIn = (fact: MappingFact): [GraphNode, GraphNode] => [
  { framework: fact.fromFramework, identifier: fact.fromIdentifier },
  { framework: fact.toFramework, identifier: fact.toIdentifier },
];

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
