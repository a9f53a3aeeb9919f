import { count } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { versionKey } from '../controls/frameworks.ts';
import { withoutFolder } from '../source-name.ts';
import { createMappingDecisions, inOrder } from './decisions.ts';
import { statuses } from './graph.ts';
import { createPins } from './pins.ts';
import type { CrosswalkService, Question } from './queries.ts';
import type { Evidence, NoPath, OwnEvidence, Path, PathStep } from './schema.ts';

interface EvidenceRow {
  source: string;
  sha256: string;
  kind: string;
  edition: string;
  imported_at: string;
  reference: string;
  from_framework: string;
  from_version: string;
  from_identifier: string;
  to_framework: string;
  to_version: string;
  to_identifier: string;
}

/** The other end of a stated pair. */
interface StatedEnd {
  framework: string;
  version: string;
  identifier: string;
}

const mostStated = 3;

export type ExplainService = ReturnType<typeof createExplainService>;

/** Says what the steps of a path rest on, and why there is none. */
export function createExplainService(db: Database, crosswalk: CrosswalkService) {
  const { sqlite } = db;
  const pins = createPins(db);
  const columns = `s.source, s.sha256, s.kind, f.edition, s.imported_at, f.reference, f.from_framework, f.from_version,
    f.from_identifier, f.to_framework, f.to_version, f.to_identifier`;
  const evidence = sqlite.prepare<[number, number], EvidenceRow>(
    `SELECT ${columns} FROM crosswalk_evidence AS e
       JOIN mapping_facts AS f ON f.source_id = e.source_id AND f.ordinal = e.ordinal
       JOIN sources AS s ON s.id = f.source_id WHERE e.a = ? AND e.b = ?
      ORDER BY s.imported_at, s.source, f.ordinal`,
  );
  const stated = sqlite.prepare<
    [string, string, string, string, string, string, string, string],
    EvidenceRow
  >(
    `SELECT ${columns} FROM mapping_facts AS f JOIN sources AS s ON s.id = f.source_id
      WHERE (f.from_framework = ? AND f.from_identifier = ? AND f.to_framework = ? AND f.to_identifier = ?)
         OR (f.to_framework = ? AND f.to_identifier = ? AND f.from_framework = ? AND f.from_identifier = ?)
      ORDER BY s.imported_at, s.source, f.ordinal`,
  );
  const decisions = createMappingDecisions(db);
  const newest = sqlite.prepare<[string, string], { status: string; withdrawn_into: string }>(
    `SELECT c.status, c.withdrawn_into FROM control_keys AS k
       JOIN controls AS c ON c.control_id = k.id
       JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version
      WHERE k.framework = ? AND k.identifier = ? ORDER BY v.is_newest DESC, v.version DESC LIMIT 1`,
  );
  const others = sqlite.prepare<[string, string, string, string], StatedEnd>(
    `SELECT to_framework AS framework, to_version AS version, to_identifier AS identifier FROM mapping_facts
      WHERE from_framework = ? AND from_identifier = ?
      UNION SELECT from_framework, from_version, from_identifier FROM mapping_facts
      WHERE to_framework = ? AND to_identifier = ? ORDER BY 2 DESC, 3 LIMIT ${mostStated + 1}`,
  );
  const imported = sqlite
    .prepare<[string], number>('SELECT count(*) FROM framework_versions WHERE framework = ?')
    .pluck();
  const mapped = sqlite
    .prepare<[string, string], number>('SELECT count(*) FROM crosswalk_nodes WHERE framework IN (?, ?)')
    .pluck();

  function evidenceOf(a: PathStep, b: PathStep, pin?: string): (Evidence | OwnEvidence)[] {
    const graph = crosswalk.graph();
    const ids = [graph.idOf(a.framework, a.identifier), graph.idOf(b.framework, b.identifier)].filter(
      (id) => id !== undefined,
    );
    const [low, high] = ids.sort((left, right) => left - right);
    const derived = low === undefined || high === undefined ? [] : evidence.all(low, high);
    const decision = decisions.of(a, b);
    // An edge that no source makes is the site's own, whatever else is stated of its pair.
    if (derived.length === 0 && pin === undefined && decision !== null) {
      const [from, to] = inOrder(a, b).map(({ framework, identifier }) => ({ framework, identifier }));
      return [{ own: true, from: from!, to: to!, decision }];
    }
    const ends = [a.framework, a.identifier, b.framework, b.identifier] as const;
    const fitting = derived.filter((row) => isStatedFor(row, a, pin));
    const rows =
      fitting.length > 0 ? fitting : stated.all(...ends, ...ends).filter((row) => isStatedFor(row, a, pin));
    return rows.map((row) => ({
      source: withoutFolder(row.source),
      sha256: row.sha256,
      kind: row.kind,
      edition: row.edition,
      importedAt: row.imported_at,
      reference: row.reference,
      from: { framework: row.from_framework, version: row.from_version, identifier: row.from_identifier },
      to: { framework: row.to_framework, version: row.to_version, identifier: row.to_identifier },
      ...(decision ? { decision } : {}),
    }));
  }

  /** What sources state of a control that has no edge, and what is the matter with it; `""` where they state nothing. */
  function unusedPairs(framework: string, identifier: string): string {
    const stated = others.all(framework, identifier, framework, identifier).map((end) => {
      const control = newest.get(end.framework, end.identifier);
      const matter = !control ? ' (unknown)' : control.status === 'withdrawn' ? ' (withdrawn)' : '';
      return `${`${end.identifier} of ${end.version || end.framework}`.slice(0, 40)}${matter}`;
    });
    return stated.slice(0, mostStated).join(', ') + (stated.length > mostStated ? ', ...' : '');
  }

  return {
    /**
     * The paths, one after the other, with what each of their steps rests on; under a version pin the first rests on what is
     * stated for it.
     */
    *explain(paths: Path[], pin?: string): Generator<Path> {
      // Thousands of paths share a few edges.
      const known = new Map<string, (Evidence | OwnEvidence)[]>();
      const remembered = (a: PathStep, b: PathStep, first: boolean) => {
        const key = JSON.stringify([a.framework, a.identifier, b.framework, b.identifier, first]);
        const found = known.get(key) ?? evidenceOf(a, b, first ? pin : undefined);
        known.set(key, found);
        return found;
      };
      for (const path of paths)
        yield {
          ...path,
          controls: path.controls.map((step, index) => ({
            ...step,
            ...(index === 0 ? {} : { evidence: remembered(path.controls[index - 1]!, step, index === 1) }),
          })),
        };
    },

    /** Why a question has no path. */
    whyNot(question: Question): NoPath {
      const { framework, identifier, to, version } = question;
      const shown = `${framework}:${identifier}`.slice(0, 64);
      for (const key of [framework, to]) {
        if (imported.get(key) === 0)
          return { code: 'not-imported', message: `No catalog of ${key.slice(0, 64)} is imported` };
      }
      const control = newest.get(framework, identifier);
      if (!control) return { code: 'unknown-control', message: `${shown} is not in an imported catalog` };
      const any = { ...question, statuses: new Set(statuses) };
      if (version !== undefined && !pins.isKnown(framework, version)) {
        return {
          code: 'unknown-version',
          message: `No source has the version "${version.slice(0, 64)}" of ${framework}`,
        };
      }
      if (crosswalk.resolve(any).paths.length > 0) {
        return {
          code: 'filtered-by-status',
          message: 'There are paths, but none with only the requested statuses',
        };
      }
      if (crosswalk.resolve({ ...question, maxHops: Number.MAX_SAFE_INTEGER }).paths.length > 0) {
        return {
          code: 'beyond-max-hops',
          message: `There are paths, but none within ${count(question.maxHops, 'hop')}`,
        };
      }
      if (crosswalk.resolve({ ...any, maxHops: Number.MAX_SAFE_INTEGER }).paths.length > 0) {
        return {
          code: 'beyond-max-hops',
          message: `There are paths, but only with more than ${count(question.maxHops, 'hop')} and with other statuses`,
        };
      }
      if (version !== undefined && crosswalk.resolve({ ...question, version: undefined }).paths.length > 0) {
        return {
          code: 'no-mapping',
          message: `The mappings of ${shown} in version "${version.slice(0, 64)}" do not reach ${to.slice(0, 64)}. Without the version there are paths`,
        };
      }
      if (control.status === 'withdrawn') {
        const incorporatedInto = JSON.parse(control.withdrawn_into) as string[];
        return { code: 'withdrawn', message: `${shown} is withdrawn`, incorporatedInto };
      }
      if (mapped.get(framework, framework) === 0 || mapped.get(to, to) === 0) {
        return {
          code: 'not-imported',
          message: `No mapping between ${framework} and ${to} is imported`.slice(0, 300),
        };
      }
      const isNode = crosswalk.graph().idOf(framework, identifier) !== undefined;
      const unused = isNode ? '' : unusedPairs(framework, identifier);
      if (unused !== '')
        return {
          code: 'no-mapping',
          message: `The sources map ${shown}, but no mapping can be used: ${unused}`,
        };
      return { code: 'no-mapping', message: `No imported source maps ${shown} to ${to.slice(0, 64)}` };
    },
  };
}

/** Whether a stated pair is stated for a version of one of its ends; without a pin every pair is. */
function isStatedFor(row: EvidenceRow, { framework, identifier }: PathStep, pin?: string): boolean {
  if (pin === undefined) return true;
  const key = versionKey(framework, pin);
  const fits = (end: string, version: string, name: string) =>
    end === framework && name === identifier && versionKey(framework, version) === key;
  return (
    fits(row.from_framework, row.from_version, row.from_identifier) ||
    fits(row.to_framework, row.to_version, row.to_identifier)
  );
}
