import type { Database } from '../../db/database.ts';
import { versionKey } from '../controls/frameworks.ts';
import { type GraphNode, inOrder } from './graph.ts';
import type { Evidence } from './schema.ts';

interface NewestControl {
  status: 'active' | 'withdrawn';
  /** JSON array of the identifiers that a withdrawn control went into. */
  withdrawnInto: string;
  isNewest: 0 | 1;
}

/** An `Evidence` as JSON. Sources other than OSCAL state no relationship: json_patch leaves it out. */
const fact = `json_patch(
  json_object('source', s.source, 'sha256', s.sha256, 'kind', s.kind, 'edition', f.edition,
    'importedAt', s.imported_at, 'reference', f.reference,
    'from', json_object('framework', f.from_framework, 'version', f.from_version, 'identifier', f.from_identifier),
    'to', json_object('framework', f.to_framework, 'version', f.to_version, 'identifier', f.to_identifier)),
  json_object('relationship', nullif(d.relationship, '')))`;
const factTables = `mapping_facts AS f JOIN sources AS s ON s.id = f.source_id
  LEFT JOIN mapping_details AS d ON d.source_id = f.source_id AND d.ordinal = f.ordinal`;
const byImport = 's.imported_at, s.source, f.ordinal';

/** Reads what sources state of pairs and of controls. */
export function createFacts({ sqlite }: Database) {
  const evidence = sqlite
    .prepare<[string, string, string, string], string>(
      `SELECT ${fact} FROM crosswalk_evidence AS e
       CROSS JOIN ${factTables}
      WHERE e.a = (SELECT id FROM crosswalk_nodes WHERE framework = ? AND identifier = ?)
        AND e.b = (SELECT id FROM crosswalk_nodes WHERE framework = ? AND identifier = ?)
        AND f.source_id = e.source_id AND f.ordinal = e.ordinal
      ORDER BY ${byImport}`,
    )
    .pluck();
  const stated = sqlite
    .prepare<GraphNode, string>(
      `SELECT ${fact} FROM ${factTables}
      WHERE (f.from_framework = @framework AND f.from_identifier = @identifier)
         OR (f.to_framework = @framework AND f.to_identifier = @identifier)
      ORDER BY ${byImport}`,
    )
    .pluck();
  const parsed = (facts: string[]): Evidence[] => facts.map((each) => JSON.parse(each));
  const newest = sqlite.prepare<[string, string], NewestControl>(
    `SELECT c.status, c.withdrawn_into AS withdrawnInto, v.is_newest AS isNewest
       FROM control_keys AS k JOIN controls AS c ON c.control_id = k.id
       JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version
      WHERE k.framework = ? AND k.identifier = ?
      ORDER BY v.is_newest DESC, v.version DESC LIMIT 1`,
  );
  const newestVersion = sqlite
    .prepare<[string], string>('SELECT version FROM framework_versions WHERE framework = ? AND is_newest = 1')
    .pluck();
  return {
    /** The newest imported version of a framework; `""` where there is none. */
    newest: (framework: string): string => newestVersion.get(framework) ?? '',

    /** The stated pairs behind an edge; none for an edge that no source makes. */
    evidence(one: GraphNode, other: GraphNode): Evidence[] {
      const [a, b] = inOrder(one, other);
      return parsed(evidence.all(a.framework, a.identifier, b.framework, b.identifier));
    },

    /** Every stated pair that a control is an end of. */
    stated: ({ framework, identifier }: GraphNode): Evidence[] =>
      parsed(stated.all({ framework, identifier })),

    /** A control in the newest version that has it. */
    control: ({ framework, identifier }: GraphNode) => newest.get(framework, identifier),
  };
}

/** Whether a source states a pair for this version of `control`, one of the two controls of the pair. */
export function isStatedFor({ from, to }: Evidence, control: GraphNode, version: string): boolean {
  const key = versionKey(control.framework, version);
  return [from, to].some((end) => isEnd(end, control) && versionKey(end.framework, end.version) === key);
}

/** Whether an end of a stated pair is a control. */
export const isEnd = (end: Evidence['from'], { framework, identifier }: GraphNode): boolean =>
  end.framework === framework && end.identifier === identifier;
