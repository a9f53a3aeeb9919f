import { and, asc, desc, eq, or, sql } from 'drizzle-orm';
import {
  controlKeys,
  controls,
  crosswalkEvidence,
  frameworkVersions,
  mappingDetails,
  mappingFacts,
  ofControl,
} from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { sources } from '../../db/tables.ts';
import { versionKey } from '../controls/frameworks.ts';
import { edgeBetween, type GraphNode, inOrder, nameOf, nameOfEdge } from './graph.ts';
import type { Evidence } from './schema.ts';

/** A pair as a source states it. */
export type Stated = Pick<Evidence, 'from' | 'to'>;

const nodeOf = (end: 'a' | 'b') => sql`(SELECT id FROM crosswalk_nodes
  WHERE framework = ${sql.placeholder(`${end}Framework`)} AND identifier = ${sql.placeholder(`${end}Identifier`)})`;

/** Reads what sources state of pairs and of controls. */
export function createFacts({ orm }: Database) {
  const framework = sql.placeholder('framework');
  const identifier = sql.placeholder('identifier');
  const { fromFramework, fromVersion, fromIdentifier, toFramework, toVersion, toIdentifier } = mappingFacts;
  const { source, sha256, kind, importedAt } = sources;
  const pair = {
    ...{ source, sha256, kind, edition: mappingFacts.edition, importedAt, reference: mappingFacts.reference },
    relationship: mappingDetails.relationship,
    from: { framework: fromFramework, version: fromVersion, identifier: fromIdentifier },
    to: { framework: toFramework, version: toVersion, identifier: toIdentifier },
  };
  const byImport = [asc(importedAt), asc(source), asc(mappingFacts.ordinal)];
  const isEvidence = and(
    eq(mappingFacts.sourceId, crosswalkEvidence.sourceId),
    eq(mappingFacts.ordinal, crosswalkEvidence.ordinal),
  );
  const hasDetails = and(
    eq(mappingDetails.sourceId, mappingFacts.sourceId),
    eq(mappingDetails.ordinal, mappingFacts.ordinal),
  );
  const evidence = orm
    .select(pair)
    .from(crosswalkEvidence)
    .innerJoin(mappingFacts, isEvidence)
    .innerJoin(sources, eq(sources.id, mappingFacts.sourceId))
    .leftJoin(mappingDetails, hasDetails)
    .where(and(eq(crosswalkEvidence.a, nodeOf('a')), eq(crosswalkEvidence.b, nodeOf('b'))))
    .orderBy(...byImport)
    .prepare();
  const isFrom = and(eq(fromFramework, framework), eq(fromIdentifier, identifier));
  const isTo = and(eq(toFramework, framework), eq(toIdentifier, identifier));
  const stated = orm
    .select(pair)
    .from(mappingFacts)
    .innerJoin(sources, eq(sources.id, mappingFacts.sourceId))
    .leftJoin(mappingDetails, hasDetails)
    .where(or(isFrom, isTo))
    .orderBy(...byImport)
    .prepare();
  const newest = orm
    .select({
      status: controls.status,
      withdrawnInto: controls.withdrawnInto,
      isNewest: frameworkVersions.isNewest,
    })
    .from(controlKeys)
    .innerJoin(controls, eq(controls.controlId, controlKeys.id))
    .innerJoin(frameworkVersions, ofControl)
    .where(and(eq(controlKeys.framework, framework), eq(controlKeys.identifier, identifier)))
    .orderBy(desc(frameworkVersions.isNewest), desc(frameworkVersions.version))
    .limit(1)
    .prepare();
  return {
    /** The stated pairs behind an edge; none for an edge that no source makes. */
    evidence(one: GraphNode, other: GraphNode): Evidence[] {
      const [a, b] = inOrder(one, other);
      return evidence
        .all({
          ...{ aFramework: a.framework, aIdentifier: a.identifier },
          ...{ bFramework: b.framework, bIdentifier: b.identifier },
        })
        .map(evidenceOf);
    },

    /** Every stated pair that a control is an end of. */
    stated: ({ framework, identifier }: GraphNode): Evidence[] =>
      stated.all({ framework, identifier }).map(evidenceOf),

    /** A control in the newest version that has it. */
    control: ({ framework, identifier }: GraphNode) => newest.get({ framework, identifier }),
  };
}

/** Sources other than OSCAL state no relationship. */
function evidenceOf({
  relationship,
  ...pair
}: Omit<Evidence, 'relationship'> & { relationship: string | null }): Evidence {
  return { ...pair, ...(relationship ? { relationship } : {}) };
}

/** Gives a function that reads all pairs that sources state between versions of one framework and another framework. */
export function createStatedBetween({ sqlite }: Database) {
  const ends =
    'f.from_framework, f.from_version, f.from_identifier, f.to_framework, f.to_version, f.to_identifier';
  const ofVersions = `(f.from_framework = @one AND f.to_framework = @other AND f.from_version IN (SELECT value FROM json_each(@labels))
      OR f.from_framework = @other AND f.to_framework = @one AND f.to_version IN (SELECT value FROM json_each(@labels)))`;
  const allStated = sqlite
    .prepare<Versions, Ends>(`SELECT DISTINCT ${ends} FROM mapping_facts AS f WHERE ${ofVersions}`)
    .raw();
  const allEvidence = sqlite
    .prepare<Versions, [...Ends, a: string, b: string]>(
      `SELECT DISTINCT ${ends}, a.framework || ':' || a.identifier, b.framework || ':' || b.identifier
         FROM mapping_facts AS f
         JOIN crosswalk_evidence AS e ON e.source_id = f.source_id AND e.ordinal = f.ordinal
         JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b WHERE ${ofVersions}`,
    )
    .raw();
  const allControls = sqlite
    .prepare<[string], ['active' | 'withdrawn', string]>(
      `SELECT c.status, c.identifier FROM controls AS c
         JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version
        WHERE c.framework = ? ORDER BY v.is_newest, v.version`,
    )
    .raw();
  return (one: string, versions: string[], other: string) => {
    const labels = JSON.stringify(versions);
    const pairs = allStated.all({ one, labels, other }).map(statedIn);
    const stated = Map.groupBy(pairs, ({ from, to }) => nameOf(from.framework === one ? from : to));
    const rows = allEvidence.all({ one, labels, other });
    const evidence = Map.groupBy(rows, ({ 6: a, 7: b }) => edgeBetween(a, b));
    const controls = new Map(allControls.all(other).map(([status, identifier]) => [identifier, { status }]));
    return {
      stated: (control: GraphNode) => stated.get(nameOf(control)) ?? [],
      evidence: (a: GraphNode, b: GraphNode) => evidence.get(nameOfEdge({ a, b }))?.map(statedIn) ?? [],
      /** A control of the other framework in the newest version that has it. */
      control: ({ identifier }: GraphNode) => controls.get(identifier),
    };
  };
}

type Versions = { one: string; labels: string; other: string };
type Ends = [string, string, string, string, string, string];

function statedIn(row: Ends | [...Ends, string, string]): Stated {
  const [framework, version, identifier, toFramework, toVersion, toIdentifier] = row;
  return {
    from: { framework, version, identifier },
    to: { framework: toFramework, version: toVersion, identifier: toIdentifier },
  };
}

/** Whether a source states a pair for this version of `control`, one of the two controls of the pair. */
export function isStatedFor({ from, to }: Stated, control: GraphNode, version: string): boolean {
  const key = versionKey(control.framework, version);
  return [from, to].some((end) => isEnd(end, control) && versionKey(end.framework, end.version) === key);
}

/** Whether an end of a stated pair is a control. */
export const isEnd = (end: GraphNode, { framework, identifier }: GraphNode): boolean =>
  end.framework === framework && end.identifier === identifier;
