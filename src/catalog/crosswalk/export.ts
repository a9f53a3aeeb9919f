import { and, asc, eq, or, sql } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { oscalNamespace, stableId } from '../../base/ids.ts';
import { cut } from '../../base/text.ts';
import { controls, frameworkVersions } from '../../db/control-tables.ts';
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
import { requireFramework } from '../controls/frameworks.ts';
import { oscalId } from '../controls/identifier.ts';
import { guarded } from '../controls/interchange.ts';
import { catalogResource, publicationOf } from '../controls/oscal.ts';
import { ofControl } from '../controls/versions.ts';
import { createMappingDecisions, type MappingDecision } from './decisions.ts';
import {
  edgeBetween,
  type Graph,
  type GraphNode,
  type MappingStatus,
  nameOf,
  nameOfEdge,
  statuses,
} from './graph.ts';
import type { CrosswalkService } from './queries.ts';

/** The name of our property with a pair as its source states it: JSON of the columns of `pairColumns`, relationship last. */
export const statedName = 'stated';
/** The relationship of OSCAL that relates nothing. */
export const noRelationship = 'no-relationship';

/** A pair as a source states it. */
interface StatedPair {
  fromFramework: string;
  fromVersion: string;
  fromIdentifier: string;
  toFramework: string;
  toVersion: string;
  toIdentifier: string;
  reference: string;
  /** From the left to the right, as OSCAL names it; `""` where the source states none. */
  relationship: string;
}

/** A control in the newest version that has it. */
interface End extends GraphNode {
  version: string;
  title: string;
}

/** A direct edge between two frameworks. */
export interface DirectMapping {
  from: End;
  to: End;
  status: MappingStatus;
  /** What publishers state of it. */
  stated: StatedPair[];
  decision: MappingDecision | null;
}

/** All direct edges between two frameworks, and the active controls of the first that have none. */
export interface ExportedMappings {
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
  const pairsOf = createStatedPairs(db);
  const changed = db.sqlite
    .prepare<{ from: string; to: string }, string | null>(
      `SELECT max(edition) FROM mapping_facts
        WHERE edition GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]*'
          AND ((from_framework = @from AND to_framework = @to) OR (from_framework = @to AND to_framework = @from))`,
    )
    .pluck();
  const decisions = createMappingDecisions(db);
  const { framework, version, isNewest } = frameworkVersions;
  // The revisions of 800-171 name different controls; of every other framework the newest version counts.
  const { identifier, title, status } = controls;
  const everyEnd = db.orm
    .select({ framework, version, identifier, title, status })
    .from(controls)
    .innerJoin(frameworkVersions, ofControl)
    .where(
      and(eq(framework, sql.placeholder('framework')), or(eq(isNewest, 1), eq(framework, 'nist-800-171'))),
    )
    .orderBy(asc(isNewest), asc(version), asc(controls.ordinal))
    .prepare();

  /** The direct edges from one framework to another. */
  function mappingsOf({ nodes, neighbors }: Graph, from: string, to: string, ends: Map<string, End>) {
    const endOf = (node: GraphNode): End => ends.get(nameOf(node)) ?? { ...node, version: '', title: '' };
    const pairs = pairsOf(from, to);
    const decided = new Map(decisions.all().map(({ ends: [a, b], ...each }) => [nameOfEdge({ a, b }), each]));
    const mappings: DirectMapping[] = [];
    for (const [id, node] of nodes.entries()) {
      if (node.framework !== from) continue;
      for (const neighbor of neighbors[id]!) {
        const other = nodes[neighbor.node]!;
        const status = statuses[neighbor.status]!;
        // Within one framework both ends of an edge have it.
        if (other.framework !== to || (from === to && neighbor.node < id)) continue;
        const name = nameOfEdge({ a: node, b: other });
        const stated = pairs.get(name) ?? [];
        pairs.delete(name);
        if (status === 'rejected') continue;
        mappings.push({
          from: endOf(node),
          to: endOf(other),
          status,
          stated,
          decision: decided.get(name) ?? null,
        });
      }
    }
    const taken = new Set(mappings.flatMap(({ stated }) => stated.map((pair) => JSON.stringify(pair))));
    const others = (pairs.get('') ?? []).filter((pair) => !taken.has(JSON.stringify(pair)));
    return { mappings, others };
  }

  return (from: string, to: string): ExportedMappings =>
    db.read(() => {
      const rows = [...new Set([from, to])].flatMap((each) => everyEnd.all({ framework: each }));
      for (const [field, each] of Object.entries({ from, to })) {
        const isKnown = rows.some(({ framework }) => framework === each);
        requireFramework(each, isKnown, field);
      }
      const ends = new Map(rows.map(({ status: _, ...end }) => [nameOf(end), end]));
      const { mappings, others } = mappingsOf(crosswalk.graph(), from, to, ends);
      if (mappings.length === 0)
        throw new AppError('NOT_FOUND', `No direct mappings between ${cut(from)} and ${cut(to)}`);
      const mapped = new Set(mappings.flatMap((each) => [nameOf(each.from), nameOf(each.to)]));
      const unmapped = rows.filter(
        (row) => row.framework === from && row.status === 'active' && !mapped.has(nameOf(row)),
      );
      return { from, to, changed: changed.get({ from, to }) ?? null, mappings, others, unmapped };
    });
}

/** Gives a function that reads what is stated between two frameworks, by edge; `""` has the pairs that make none. */
function createStatedPairs({ sqlite }: Database) {
  const rows = sqlite.prepare<
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
      WHERE (f.from_framework = @from AND f.to_framework = @to) OR (f.from_framework = @to AND f.to_framework = @from)
      ORDER BY 1, 2, 4, 5, 3, 6, 7, 8`,
  );
  return (from: string, to: string): Map<string, StatedPair[]> => {
    const pairs = new Map<string, StatedPair[]>();
    for (const { a, b, ...pair } of rows.all({ from, to })) {
      const name = a === null || b === null ? '' : edgeBetween(a, b);
      const known = pairs.get(name) ?? [];
      pairs.set(name, known);
      known.push(pair);
    }
    return pairs;
  };
}

/** The columns of the csv and xlsx, which are those of our interchange (data/README.md): a row for each stated pair. */
export const pairColumns: Column<StatedPair>[] = (
  [
    ...([
      'fromFramework',
      'fromVersion',
      'fromIdentifier',
      'toFramework',
      'toVersion',
      'toIdentifier',
    ] as const),
    'reference',
  ] as const
).map((name) => ({ name, value: (row) => guarded(row[name]) }));

/** The stated pairs of an export, and those that only the site relates. Each once. */
export function pairsOf({ mappings, others }: ExportedMappings): StatedPair[] {
  const own = mappings.filter(({ stated }) => stated.length === 0).map(ownPair);
  const pairs = [...mappings.flatMap(({ stated }) => stated), ...others, ...own];
  const rows = new Map(pairs.map((pair) => [JSON.stringify({ ...pair, relationship: '' }), pair]));
  return [...rows.values()].filter(({ fromVersion }) => fromVersion !== '');
}

function ownPair({ from, to, decision }: DirectMapping): StatedPair {
  return {
    ...{ fromFramework: from.framework, fromVersion: from.version, fromIdentifier: from.identifier },
    ...{ toFramework: to.framework, toVersion: to.version, toIdentifier: to.identifier },
    ...{ reference: oneLine(decision?.reason ?? ''), relationship: '' },
  };
}

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
  const value = JSON.stringify([
    ...pairColumns.map(({ name }) => pair[name as keyof typeof pair]),
    relationship,
  ]);
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
