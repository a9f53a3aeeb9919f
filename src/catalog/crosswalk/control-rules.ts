import { and, asc, count, eq, inArray, sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { findings, ruleCcis, stigReleases, stigs } from '../../db/tables.ts';
import { offsetOf, paginationOf } from '../../http/paging.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { AutomationOf } from '../stigs/rule-automation.ts';
import type { ControlRules, ReachedRule, RulesQuery, StigRules } from './control-rules-schema.ts';
import { createFindNode } from './find-node.ts';
import type { GraphNode } from './graph.ts';
import { closureDepth } from './path-search.ts';
import { type Answered, type CrosswalkService, defaultStatuses } from './queries.ts';
import type { Path } from './schema.ts';

type Severity = 'high' | 'medium' | 'low';

/** The number of rules of one severity in a STIG. */
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
  { filtered }: StigNameIndex,
  automationOf: AutomationOf,
) {
  const find = createFindNode(db, crosswalk);
  const { cached, countsOf, reached } = createCitingRules(db);

  /** The slugs that the parameters of a question select; null for all. */
  function selectedSlugs({ stig, among }: Pick<RulesQuery, 'stig' | 'among'>): Set<string> | null {
    if (stig === undefined) return among === undefined ? null : new Set(among);
    return new Set(filtered(stig).filter((slug) => among?.includes(slug) ?? true));
  }

  return {
    selectedSlugs,

    /** The counts of `rules` without filters, by STIG title and severity. Throws NOT_FOUND for an unknown control. */
    counts({ framework, controlId }: Pick<RulesQuery, 'framework' | 'controlId'>): RuleCount[] {
      return db.read(() =>
        cached(`${framework} ${controlId}`, () => {
          const { paths } = pathsToCcis(crosswalk, find(framework, controlId), {});
          return countsOf(JSON.stringify([...paths.keys()]));
        }),
      );
    },

    /**
     * The rules that a control reaches, by STIG (title, then slug) and document order, each once with its shortest
     * paths; pages count rules. Without `maxHops` only the nearest CCIs count. Throws NOT_FOUND for an unknown control,
     * and for an unknown STIG, whose empty result would read as "not covered" (rule D34.1).
     */
    rules(query: RulesQuery): ControlRules {
      return db.read(() => {
        const control = find(query.framework, query.controlId);
        const slugs = selectedSlugs(query);
        const { paths, truncated } = pathsToCcis(crosswalk, control, query);
        const ccis = JSON.stringify([...paths.keys()]);
        const counted = countsOf(ccis).filter((each) => isCounted(each, slugs, query.severity));
        const counts = sumOf(counted, null);
        const total = counts.high + counts.medium + counts.low;
        const { onPage, skipped } = stigsOnPage(counted, offsetOf(query, total), query.limit);
        const severities = query.severity ? [...query.severity].join() : null;
        const asked = { ccis, severities, slugs: JSON.stringify([...onPage.keys()]) };
        const rows = reached.all({ ...asked, limit: query.limit, offset: skipped });
        return {
          control,
          stigs: byStig(rows, onPage, paths, automationOf),
          counts,
          pagination: paginationOf(query, total),
          ...(truncated ? { truncated: true as const } : {}),
        };
      });
    },
  };
}

/** The queries over the rules that cite one of some CCIs, a JSON array. */
function createCitingRules(db: Database) {
  const { orm } = db;
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
    // The index of slugs leads: the rules of other STIGs are not read.
    sql`${stigs.slug} IN (SELECT value FROM json_each(${slugs}))`,
  );
  const { slug, title } = stigs;
  const byTitle = [asc(stigs.titleFold), asc(title), asc(slug)];
  const { groupId, ruleId, ruleVersion, ruleTitle, severity, ccis } = findings;
  const counted = orm
    .select({ slug, title, severity, rules: count() })
    .from(findings)
    .innerJoin(stigReleases, ofRelease)
    .innerJoin(stigs, ofStig)
    .where(inArray(findings.id, citing))
    .groupBy(stigs.id, severity)
    .orderBy(...byTitle)
    .prepare();
  const reached = orm
    .select({
      stig: { slug, title, version: stigReleases.version },
      rule: { groupId, ruleId, ruleVersion, ruleTitle, severity, ruleIdents: ccis },
    })
    .from(findings)
    .innerJoin(stigReleases, ofRelease)
    .innerJoin(stigs, ofStig)
    .where(isAsked)
    .orderBy(...byTitle, asc(findings.ordinal))
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset'))
    .prepare();
  const cache = perGeneration(db, () => new LRUCache<string, RuleCount[]>({ max: 2000 }));

  function cached(name: string, make: () => RuleCount[]): RuleCount[] {
    const counts = cache().get(name) ?? make();
    cache().set(name, counts);
    return counts;
  }

  const countsOf = (ccis: string) => cached(ccis, () => counted.all({ ccis }));
  return { cached, countsOf, reached };
}

/** The shortest paths from a control to each CCI that it reaches; a CCI reaches itself. */
export function pathsToCcis(
  crosswalk: CrosswalkService,
  { framework, identifier }: GraphNode,
  { status, maxHops }: Pick<RulesQuery, 'status' | 'maxHops'>,
): { paths: Map<string, Path[]>; truncated: boolean } {
  if (framework === 'cci') {
    const itself: Path = { hops: 0, controls: [{ framework, identifier, status: 'auto' }] };
    return { paths: new Map([[identifier, [itself]]]), truncated: false };
  }
  const question = { framework, identifier, to: 'cci', statuses: status ?? defaultStatuses };
  // More hops than needed lead to the CCIs of neighbors. A control of 800-53 has CCIs of its own or none.
  const nearest = framework === 'nist-800-53' ? [1] : [1, 2, 3, closureDepth];
  let found: Pick<Answered, 'paths' | 'truncated'> = { paths: [], truncated: false };
  for (const hops of maxHops === undefined ? nearest : [maxHops])
    if (found.paths.length === 0) found = crosswalk.resolve({ ...question, maxHops: hops });
  const paths = new Map<string, Path[]>();
  for (const path of found.paths) {
    const cci = path.controls.at(-1)!.identifier;
    const known = paths.get(cci);
    if (!known) paths.set(cci, [path]);
    else if (known[0]!.hops === path.hops) known.push(path);
  }
  return { paths, truncated: found.truncated };
}

/** Whether a count is of some STIGs (null: all) and some severities (undefined: all). */
export const isCounted = (
  { slug, severity }: Pick<RuleCount, 'slug' | 'severity'>,
  slugs: Set<string> | null,
  severities?: Set<Severity>,
): boolean => (slugs?.has(slug) ?? true) && (severities?.has(severity) ?? true);

/** The sums by severity of what is counted. */
export function sumOf(counts: RuleCount[], slugs: Set<string> | null, severities?: Set<Severity>) {
  const sums = { high: 0, medium: 0, low: 0 };
  for (const each of counts) if (isCounted(each, slugs, severities)) sums[each.severity] += each.rules;
  return sums;
}

/**
 * The STIGs with rules on a page, each with the number of its rules in the whole result, and how many rules of the
 * first one are on earlier pages. `counts` are in the order of the pages.
 */
function stigsOnPage(counts: RuleCount[], offset: number, limit: number) {
  const rulesOf = new Map<string, number>();
  for (const { slug, rules } of counts) rulesOf.set(slug, (rulesOf.get(slug) ?? 0) + rules);
  const onPage = new Map<string, number>();
  let [before, skipped] = [0, 0];
  for (const [slug, rules] of rulesOf) {
    if (before >= offset + limit) break;
    if (before + rules > offset) {
      if (onPage.size === 0) skipped = offset - before;
      onPage.set(slug, rules);
    }
    before += rules;
  }
  return { onPage, skipped };
}

type ReachedRow = {
  stig: Omit<StigRules, 'rules' | 'ruleCount'>;
  rule: Omit<ReachedRule, 'automation' | 'hops' | 'paths'>;
};

function byStig(
  rows: ReachedRow[],
  ruleCounts: Map<string, number>,
  paths: Map<string, Path[]>,
  automationOf: AutomationOf,
): StigRules[] {
  const stigs = new Map<string, StigRules>();
  for (const { stig, rule } of rows) {
    const known = stigs.get(stig.slug) ?? { ...stig, ruleCount: ruleCounts.get(stig.slug)!, rules: [] };
    stigs.set(stig.slug, known);
    const all = rule.ruleIdents.flatMap((cci) => paths.get(cci) ?? []);
    const hops = Math.min(...all.map((path) => path.hops));
    const automation = automationOf(stig.slug).of(rule.ruleId).state;
    known.rules.push({ ...rule, automation, hops, paths: all.filter((path) => path.hops === hops) });
  }
  return [...stigs.values()];
}
