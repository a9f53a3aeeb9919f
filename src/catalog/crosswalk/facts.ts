import { and, asc, desc, eq, or, sql } from 'drizzle-orm';
import {
  controlKeys,
  controls,
  crosswalkEvidence,
  frameworkVersions,
  mappingFacts,
} from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { sources } from '../../db/tables.ts';
import { versionKey } from '../controls/frameworks.ts';
import { type GraphNode, inOrder, nameOf, nameOfEdge } from './graph.ts';
import type { Evidence } from './schema.ts';

/** What a source states of a pair. */
export type Stated = Pick<Evidence, 'from' | 'to'>;

/** The number that the catalog gave an end of a pair. */
const nodeOf = (end: 'a' | 'b') => sql`(SELECT id FROM crosswalk_nodes
  WHERE framework = ${sql.placeholder(`${end}Framework`)} AND identifier = ${sql.placeholder(`${end}Identifier`)})`;

/** What sources state of pairs and of controls, for whoever follows or explains the crosswalk. */
export function createFacts({ orm, sqlite }: Database) {
  const framework = sql.placeholder('framework');
  const identifier = sql.placeholder('identifier');
  const { fromFramework, fromVersion, fromIdentifier, toFramework, toVersion, toIdentifier } = mappingFacts;
  const { source, sha256, kind, importedAt } = sources;
  const pair = {
    ...{ source, sha256, kind, edition: mappingFacts.edition, importedAt, reference: mappingFacts.reference },
    from: { framework: fromFramework, version: fromVersion, identifier: fromIdentifier },
    to: { framework: toFramework, version: toVersion, identifier: toIdentifier },
  };
  const byImport = [asc(importedAt), asc(source), asc(mappingFacts.ordinal)];
  const ofSource = eq(sources.id, mappingFacts.sourceId);
  const isEvidence = and(
    eq(mappingFacts.sourceId, crosswalkEvidence.sourceId),
    eq(mappingFacts.ordinal, crosswalkEvidence.ordinal),
  );
  const evidence = orm
    .select(pair)
    .from(crosswalkEvidence)
    .innerJoin(mappingFacts, isEvidence)
    .innerJoin(sources, ofSource)
    .where(and(eq(crosswalkEvidence.a, nodeOf('a')), eq(crosswalkEvidence.b, nodeOf('b'))))
    .orderBy(...byImport)
    .prepare();
  const isFrom = and(eq(fromFramework, framework), eq(fromIdentifier, identifier));
  const isTo = and(eq(toFramework, framework), eq(toIdentifier, identifier));
  const stated = orm
    .select(pair)
    .from(mappingFacts)
    .innerJoin(sources, ofSource)
    .where(or(isFrom, isTo))
    .orderBy(...byImport)
    .prepare();
  const isVersion = and(
    eq(frameworkVersions.framework, controls.framework),
    eq(frameworkVersions.version, controls.version),
  );
  const newest = orm
    .select({
      status: controls.status,
      withdrawnInto: controls.withdrawnInto,
      isNewest: frameworkVersions.isNewest,
    })
    .from(controlKeys)
    .innerJoin(controls, eq(controls.controlId, controlKeys.id))
    .innerJoin(frameworkVersions, isVersion)
    .where(and(eq(controlKeys.framework, framework), eq(controlKeys.identifier, identifier)))
    .orderBy(desc(frameworkVersions.isNewest), desc(frameworkVersions.version))
    .limit(1)
    .prepare();
  const between = sqlite
    .prepare<{ from: string; to: string }, [string, string, string, string, string, string]>(
      `SELECT a.framework, a.identifier, b.framework, b.identifier, f.reference,
              trim(f.from_framework || ' ' || f.from_version) || ' to ' || trim(f.to_framework || ' ' || f.to_version)
         FROM crosswalk_evidence AS e
         JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b
         JOIN mapping_facts AS f ON f.source_id = e.source_id AND f.ordinal = e.ordinal
        WHERE (a.framework = @from AND b.framework = @to) OR (a.framework = @to AND b.framework = @from)
        GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY e.a, e.b, min(f.ordinal), 5, 6`,
    )
    .raw();
  const ends =
    'f.from_framework, f.from_version, f.from_identifier, f.to_framework, f.to_version, f.to_identifier';
  const ofVersions = `(f.from_framework = @one AND f.to_framework = @other AND f.from_version IN (SELECT value FROM json_each(@labels))
      OR f.from_framework = @other AND f.to_framework = @one AND f.to_version IN (SELECT value FROM json_each(@labels)))`;
  const allStated = sqlite
    .prepare<Versions, Ends>(`SELECT DISTINCT ${ends} FROM mapping_facts AS f WHERE ${ofVersions}`)
    .raw();
  const allEvidence = sqlite
    .prepare<Versions, [...Ends, ...Edge]>(
      `SELECT DISTINCT ${ends}, a.framework, a.identifier, b.framework, b.identifier FROM mapping_facts AS f
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
  const changed = sqlite
    .prepare<{ from: string; to: string }, string | null>(
      `SELECT max(edition) FROM mapping_facts
        WHERE edition GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]*'
          AND ((from_framework = @from AND to_framework = @to) OR (from_framework = @to AND to_framework = @from))`,
    )
    .pluck();
  return {
    /** What the edges between two frameworks rest on, each reference once for what it is stated for. */
    between: (from: string, to: string) =>
      between.all({ from, to }).map(([aFramework, a, bFramework, b, reference, statedFor]) => ({
        a: { framework: aFramework, identifier: a },
        b: { framework: bFramework, identifier: b },
        ...{ reference, statedFor },
      })),

    /** The newest date that a source of mappings between two frameworks states of itself; null where none does. */
    changed: (from: string, to: string): string | null => changed.get({ from, to }) ?? null,

    /** The stated pairs that an edge rests on; none for one that no source makes. */
    evidence(one: GraphNode, other: GraphNode): Evidence[] {
      const [a, b] = inOrder(one, other);
      return evidence.all({
        ...{ aFramework: a.framework, aIdentifier: a.identifier },
        ...{ bFramework: b.framework, bIdentifier: b.identifier },
      });
    },

    /** What is stated for versions of a framework of its controls and another framework, read together. */
    statedBetween(one: string, versions: string[], other: string) {
      const labels = JSON.stringify(versions);
      const pairs = allStated.all({ one, labels, other }).map(statedIn);
      const stated = Map.groupBy(pairs, ({ from, to }) => nameOf(from.framework === one ? from : to));
      const evidence = Map.groupBy(allEvidence.all({ one, labels, other }), (row) => {
        const [aFramework, a, bFramework, b] = row.slice(6) as Edge;
        const ends = {
          a: { framework: aFramework, identifier: a },
          b: { framework: bFramework, identifier: b },
        };
        return nameOfEdge(ends);
      });
      const controls = new Map(
        allControls.all(other).map(([status, identifier]) => [identifier, { status }]),
      );
      return {
        stated: (control: GraphNode) => stated.get(nameOf(control)) ?? [],
        evidence: (a: GraphNode, b: GraphNode) => evidence.get(nameOfEdge({ a, b }))?.map(statedIn) ?? [],
        /** As the newest version states it that has it; of the other framework alone. */
        control: ({ identifier }: GraphNode) => controls.get(identifier),
      };
    },

    /** Every stated pair that a control is an end of. */
    stated: ({ framework, identifier }: GraphNode): Evidence[] => stated.all({ framework, identifier }),

    /** A control as the newest version states it that has it. */
    control: ({ framework, identifier }: GraphNode) => newest.get({ framework, identifier }),
  };
}

type Versions = { one: string; labels: string; other: string };
type Ends = [string, string, string, string, string, string];
type Edge = [string, string, string, string];

/** A row of what is stated as the pair that it is. */
function statedIn(row: Ends | [...Ends, ...Edge]): Stated {
  const [framework, version, identifier, toFramework, toVersion, toIdentifier] = row;
  return {
    from: { framework, version, identifier },
    to: { framework: toFramework, version: toVersion, identifier: toIdentifier },
  };
}

/** Whether a stated pair is stated for a version of a control, which is one of its ends. */
export function isStatedFor({ from, to }: Stated, control: GraphNode, version: string): boolean {
  const key = versionKey(control.framework, version);
  return [from, to].some((end) => isEnd(end, control) && versionKey(end.framework, end.version) === key);
}

/** Whether an end of a stated pair is a control. */
export function isEnd(end: GraphNode, { framework, identifier }: GraphNode): boolean {
  return end.framework === framework && end.identifier === identifier;
}
