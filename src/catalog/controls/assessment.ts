import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import type { ObjectivePart, StoredAssessment } from './assessment-record.ts';
import { versionKey } from './frameworks.ts';
import { partOf, type Relation, relationOf, relations } from './objective-part.ts';
import type { Assessment, Objective } from './schema.ts';

export type ControlAssessments = ReturnType<typeof createControlAssessments>;

interface Reference {
  cci: string;
  part: string;
}

interface Value {
  parameter: string;
  source: string;
  value: string;
}

/** What a control asks (rule D37): what its sources state, with the values of profiles and the CCIs of each objective. */
export function createControlAssessments(db: Database) {
  const { sqlite } = db;
  const referencesTo = sqlite.prepare<
    [],
    { cci: string; version: string; control: string; reference: string }
  >(
    `SELECT DISTINCT m.from_identifier AS cci, m.to_version AS version, m.to_identifier AS control, m.reference
       FROM mapping_facts AS m
       JOIN framework_versions AS v ON v.framework = 'cci' AND v.version = m.from_version AND v.is_default = 1
       JOIN controls AS c ON c.framework = 'cci' AND c.version = v.version AND c.identifier = m.from_identifier
      WHERE m.from_framework = 'cci' AND m.to_framework = 'nist-800-53' AND c.status = 'active'
      ORDER BY m.from_identifier`,
  );
  const valuesOf = sqlite.prepare<[string, string], Value>(
    `SELECT parameter, name AS source, value FROM (
       SELECT b.ordinal, b.framework, b.version, b.name, 0 AS place, v.parameter, v.value FROM baselines AS b
         JOIN parameter_value_facts AS v ON v.source_id = b.source_id AND v.baseline = b.name
        UNION ALL
       SELECT b.ordinal, b.framework, b.version, b.name, v.ordinal, v.parameter, v.value FROM baselines AS b
         JOIN profile_values AS v ON v.source_id = b.source_id)
      WHERE framework = ? AND version = ? ORDER BY ordinal, place`,
  );

  /** References of CCIs that are not deprecated, by revision and control. */
  const references = perGeneration(db, () => {
    const byControl = new Map<string, Reference[]>();
    for (const { cci, version, control, reference } of referencesTo.all()) {
      const key = keyOf(version, control);
      const known = byControl.get(key) ?? [];
      if (known.length === 0) byControl.set(key, known);
      for (const part of partsOfReference(control, reference)) known.push({ cci, part });
    }
    return byControl;
  });
  const values = perGeneration(db, () => new Map<string, Map<string, Value[]>>());

  function valuesIn(framework: string, version: string): Map<string, Value[]> {
    const key = JSON.stringify([framework, version]);
    const known = values().get(key);
    if (known) return known;
    const found = Map.groupBy(valuesOf.all(framework, version), ({ parameter }) => parameter);
    values().set(key, found);
    return found;
  }

  /** The leaves in the order of the document, with what joins them to CCIs. */
  function objectivesOf(
    framework: string,
    version: string,
    identifier: string,
    parts: ObjectivePart[],
  ): Objective[] {
    const stated = framework === 'nist-800-53' ? (references().get(keyOf(version, identifier)) ?? []) : [];
    return leavesOf(parts).map(({ part: linked, ...leaf }) => {
      const part = framework === 'nist-800-53' ? partOf(identifier, leaf.label) : (linked ?? '');
      return { ...leaf, part, ccis: ccisOf(part, stated) };
    });
  }

  const records = sqlite
    .prepare<[string, string, string], [identifier: string, assessment: string | null]>(
      `SELECT identifier, record_json -> '$.assessment' FROM controls
        WHERE framework = ? AND version = ? AND identifier IN (SELECT value FROM json_each(?))`,
    )
    .raw();
  const families = sqlite
    .prepare<[string, string], [identifier: string, names: string]>(
      'SELECT identifier, family_names FROM controls WHERE framework = ? AND version = ?',
    )
    .raw();

  /** What a control asks, of what is stored of it. */
  function assessmentOf(
    { framework, version, identifier }: { framework: string; version: string; identifier: string },
    stored: Partial<StoredAssessment> = {},
  ): Assessment {
    return db.read(() => {
      const set = valuesIn(framework, version);
      return {
        parameters: (stored.parameters ?? []).map(
          ({ aggregates: _, published: __, stated, ...parameter }) => ({
            ...parameter,
            values: [
              ...(stated ? [{ source: framework, value: stated.join('; ') }] : []),
              ...(set.get(parameter.id) ?? []).map(({ source, value }) => ({ source, value })),
            ],
          }),
        ),
        objectives: objectivesOf(framework, version, identifier, stored.objectives ?? []),
        methods: stored.methods ?? [],
        derived: true,
      };
    });
  }

  return {
    assessmentOf,

    /** What some controls of a version ask, by identifier. */
    assessments: (framework: string, version: string, identifiers: string[]): Map<string, Assessment> =>
      db.read(
        () =>
          new Map(
            records.all(framework, version, JSON.stringify(identifiers)).map(([identifier, stored]) => {
              const assessment = stored === null ? {} : (JSON.parse(stored) as Partial<StoredAssessment>);
              return [identifier, assessmentOf({ framework, version, identifier }, assessment)];
            }),
          ),
      ),

    /** The folded names of the families of the controls of a version, codes too. */
    familyNames: (framework: string, version: string): Map<string, string[]> =>
      new Map(
        families
          .all(framework, version)
          .map(([identifier, names]) => [identifier, JSON.parse(names) as string[]]),
      ),

    /** The parameters that a baseline sets or constrains. */
    setBy: (framework: string, version: string, baseline: string): Value[] =>
      [...valuesIn(framework, version).values()].flat().filter(({ source }) => source === baseline),
  };
}

const keyOf = (version: string, control: string) => `${versionKey('nist-800-53', version)} ${control}`;

/** One reference may name several controls, and a control several times: `AC-2 a, AC-2 b`. */
export function partsOfReference(control: string, reference: string): string[] {
  const parts = reference.split(/[,;]/).map((each) => partOf(control, each, null));
  const found = parts.filter((part) => part !== null);
  return found.length === 0 ? [''] : found;
}

type Leaf = Omit<ObjectivePart, 'parts' | 'prose'> & { context: string; text: string };

function leavesOf(parts: ObjectivePart[], context = ''): Leaf[] {
  return parts.flatMap(({ parts: below, prose, ...part }) => {
    if (below.length === 0)
      return [{ id: part.id, label: part.label, ...linkOf(part), context, text: prose }];
    return leavesOf(below, [context, prose].filter((text) => text !== '').join(' ')).map((leaf) => ({
      ...linkOf(part),
      ...leaf,
    }));
  });
}

const linkOf = ({ part }: { part?: string }) => (part === undefined ? {} : { part });

/** Each CCI once, with the nearest relation; in the order of relations, then of CCIs. */
function ccisOf(part: string, stated: Reference[]): Objective['ccis'] {
  const nearest = new Map<string, Relation>();
  for (const reference of stated) {
    const relation = relationOf(part, reference.part);
    const known = nearest.get(reference.cci);
    if (relation === null) continue;
    if (known === undefined || relations.indexOf(relation) < relations.indexOf(known))
      nearest.set(reference.cci, relation);
  }
  return relations.flatMap((relation) =>
    [...nearest].filter(([, each]) => each === relation).map(([cci]) => ({ cci, relation })),
  );
}
