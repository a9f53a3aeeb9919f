import type { Database } from '../../db/database.ts';
import { type ObjectivePart, partOf, relationOf, type StoredAssessment } from './assessment-record.ts';
import { versionKey } from './frameworks.ts';
import { type Assessment, type Objective, relations } from './schema.ts';

export type ControlAssessments = ReturnType<typeof createControlAssessments>;

/** A value that a baseline sets or constrains a parameter to. */
type ParameterValue = Record<'parameter' | 'source' | 'value', string>;

/** What a control asks (rule D37): what its sources state, with the values of profiles and the CCIs of each objective. */
export function createControlAssessments({ sqlite }: Database) {
  // Deprecated CCIs are left out.
  const referencesTo = sqlite.prepare<[string], Record<'cci' | 'version' | 'control' | 'reference', string>>(
    `SELECT DISTINCT m.from_identifier AS cci, m.to_version AS version, m.to_identifier AS control, m.reference
       FROM json_each(?) AS n
      CROSS JOIN mapping_facts AS m ON m.to_framework = 'nist-800-53' AND m.to_identifier = n.value
       JOIN controls AS c ON c.framework = 'cci' AND c.version = m.from_version AND c.identifier = m.from_identifier
      WHERE m.from_framework = 'cci'
        AND m.from_version = (SELECT version FROM framework_versions WHERE framework = 'cci' AND is_default = 1)
        AND c.status = 'active'
      ORDER BY m.from_identifier`,
  );
  const valuesOf = sqlite.prepare<object, ParameterValue>(
    `SELECT parameter, name AS source, value
       FROM (SELECT b.ordinal, b.framework, b.version, b.name, 0 AS place, v.parameter, v.value
               FROM baselines AS b JOIN parameter_value_facts AS v ON v.source_id = b.source_id AND v.baseline = b.name
              UNION ALL
             SELECT b.ordinal, b.framework, b.version, b.name, v.ordinal, v.parameter, v.value
               FROM baselines AS b JOIN profile_values AS v ON v.source_id = b.source_id)
      WHERE framework = @framework AND version = @version
        AND (@baseline IS NULL OR name = @baseline)
        AND (@parameters IS NULL OR parameter IN (SELECT value FROM json_each(@parameters)))
      ORDER BY ordinal, place`,
  );
  const stored = sqlite
    .prepare<[string, string, string], [identifier: string, assessment: string]>(
      `SELECT identifier, json_patch('{"parameters": [], "objectives": [], "methods": []}',
                                     coalesce(record_json -> '$.assessment', '{}'))
         FROM controls
        WHERE framework = ? AND version = ? AND identifier IN (SELECT value FROM json_each(?))`,
    )
    .raw();
  const families = sqlite
    .prepare<[string, string], [identifier: string, names: string]>(
      'SELECT identifier, family_names FROM controls WHERE framework = ? AND version = ?',
    )
    .raw();

  return {
    /** What some controls of a version ask, by identifier. */
    assessments(framework: string, version: string, identifiers: string[]): Map<string, Assessment> {
      const is53 = framework === 'nist-800-53';
      const controls = stored
        .all(framework, version, JSON.stringify(identifiers))
        .map(([identifier, json]) => ({ identifier, ...(JSON.parse(json) as StoredAssessment) }));
      const parts = referencesTo
        .all(JSON.stringify(is53 ? identifiers : []))
        .filter((each) => versionKey(framework, each.version) === versionKey(framework, version))
        .flatMap(({ cci, control, reference }) =>
          partsOfReference(control, reference).map((part) => ({ cci, control, part })),
        );
      const referenced = Map.groupBy(parts, ({ control }) => control);
      const ids = controls.flatMap(({ parameters }) => parameters.map(({ id }) => id));
      const values = Map.groupBy(
        valuesOf.all({ framework, version, baseline: null, parameters: JSON.stringify(ids) }),
        ({ parameter }) => parameter,
      );
      const assessmentOf = ({ identifier, parameters, objectives, methods }: (typeof controls)[number]) => ({
        parameters: parameters.map(({ aggregates: _, published: __, stated, ...parameter }) => ({
          ...parameter,
          values: [
            ...(stated ? [{ source: framework, value: stated.join('; ') }] : []),
            ...(values.get(parameter.id) ?? []).map(({ source, value }) => ({ source, value })),
          ],
        })),
        // The leaves in the order of the document.
        objectives: leavesOf(objectives).map(({ part: linked = '', ...leaf }) => {
          const part = is53 ? (partOf(identifier, leaf.label) ?? '') : linked;
          return { ...leaf, part, ccis: ccisOf(part, referenced.get(identifier) ?? []) };
        }),
        methods,
        derived: true as const,
      });
      return new Map(controls.map((control) => [control.identifier, assessmentOf(control)]));
    },

    /** The folded names of the families of the controls of a version, codes too. */
    familyNames: (framework: string, version: string): Map<string, string[]> =>
      new Map(
        families
          .all(framework, version)
          .map(([identifier, names]) => [identifier, JSON.parse(names) as string[]]),
      ),

    /** The parameters that a baseline sets or constrains. */
    setBy: (framework: string, version: string, baseline: string): ParameterValue[] =>
      valuesOf.all({ framework, version, baseline, parameters: null }),
  };
}

/** One reference may name several controls, and a control several times: `AC-2 a, AC-2 b`. */
export function partsOfReference(control: string, reference: string): string[] {
  const parts = reference.split(/[,;]/).flatMap((each) => partOf(control, each) ?? []);
  return parts.length === 0 ? [''] : parts;
}

type Leaf = Omit<ObjectivePart, 'parts' | 'prose'> & { context: string; text: string };

/** The objectives without others below them. One without a link has that of the objective around it. */
function leavesOf(parts: ObjectivePart[], context = '', linked?: string): Leaf[] {
  return parts.flatMap(({ id, label, prose, part = linked, parts: below }) =>
    below.length === 0
      ? [{ id, label, context, text: prose, ...(part === undefined ? {} : { part }) }]
      : leavesOf(below, [context, prose].filter((text) => text !== '').join(' '), part),
  );
}

/** Each CCI once, with the nearest relation; in the order of relations, then of CCIs. */
function ccisOf(part: string, referenced: { cci: string; part: string }[]): Objective['ccis'] {
  const related = relations.flatMap((relation) =>
    referenced
      .filter((each) => relationOf(part, each.part) === relation)
      .map(({ cci }) => ({ cci, relation })),
  );
  return related.filter(({ cci }, at) => related.findIndex((each) => each.cci === cci) === at);
}

const lineOf = (...parts: string[]) => parts.filter((part) => part !== '').join(' | ');

/** What a control asks (rule D37.1) as texts with a line for each objective, parameter and method. */
export function assessmentLines({ objectives, parameters, methods }: Assessment) {
  return {
    objectives: objectives
      .map(({ id, label, context, text, ccis }) => {
        const names = ccis.map(({ cci, relation }) => (relation === 'equal' ? cci : `${cci} (${relation})`));
        return lineOf(label || id, context, text, names.join(', '));
      })
      .join('\n'),
    parameters: parameters
      .map(({ id, label, text, values }) =>
        lineOf(label || id, text, ...values.map(({ source, value }) => `${source}: ${value}`)),
      )
      .join('\n'),
    methods: methods.map(({ method, objects }) => lineOf(method, objects.join('; '))).join('\n'),
  };
}
