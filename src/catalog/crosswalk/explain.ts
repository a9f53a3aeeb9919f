import { eq } from 'drizzle-orm';
import { withoutFolder } from '../../base/source-name.ts';
import { compareCodePoints, count } from '../../base/text.ts';
import { frameworkVersions } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { createMappingDecisions } from './decisions.ts';
import { createFacts, isEnd, isStatedFor } from './facts.ts';
import { type GraphNode, inOrder, statuses } from './graph.ts';
import { createPins } from './pins.ts';
import type { CrosswalkService, PathQuestion } from './queries.ts';
import type { Evidence, NoPath, OwnEvidence, Path, PathStep } from './schema.ts';

const mostStated = 3;

export type ExplainService = ReturnType<typeof createExplainService>;

/** Says what the steps of a path rest on, and why there is none. */
export function createExplainService(db: Database, crosswalk: CrosswalkService) {
  const pins = createPins(db);
  const facts = createFacts(db);
  const decisions = createMappingDecisions(db);

  function evidenceOf(a: PathStep, b: PathStep, pin?: string): (Evidence | OwnEvidence)[] {
    const derived = facts.evidence(a, b);
    const decision = decisions.of(a, b);
    // An edge that no source makes is the site's own, whatever else is stated of its pair.
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

  /** What sources state of a control that has no edge, and what is the matter with it; `""` where they state nothing. */
  function unusedPairs(control: GraphNode): string {
    const ends = facts.stated(control).map(({ from, to }) => (isEnd(from, control) ? to : from));
    const stated = [...new Map(ends.map((end) => [JSON.stringify(end), end])).values()]
      .sort(
        (a, b) => compareCodePoints(b.version, a.version) || compareCodePoints(a.identifier, b.identifier),
      )
      .slice(0, mostStated + 1)
      .map((end) => {
        const found = facts.control(end);
        const matter = !found ? ' (unknown)' : found.status === 'withdrawn' ? ' (withdrawn)' : '';
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
    whyNot(question: PathQuestion): NoPath {
      const { framework, identifier, to, version } = question;
      const shown = `${framework}:${identifier}`.slice(0, 64);
      for (const key of [framework, to]) {
        const isOf = eq(frameworkVersions.framework, key);
        if (!db.orm.select().from(frameworkVersions).where(isOf).limit(1).get())
          return { code: 'not-imported', message: `No catalog of ${key.slice(0, 64)} is imported` };
      }
      const control = facts.control(question);
      if (!control) return { code: 'unknown-control', message: `${shown} is not in an imported catalog` };
      const any = { ...question, statuses: new Set(statuses) };
      if (version !== undefined && !pins.isKnown(framework, version)) {
        return {
          code: 'unknown-version',
          message: `No source has the version "${version.slice(0, 64)}" of ${framework}`,
        };
      }
      if (crosswalk.hasPath(any)) {
        return {
          code: 'filtered-by-status',
          message: 'There are paths, but none with only the requested statuses',
        };
      }
      if (crosswalk.hasPath({ ...question, maxHops: Number.MAX_SAFE_INTEGER })) {
        return {
          code: 'beyond-max-hops',
          message: `There are paths, but none within ${count(question.maxHops, 'hop')}`,
        };
      }
      if (crosswalk.hasPath({ ...any, maxHops: Number.MAX_SAFE_INTEGER })) {
        return {
          code: 'beyond-max-hops',
          message: `There are paths, but only with more than ${count(question.maxHops, 'hop')} and with other statuses`,
        };
      }
      if (version !== undefined && crosswalk.hasPath({ ...question, version: undefined })) {
        return {
          code: 'no-mapping',
          message: `The mappings of ${shown} in version "${version.slice(0, 64)}" do not reach ${to.slice(0, 64)}. Without the version there are paths`,
        };
      }
      if (control.status === 'withdrawn') {
        const incorporatedInto = control.withdrawnInto;
        return { code: 'withdrawn', message: `${shown} is withdrawn`, incorporatedInto };
      }
      const { frameworks, idOf } = crosswalk.graph();
      if (!frameworks.includes(framework) || !frameworks.includes(to)) {
        return {
          code: 'not-imported',
          message: `No mapping between ${framework} and ${to} is imported`.slice(0, 300),
        };
      }
      const unused = idOf(framework, identifier) === undefined ? unusedPairs(question) : '';
      if (unused !== '')
        return {
          code: 'no-mapping',
          message: `The sources map ${shown}, but no mapping can be used: ${unused}`,
        };
      return { code: 'no-mapping', message: `No imported source maps ${shown} to ${to.slice(0, 64)}` };
    },
  };
}
