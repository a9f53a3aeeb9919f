import { withoutFolder } from '../../base/source-name.ts';
import { count } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { createControlVersions } from '../controls/versions.ts';
import { createMappingDecisions } from './decisions.ts';
import { createFacts, isEnd, isStatedFor } from './facts.ts';
import { type GraphNode, inOrder, nameOf, statuses } from './graph.ts';
import { createPins } from './pins.ts';
import type { CrosswalkService, PathQuestion } from './queries.ts';
import type { Evidence, NoPath, OwnEvidence, Path, PathStep, Unknown } from './schema.ts';

const mostStated = 3;

/** A control, or a framework alone, as a request names it. */
interface Reference {
  framework: string;
  identifier?: string | undefined;
  version?: string | undefined;
}

export type ExplainService = ReturnType<typeof createExplainService>;

/** Gives the evidence for the steps of paths, the reason why a question has no path, and what of it does not exist. */
export function createExplainService(db: Database, crosswalk: CrosswalkService) {
  const facts = createFacts(db);
  const pins = createPins(db);
  const decisions = createMappingDecisions(db);
  const versions = createControlVersions(db);
  const statedEnds = db.sqlite
    .prepare<GraphNode & { most: number }, string>(
      `WITH ends AS (
         SELECT to_framework AS framework, to_version AS version, to_identifier AS identifier
           FROM mapping_facts WHERE from_framework = @framework AND from_identifier = @identifier
          UNION
         SELECT from_framework, from_version, from_identifier
           FROM mapping_facts WHERE to_framework = @framework AND to_identifier = @identifier)
       SELECT substr(e.identifier || ' of ' || coalesce(nullif(e.version, ''), e.framework), 1, 40) ||
              CASE (SELECT c.status FROM controls AS c
                      JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version
                     WHERE c.framework = e.framework AND c.identifier = e.identifier
                     ORDER BY v.is_newest DESC, v.version DESC LIMIT 1)
                WHEN 'active' THEN '' WHEN 'withdrawn' THEN ' (withdrawn)' ELSE ' (unknown)' END
         FROM ends AS e ORDER BY e.version DESC, e.identifier LIMIT @most`,
    )
    .pluck();

  function evidenceOf(a: PathStep, b: PathStep, pin?: string): (Evidence | OwnEvidence)[] {
    const derived = facts.evidence(a, b);
    const decision = decisions.of(a, b);
    // An edge that no source makes is the site's own, even where a source states its pair.
    if (derived.length === 0 && pin === undefined && decision !== null) {
      const [from, to] = inOrder(a, b).map(({ framework, identifier }) => ({ framework, identifier }));
      return [{ own: true, from: from!, to: to!, decision }];
    }
    const isFitting = (pair: Evidence) => pin === undefined || isStatedFor(pair, a, pin);
    const isOfBoth = ({ from, to }: Evidence) => isEnd(from, b) || isEnd(to, b);
    const fitting = derived.filter(isFitting);
    const rows = fitting.length > 0 ? fitting : facts.stated(a).filter(isOfBoth).filter(isFitting);
    return rows.map((row) => ({
      ...row,
      source: withoutFolder(row.source),
      ...(decision ? { decision } : {}),
    }));
  }

  /** The controls that sources map to a control without an edge, with what is wrong with them; `""` for none. */
  function unusedPairs({ framework, identifier }: GraphNode): string {
    const stated = statedEnds.all({ framework, identifier, most: mostStated + 1 });
    return stated.slice(0, mostStated).join(', ') + (stated.length > mostStated ? ', ...' : '');
  }

  const hasPath = (question: PathQuestion) => crosswalk.endsOf(question).length > 0;

  return {
    /**
     * Gives a function that adds the evidence to the steps of paths; under a version pin the first step has the evidence
     * for that version.
     */
    withEvidence(pin?: string) {
      // Thousands of paths share a few edges.
      const known = new Map<string, (Evidence | OwnEvidence)[]>();
      const evidence = (a: PathStep, b: PathStep, isFirst: boolean) => {
        const key = JSON.stringify([nameOf(a), nameOf(b), isFirst]);
        const found = known.get(key) ?? evidenceOf(a, b, isFirst ? pin : undefined);
        known.set(key, found);
        return found;
      };
      return ({ controls, ...path }: Path): Path => ({
        ...path,
        controls: controls.map((step, index) => {
          const before = controls[index - 1];
          return before ? { ...step, evidence: evidence(before, step, index === 1) } : step;
        }),
      });
    },

    /** The parts of a control reference that do not exist here (rule D54.2), as `sent`; `fieldOf` names them. */
    unknownIn(
      { framework, identifier, version }: Reference,
      sent: Reference,
      fieldOf: (part: keyof Reference) => string,
    ): Unknown {
      const { frameworks, nodeOf } = crosswalk.graph();
      if (![...versions.known(), ...frameworks].includes(framework))
        return [{ field: fieldOf('framework'), value: sent.framework }];
      const unknown: Unknown = [];
      if (identifier !== undefined) {
        const node = nodeOf({ framework, identifier });
        if (node.neighbors.length === 0 && !facts.control(node))
          unknown.push({ field: fieldOf('identifier'), value: sent.identifier! });
      }
      if (version !== undefined && !pins.isKnown(framework, version))
        unknown.push({ field: fieldOf('version'), value: version });
      return unknown;
    },

    /** Why a question has no path. */
    whyNot(question: PathQuestion): NoPath {
      const { framework, identifier, to, version } = question;
      const shown = `${framework}:${identifier}`.slice(0, 64);
      for (const key of [framework, to]) {
        if (!versions.imported().includes(key))
          return noPath('not-imported', `No catalog of ${key.slice(0, 64)} is imported`);
      }
      const control = facts.control(question);
      if (!control) return noPath('unknown-control', `${shown} is not in an imported catalog`);
      const label = `"${version?.slice(0, 64)}"`;
      if (version !== undefined && !pins.isKnown(framework, version))
        return noPath('unknown-version', `No source has the version ${label} of ${framework}`);
      const any = { ...question, statuses: new Set(statuses) };
      const farther = { maxHops: Number.MAX_SAFE_INTEGER };
      const hops = count(question.maxHops, 'hop');
      if (hasPath(any))
        return noPath('filtered-by-status', 'There are paths, but none with only the requested statuses');
      if (hasPath({ ...question, ...farther }))
        return noPath('beyond-max-hops', `There are paths, but none within ${hops}`);
      if (hasPath({ ...any, ...farther })) {
        const matter = `only with more than ${hops} and with other statuses`;
        return noPath('beyond-max-hops', `There are paths, but ${matter}`);
      }
      if (version !== undefined && hasPath({ ...question, version: undefined })) {
        const matter = `The mappings of ${shown} in version ${label} do not reach ${to.slice(0, 64)}`;
        return noPath('no-mapping', `${matter}. Without the version there are paths`);
      }
      if (control.status === 'withdrawn')
        return {
          ...noPath('withdrawn', `${shown} is withdrawn`),
          incorporatedInto: JSON.parse(control.withdrawnInto) as string[],
        };
      const { frameworks, nodeOf } = crosswalk.graph();
      if (!frameworks.includes(framework) || !frameworks.includes(to)) {
        const matter = `No mapping between ${framework} and ${to} is imported`;
        return noPath('not-imported', matter.slice(0, 300));
      }
      const unused = nodeOf(question).neighbors.length === 0 ? unusedPairs(question) : '';
      if (unused !== '')
        return noPath('no-mapping', `The sources map ${shown}, but no mapping can be used: ${unused}`);
      return noPath('no-mapping', `No imported source maps ${shown} to ${to.slice(0, 64)}`);
    },
  };
}

const noPath = (code: NoPath['code'], message: string): NoPath => ({ code, message });
