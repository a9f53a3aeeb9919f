import { and, asc, count, eq, inArray, sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { findings, ruleCcis, stigReleases, stigs } from '../../db/tables.ts';
import { offsetOf, paginationOf } from '../../http/paging.ts';
import { createFindControl } from '../controls/find-control.ts';
import { canonicalIdentifier } from '../controls/identifier.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { ControlRules, ReachedRule, RulesQuery, StigRules } from './control-rules-schema.ts';
import {
  type Answered,
  type CrosswalkService,
  closureDepth,
  defaultStatuses,
  type PathQuestion,
} from './queries.ts';
import type { Path } from './schema.ts';

type Severity = 'high' | 'medium' | 'low';

/** How many rules of one severity a STIG has among some. */
export interface RuleCount {
  slug: string;
  title: string;
  severity: Severity;
  rules: number;
}

export type ControlRulesService = ReturnType<typeof createControlRulesService>;

/** The rules of current releases that a control reaches through the CCIs that they cite. */
export function createControlRulesService(
  db: Database,
  crosswalk: CrosswalkService,
  { slugOf, ofSlug }: StigNameIndex,
) {
  const { orm } = db;
  const findControl = createFindControl(db);
  const isCited = (cci: string) => orm.select().from(ruleCcis).where(eq(ruleCcis.cci, cci)).limit(1).get();

  const ofRelease = eq(stigReleases.id, findings.releaseId);
  const ofStig = eq(stigs.id, stigReleases.stigId);
  const [severities, slugs] = [sql.placeholder('severities'), sql.placeholder('slugs')];
  const citing = orm
    .select({ id: ruleCcis.findingId })
    .from(ruleCcis)
    .where(sql`${ruleCcis.cci} IN (SELECT value FROM json_each(${sql.placeholder('ccis')}))`);
  const isAsked = and(
    inArray(findings.id, citing),
    sql`(${severities} IS NULL OR instr(${severities}, ${findings.severity}) > 0)`,
    sql`(${slugs} IS NULL OR ${stigs.slug} IN (SELECT value FROM json_each(${slugs})))`,
  );
  const { slug, title } = stigs;
  const counted = orm
    .select({ slug, title, severity: findings.severity, rules: count() })
    .from(findings)
    .innerJoin(stigReleases, ofRelease)
    .innerJoin(stigs, ofStig)
    .where(inArray(findings.id, citing))
    .groupBy(stigs.id, findings.severity)
    .orderBy(asc(stigs.titleFold), asc(title), asc(slug))
    .prepare();
  const kept = new LRUCache<string, RuleCount[]>({ max: 2000 });
  let keptOf = db.generation();
  const ruleCount = sql<number>`count(*) OVER (PARTITION BY ${stigs.id})`;
  const { groupId, ruleId, ruleVersion, ruleTitle, severity, ccis } = findings;
  const reached = orm
    .select({
      stig: { slug, title, version: stigReleases.version, ruleCount },
      rule: { groupId, ruleId, ruleVersion, ruleTitle, severity, ruleIdents: ccis },
    })
    .from(findings)
    .innerJoin(stigReleases, ofRelease)
    .innerJoin(stigs, ofStig)
    .where(isAsked)
    .orderBy(asc(stigs.titleFold), asc(title), asc(slug), asc(findings.ordinal))
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset'))
    .prepare();

  /**
   * The control that is asked for, as it is published: one that GET /controls answers, or a CCI of the newest list or
   * of a rule, or a node of a site's own framework. Throws NOT_FOUND.
   */
  function find(framework: string, controlId: string) {
    const known = findControl(framework, controlId);
    if (known) return { framework, identifier: known.identifier, title: known.title };
    const identifier = canonicalIdentifier(framework, controlId);
    const isNode =
      identifier !== null &&
      (crosswalk.graph().idOf(framework, identifier) !== undefined ||
        (framework === 'cci' && isCited(identifier) !== undefined));
    if (!isNode) throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}`);
    return { framework, identifier, title: '' };
  }

  /**
   * What a question reaches with as few hops as it takes: those beyond are of neighbors that share a control. A control of
   * nist-800-53 has CCIs of its own or none.
   */
  function nearest(question: Omit<PathQuestion, 'maxHops'>): Pick<Answered, 'paths' | 'truncated'> {
    const farthest = question.framework === 'nist-800-53' ? 1 : closureDepth;
    let found: Pick<Answered, 'paths' | 'truncated'> = { paths: [], truncated: false };
    for (let maxHops = 1; maxHops <= farthest && found.paths.length === 0; maxHops++)
      found = crosswalk.resolve({ ...question, maxHops });
    return found;
  }

  /** The paths from a control to each CCI that it reaches, the shortest alone; a CCI stands for itself. */
  function pathsToCcis(
    control: { framework: string; identifier: string },
    { status, maxHops }: Pick<RulesQuery, 'status' | 'maxHops'>,
  ): { paths: Map<string, Path[]>; truncated: boolean } {
    const { framework, identifier } = control;
    if (framework === 'cci') {
      const itself: Path = { hops: 0, controls: [{ framework, identifier, status: 'auto' }] };
      return { paths: new Map([[identifier, [itself]]]), truncated: false };
    }
    const question = { framework, identifier, to: 'cci', statuses: status ?? defaultStatuses };
    const found = maxHops === undefined ? nearest(question) : crosswalk.resolve({ ...question, maxHops });
    const paths = new Map<string, Path[]>();
    for (const path of found.paths) {
      const cci = path.controls.at(-1)!.identifier;
      const known = paths.get(cci);
      if (!known) paths.set(cci, [path]);
      else if (known[0]!.hops === path.hops) known.push(path);
    }
    return { paths, truncated: found.truncated };
  }

  /** Counts that were made before under a name, in this generation; else makes them. */
  function keeping(name: string, make: () => RuleCount[]): RuleCount[] {
    const generation = db.generation();
    if (generation !== keptOf) kept.clear();
    keptOf = generation;
    const counts = kept.get(name) ?? make();
    kept.set(name, counts);
    return counts;
  }

  /** How many rules of each STIG and severity cite one of some CCIs, a JSON array, by title. */
  const countsOf = (ccis: string) => keeping(ccis, () => counted.all({ ccis }));

  return {
    /**
     * How many rules of each STIG and severity `rules` gives for a control that is not narrowed, by title. Throws NOT_FOUND for
     * an unknown control.
     */
    counts({ framework, controlId }: Pick<RulesQuery, 'framework' | 'controlId'>): RuleCount[] {
      return db.read(() =>
        keeping(`${framework} ${controlId}`, () => {
          const { paths } = pathsToCcis(find(framework, controlId), {});
          return countsOf(JSON.stringify([...paths.keys()]));
        }),
      );
    },

    /**
     * The rules that a control reaches, by STIG (title, then slug) and document order, each once with its shortest
     * paths; pages count rules. The nearest CCIs are taken unless `maxHops` asks for more. Throws NOT_FOUND for an
     * unknown control, and for an unknown STIG, which would read as one that does not cover it (rule D34.1).
     */
    rules(query: RulesQuery): ControlRules {
      return db.read(() => {
        const control = find(query.framework, query.controlId);
        const unknown = query.stig?.find((name) => ofSlug(name) === null);
        if (unknown !== undefined) throw new AppError('NOT_FOUND', `STIG not found: ${cut(unknown)}`);
        const { paths, truncated } = pathsToCcis(control, query);
        const narrowed = narrowedTo(query);
        const asked = {
          ccis: JSON.stringify([...paths.keys()]),
          severities: query.severity ? [...query.severity].join() : null,
          slugs: narrowed === null ? null : JSON.stringify([...narrowed]),
        };
        const counts = sumOf(countsOf(asked.ccis), narrowed, query.severity);
        const total = counts.high + counts.medium + counts.low;
        const rows = reached.all({ ...asked, limit: query.limit, offset: offsetOf(query, total) });
        return {
          control,
          stigs: byStig(rows, paths),
          counts,
          pagination: paginationOf(query, total),
          ...(truncated ? { truncated: true as const } : {}),
        };
      });
    },

    /** The slugs that a question is narrowed to; null where it is not. */
    narrowedTo,
  };

  function narrowedTo({ stig, among }: Pick<RulesQuery, 'stig' | 'among'>): Set<string> | null {
    if (stig === undefined) return among === undefined ? null : new Set(among);
    return new Set(stig.map(slugOf).filter((slug) => among?.includes(slug) ?? true));
  }
}

/** Counts by severity together, of some STIGs (null: of all) and some severities (undefined: of all). */
export function sumOf(counts: RuleCount[], slugs: Set<string> | null, severities?: Set<Severity>) {
  const sums = { high: 0, medium: 0, low: 0 };
  for (const { slug, severity, rules } of counts)
    if ((slugs?.has(slug) ?? true) && (severities?.has(severity) ?? true)) sums[severity] += rules;
  return sums;
}

type ReachedRow = { stig: Omit<StigRules, 'rules'>; rule: Omit<ReachedRule, 'hops' | 'paths'> };

function byStig(rows: ReachedRow[], paths: Map<string, Path[]>): StigRules[] {
  const stigs = new Map<string, StigRules>();
  for (const { stig, rule } of rows) {
    const known = stigs.get(stig.slug) ?? { ...stig, rules: [] };
    stigs.set(stig.slug, known);
    const all = rule.ruleIdents.flatMap((cci) => paths.get(cci) ?? []);
    const hops = Math.min(...all.map((path) => path.hops));
    known.rules.push({ ...rule, hops, paths: all.filter((path) => path.hops === hops) });
  }
  return [...stigs.values()];
}
