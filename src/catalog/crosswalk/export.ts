import { AppError } from '../../base/errors.ts';
import { oscalNamespace, stableId } from '../../base/ids.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import type { Column } from '../../http/columns.ts';
import {
  filled,
  type OscalProp,
  oneLine,
  oscalDocument,
  oscalMetadata,
  ownProp,
} from '../../http/oscal-parts.ts';
import { guarded } from '../controls/export.ts';
import { requireFramework } from '../controls/frameworks.ts';
import { oscalId } from '../controls/identifier.ts';
import { catalogResource, publicationOf } from '../controls/oscal.ts';
import { createMappingDecisions, type MappingDecision } from './decisions.ts';
import { edgeBetween, type GraphNode, type MappingStatus, nameOf, nameOfEdge } from './graph.ts';
import type { CrosswalkService } from './queries.ts';

/** The columns of our interchange for pairs (data/README.md). */
export const pairFields = [
  'fromFramework',
  'fromVersion',
  'fromIdentifier',
  'toFramework',
  'toVersion',
  'toIdentifier',
  'reference',
] as const;

/**
 * A pair as a source states it. `relationship` is from the left to the right, as OSCAL names it; `""` where the source
 * states none.
 */
type StatedPair = Record<(typeof pairFields)[number] | 'relationship', string>;

/** A control in the newest version that has it. */
interface End extends GraphNode {
  version: string;
}

/** A direct edge between two frameworks. */
interface DirectMapping {
  from: End;
  to: End;
  status: MappingStatus;
  /** What publishers state of it. */
  stated: StatedPair[];
  decision: MappingDecision | null;
}

/** All direct edges between two frameworks, and the active controls of the first that have none. */
interface ExportedMappings {
  from: string;
  to: string;
  changed: string | null;
  mappings: DirectMapping[];
  /** The stated pairs that make no direct edge: those of older revisions. */
  others: StatedPair[];
  unmapped: End[];
}

export type MappingExport = ReturnType<typeof createMappingExport>;

/** Gives a function that reads the direct edges between two frameworks, without rejected ones (rule D30.1). */
export function createMappingExport(db: Database, crosswalk: CrosswalkService) {
  // A pair of a control with itself says nothing.
  const statedPairs = db.sqlite.prepare<
    { from: string; to: string },
    StatedPair & { a: string | null; b: string | null }
  >(
    `SELECT DISTINCT f.from_framework AS fromFramework, f.from_version AS fromVersion,
            f.from_identifier AS fromIdentifier, f.to_framework AS toFramework, f.to_version AS toVersion,
            f.to_identifier AS toIdentifier, f.reference, coalesce(d.relationship, '') AS relationship,
            a.framework || ':' || a.identifier AS a, b.framework || ':' || b.identifier AS b
       FROM mapping_facts AS f
       LEFT JOIN mapping_details AS d ON d.source_id = f.source_id AND d.ordinal = f.ordinal
       LEFT JOIN crosswalk_evidence AS e ON e.source_id = f.source_id AND e.ordinal = f.ordinal
       LEFT JOIN crosswalk_nodes AS a ON a.id = e.a LEFT JOIN crosswalk_nodes AS b ON b.id = e.b
      WHERE ((f.from_framework = @from AND f.to_framework = @to) OR (f.from_framework = @to AND f.to_framework = @from))
        AND (f.from_framework <> f.to_framework OR f.from_identifier <> f.to_identifier)
      ORDER BY 1, 2, 4, 5, 3, 6, 7, 8`,
  );
  const changed = db.sqlite
    .prepare<{ from: string; to: string }, string | null>(
      `SELECT max(edition) FROM mapping_facts
        WHERE edition GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]*'
          AND ((from_framework = @from AND to_framework = @to) OR (from_framework = @to AND to_framework = @from))`,
    )
    .pluck();
  const decisions = createMappingDecisions(db);
  // The revisions of 800-171 name different controls; of every other framework the newest version counts.
  const everyEnd = db.sqlite.prepare<[string], End & { status: 'active' | 'withdrawn' }>(
    `SELECT c.framework, c.version, c.identifier, c.status
       FROM controls AS c
       JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version
      WHERE c.framework = ? AND (v.is_newest = 1 OR c.framework = 'nist-800-171')
      ORDER BY v.is_newest, c.version, c.ordinal`,
  );

  return (from: string, to: string): ExportedMappings => {
    const rows = [...new Set([from, to])].flatMap((each) => everyEnd.all(each));
    for (const [field, each] of Object.entries({ from, to })) {
      const isKnown = rows.some(({ framework }) => framework === each);
      requireFramework(each, isKnown, field);
    }
    const ends = new Map(rows.map((end) => [nameOf(end), end]));
    // By edge; "" has the pairs that make none.
    const pairs = Map.groupBy(statedPairs.all({ from, to }), ({ a, b }) =>
      a === null || b === null ? '' : edgeBetween(a, b),
    );
    const statedOf = (edge: string): StatedPair[] =>
      (pairs.get(edge) ?? []).map(({ a: _, b: __, ...pair }) => pair);
    const ofFrom = crosswalk.graph().nodes.filter(({ framework }) => framework === from);
    const mappings = ofFrom.flatMap((node) =>
      node.neighbors
        // Within one framework both ends of an edge have it.
        .filter(({ node: other }) => other.framework === to && (from !== to || other.id > node.id))
        .filter(({ status }) => status !== 'rejected')
        .map(
          ({ node: other, status }): DirectMapping => ({
            from: ends.get(nameOf(node))!,
            to: ends.get(nameOf(other))!,
            status,
            stated: statedOf(nameOfEdge({ a: node, b: other })),
            decision: decisions.of(node, other),
          }),
        ),
    );
    const taken = new Set(mappings.flatMap(({ stated }) => stated.map((pair) => JSON.stringify(pair))));
    const others = statedOf('').filter((pair) => !taken.has(JSON.stringify(pair)));
    if (mappings.length === 0)
      throw new AppError('NOT_FOUND', `No direct mappings between ${cut(from)} and ${cut(to)}`);
    const mapped = new Set(mappings.flatMap((each) => [nameOf(each.from), nameOf(each.to)]));
    const unmapped = rows.filter(
      (row) => row.framework === from && row.status === 'active' && !mapped.has(nameOf(row)),
    );
    return { from, to, changed: changed.get({ from, to }) ?? null, mappings, others, unmapped };
  };
}

/** The columns of the csv and xlsx: a row for each stated pair. */
export const pairColumns: Column<StatedPair>[] = pairFields.map((name) => ({
  name,
  value: (row) => guarded(row[name]),
}));

/** The stated pairs of an export, and those that only the site relates. Each once. */
export function pairsOf({ mappings, others }: ExportedMappings): StatedPair[] {
  const own = mappings.filter(({ stated }) => stated.length === 0).map(ownPair);
  const pairs = [...mappings.flatMap(({ stated }) => stated), ...others, ...own];
  const rows = new Map(pairs.map((pair) => [JSON.stringify({ ...pair, relationship: '' }), pair]));
  return [...rows.values()].filter(({ fromVersion }) => fromVersion !== '');
}

function ownPair({ from, to, decision }: DirectMapping): StatedPair {
  return {
    fromFramework: from.framework,
    fromVersion: from.version,
    fromIdentifier: from.identifier,
    toFramework: to.framework,
    toVersion: to.version,
    toIdentifier: to.identifier,
    reference: oneLine(decision?.reason ?? ''),
    relationship: '',
  };
}

/** The name of our property with a pair as its source states it: JSON of `pairFields`, relationship last. */
export const statedName = 'stated';
/** The relationship of OSCAL that relates nothing. */
export const noRelationship = 'no-relationship';

/** The crosswalk between two frameworks as an OSCAL mapping-collection: a mapping for each pair of their versions. */
export function toMappingCollection({
  from,
  to,
  changed,
  mappings,
  others,
  unmapped,
}: ExportedMappings): object {
  const pairs = Map.groupBy(mappings, (each) => JSON.stringify([each.from.version, each.to.version]));
  const written = [...pairs].map(([key, of], index) => {
    const [fromVersion, toVersion] = JSON.parse(key) as [string, string];
    const resources = [catalogResource(from, fromVersion), catalogResource(to, toVersion)] as const;
    const names = [from, fromVersion, to, toVersion];
    const gaps = unmapped.filter(({ version }) => version === fromVersion);
    const mapping = {
      uuid: stableId('oscal-mapping', ...names),
      'source-resource': { type: 'catalog', href: `#${resources[0].uuid}` },
      'target-resource': { type: 'catalog', href: `#${resources[1].uuid}` },
      ...filled('props', index === 0 ? others.map(quoted) : []),
      maps: of.map(toMap),
      ...(gaps.length === 0 ? {} : { 'source-gap-summary': gapsOf(names, gaps) }),
    };
    return { mapping, resources };
  });
  const resources = new Map(written.flatMap((each) => each.resources).map((each) => [each.uuid, each]));
  const versions = (side: 'from' | 'to') =>
    [...new Set(mappings.map((each) => publicationOf(each[side].framework, each[side].version)))].join(', ');
  return oscalDocument(
    'mapping-collection',
    {
      metadata: oscalMetadata(`${versions('from')} to ${versions('to')}`, changed ?? 'undated', changed),
      provenance: {
        method: 'hybrid',
        'matching-rationale': 'functional',
        status: 'draft',
        'mapping-description':
          'The pairs that publishers state, related by Gapstone to the imported versions. Publishers do not classify the relation: a map says that one control references the other. The property status is verified where a publisher states the pair for these versions or an operator confirmed it, else auto.',
      },
      mappings: written.map(({ mapping }) => mapping),
    },
    [...resources.values()],
  );
}

/** A pair for the import of another site. A property has no line end: JSON escapes it. */
function quoted({ relationship, ...pair }: StatedPair): OscalProp {
  const value = JSON.stringify([...pairFields.map((name) => pair[name]), relationship]);
  return { name: statedName, ns: oscalNamespace, value };
}

/** The relationships of OSCAL, each with that of the other direction. */
const reversed: Record<string, string> = {
  'equivalent-to': 'equivalent-to',
  'equal-to': 'equal-to',
  'subset-of': 'superset-of',
  'superset-of': 'subset-of',
  'intersects-with': 'intersects-with',
};

/** The relationship of OSCAL that all sources state of an edge; else ours, which claims nothing. */
function relationshipOf({ from, stated }: DirectMapping): { ns?: string; relationship: string } {
  const relationships = new Set(
    stated.map(({ fromFramework, fromIdentifier, relationship }) => {
      const isForward = fromFramework === from.framework && fromIdentifier === from.identifier;
      return isForward ? relationship : (reversed[relationship] ?? '');
    }),
  );
  const [relationship = ''] = relationships;
  return relationships.size === 1 && Object.hasOwn(reversed, relationship)
    ? { relationship }
    : { ns: oscalNamespace, relationship: 'references' };
}

const statedFor = ({ fromFramework, fromVersion, toFramework, toVersion }: StatedPair) =>
  `${`${fromFramework} ${fromVersion}`.trim()} to ${`${toFramework} ${toVersion}`.trim()}`;

function toMap(mapping: DirectMapping): object {
  const { from, to, status, stated, decision } = mapping;
  const item = ({ framework, identifier }: End) => [
    { type: 'control', 'id-ref': oscalId(framework, identifier) },
  ];
  return {
    uuid: stableId('oscal-map', from.framework, from.identifier, to.framework, to.identifier),
    ...relationshipOf(mapping),
    sources: item(from),
    targets: item(to),
    ...filled('props', [
      ...ownProp('status', status),
      ...stated.flatMap((pair) => [...ownProp('reference', pair.reference, statedFor(pair)), quoted(pair)]),
      ...(decision === null
        ? []
        : ownProp('decision', decision.status, oneLine(decision.reason) || undefined)),
    ]),
  };
}

function gapsOf(names: string[], gaps: End[]): object {
  const ids = gaps.map(({ framework, identifier }) => oscalId(framework, identifier));
  return { uuid: stableId('oscal-gaps', ...names), 'unmapped-controls': [{ 'with-ids': ids }] };
}
