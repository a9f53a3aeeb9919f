import { and, asc, eq, or, sql } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { oscalNamespace, stableId } from '../../base/ids.ts';
import { cut } from '../../base/text.ts';
import { controls, frameworkVersions } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { type Column, joined } from '../../http/columns.ts';
import { filled, oneLine, oscalDocument, oscalMetadata, ownProp } from '../../http/oscal-parts.ts';
import { requireFramework } from '../controls/frameworks.ts';
import { oscalId } from '../controls/identifier.ts';
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

/** A publisher's reference behind an edge, and its versions: `cci 2022-03-09 to nist-800-53 Rev 5`. */
interface Reference {
  reference: string;
  statedFor: string;
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
  references: Reference[];
  decision: MappingDecision | null;
}

/** All direct edges between two frameworks, and the active controls of the first that have none. */
export interface ExportedMappings {
  from: string;
  to: string;
  changed: string | null;
  mappings: DirectMapping[];
  unmapped: End[];
}

export type MappingExport = ReturnType<typeof createMappingExport>;

/** Gives a function that reads the direct edges between two frameworks, without rejected ones (rule D30.1). */
export function createMappingExport(db: Database, crosswalk: CrosswalkService) {
  const referencesOf = createReferences(db);
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
    const references = referencesOf(from, to);
    const decided = new Map(decisions.all().map(({ ends: [a, b], ...each }) => [nameOfEdge({ a, b }), each]));
    const mappings: DirectMapping[] = [];
    for (const [id, node] of nodes.entries()) {
      if (node.framework !== from) continue;
      for (const neighbor of neighbors[id]!) {
        const other = nodes[neighbor.node]!;
        const status = statuses[neighbor.status]!;
        // Within one framework both ends of an edge have it.
        if (other.framework !== to || status === 'rejected' || (from === to && neighbor.node < id)) continue;
        const name = nameOfEdge({ a: node, b: other });
        mappings.push({
          from: endOf(node),
          to: endOf(other),
          status,
          references: references.get(name) ?? [],
          decision: decided.get(name) ?? null,
        });
      }
    }
    return mappings;
  }

  return (from: string, to: string): ExportedMappings =>
    db.read(() => {
      const rows = [...new Set([from, to])].flatMap((each) => everyEnd.all({ framework: each }));
      for (const [field, each] of Object.entries({ from, to })) {
        const isKnown = rows.some(({ framework }) => framework === each);
        requireFramework(each, isKnown, field);
      }
      const ends = new Map(rows.map(({ status: _, ...end }) => [nameOf(end), end]));
      const mappings = mappingsOf(crosswalk.graph(), from, to, ends);
      if (mappings.length === 0)
        throw new AppError('NOT_FOUND', `No direct mappings between ${cut(from)} and ${cut(to)}`);
      const mapped = new Set(mappings.flatMap((each) => [nameOf(each.from), nameOf(each.to)]));
      const unmapped = rows.filter(
        (row) => row.framework === from && row.status === 'active' && !mapped.has(nameOf(row)),
      );
      return { from, to, changed: changed.get({ from, to }) ?? null, mappings, unmapped };
    });
}

/** Gives a function that reads the references behind the edges between two frameworks. */
function createReferences({ sqlite }: Database) {
  const rows = sqlite.prepare<{ from: string; to: string }, Reference & { a: string; b: string }>(
    `SELECT a.framework || ':' || a.identifier AS a, b.framework || ':' || b.identifier AS b, f.reference,
            trim(f.from_framework || ' ' || f.from_version) || ' to ' || trim(f.to_framework || ' ' || f.to_version)
              AS statedFor
       FROM crosswalk_evidence AS e
       JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b
       JOIN mapping_facts AS f ON f.source_id = e.source_id AND f.ordinal = e.ordinal
      WHERE (a.framework = @from AND b.framework = @to) OR (a.framework = @to AND b.framework = @from)
      GROUP BY 1, 2, 3, 4 ORDER BY e.a, e.b, min(f.ordinal), 3, 4`,
  );
  return (from: string, to: string): Map<string, Reference[]> =>
    Map.groupBy(rows.all({ from, to }), ({ a, b }) => edgeBetween(a, b));
}

/** The columns of the csv and xlsx: a row for each direct edge. */
export const mappingColumns: Column<DirectMapping>[] = [
  ...endColumns('from', ({ from }) => from),
  ...endColumns('to', ({ to }) => to),
  { name: 'status', value: ({ status }) => status },
  { name: 'references', value: ({ references }) => joined(references.map(({ reference }) => reference)) },
  {
    name: 'statedFor',
    value: ({ references }) => joined([...new Set(references.map((each) => each.statedFor))]),
  },
  { name: 'decision', value: ({ decision }) => decision?.reason ?? '' },
];

function endColumns(side: 'from' | 'to', of: (mapping: DirectMapping) => End): Column<DirectMapping>[] {
  return [
    { name: `${side}Framework`, value: (row) => of(row).framework },
    { name: `${side}Version`, value: (row) => of(row).version },
    { name: `${side}Identifier`, value: (row) => of(row).identifier },
    { name: `${side}Title`, value: (row) => of(row).title },
  ];
}

/** The crosswalk between two frameworks as an OSCAL mapping-collection: a mapping for each pair of their versions. */
export function toMappingCollection({ from, to, changed, mappings, unmapped }: ExportedMappings): object {
  const pairs = Map.groupBy(mappings, (each) => JSON.stringify([each.from.version, each.to.version]));
  const written = [...pairs].map(([key, of]) => {
    const [fromVersion, toVersion] = JSON.parse(key) as [string, string];
    const resources = [catalogResource(from, fromVersion), catalogResource(to, toVersion)] as const;
    const names = [from, fromVersion, to, toVersion];
    const gaps = unmapped.filter(({ version }) => version === fromVersion);
    const mapping = {
      uuid: stableId('oscal-mapping', ...names),
      'source-resource': { type: 'catalog', href: `#${resources[0].uuid}` },
      'target-resource': { type: 'catalog', href: `#${resources[1].uuid}` },
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

function toMap({ from, to, status, references, decision }: DirectMapping): object {
  const item = ({ framework, identifier }: End) => [
    { type: 'control', 'id-ref': oscalId(framework, identifier) },
  ];
  return {
    uuid: stableId('oscal-map', from.framework, from.identifier, to.framework, to.identifier),
    ns: oscalNamespace,
    relationship: 'references',
    sources: item(from),
    targets: item(to),
    ...filled('props', [
      ...ownProp('status', status),
      ...references.flatMap(({ reference, statedFor }) => ownProp('reference', reference, statedFor)),
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
