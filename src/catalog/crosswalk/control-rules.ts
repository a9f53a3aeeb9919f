import { LRUCache } from 'lru-cache';
import { pick } from '../../base/objects.ts';
import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import { offsetOf, paginationOf } from '../../http/paging.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { AutomationOf } from '../stigs/rule-automation.ts';
import { headOf, type RuleHead, ruleHeadColumns } from '../stigs/rule-head.ts';
import type { CciService } from './cci.ts';
import type { ControlRules, ReachedRule, RulesQuery, StigRules } from './control-rules-schema.ts';

type Severity = ReachedRule['severity'];

/** The number of rules of one severity in a STIG. */
export interface RuleCount {
  slug: string;
  title: string;
  severity: Severity;
  rules: number;
}

type RuleFilters = Partial<Pick<RulesQuery, 'stig' | 'among' | 'severity'>>;

type ReachedRow = RuleHead & Omit<StigRules, 'rules'> & { ccis: string };

const byTitle = 's.title_fold, s.title, s.slug';

export type ControlRulesService = ReturnType<typeof createControlRulesService>;

/** The rules of current releases that a control reaches through the CCIs that they cite. */
export function createControlRulesService(
  db: Database,
  { requireNode, pathsToCcis }: CciService,
  { filtered }: StigNameIndex,
  automationOf: AutomationOf,
) {
  const counted = db.sqlite.prepare<{ ccis: string }, RuleCount>(
    `SELECT s.slug, s.title, f.severity, count(*) AS rules
       FROM findings AS f
       JOIN stig_releases AS r ON r.id = f.release_id
       JOIN stigs AS s ON s.id = r.stig_id
      WHERE f.id IN (SELECT finding_id FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(@ccis)))
      GROUP BY s.id, f.severity ORDER BY ${byTitle}`,
  );
  // Reads the rules of the STIGs on the page alone: `counts` are all counts in order, as JSON.
  const reached = db.sqlite.prepare<
    { ccis: string; severities: string | null; counts: string; limit: number; offset: number },
    ReachedRow
  >(
    `WITH counted AS (
       SELECT value ->> 'slug' AS slug, sum(value ->> 'rules') AS rules, min(key) AS place
         FROM json_each(@counts) GROUP BY slug),
     placed AS (SELECT slug, rules, sum(rules) OVER (ORDER BY place) - rules AS before FROM counted),
     page AS (SELECT * FROM placed WHERE before < @offset + @limit AND before + rules > @offset)
     SELECT s.slug, s.title, r.version, page.rules AS ruleCount, ${ruleHeadColumns}, f.ccis
       FROM page
      CROSS JOIN stigs AS s ON s.slug = page.slug
       JOIN stig_releases AS r ON r.id = s.current_release_id
       JOIN findings AS f ON f.release_id = r.id
      WHERE EXISTS (SELECT 1 FROM json_each(@ccis) AS c
                     CROSS JOIN rule_ccis AS i ON i.cci = c.value AND i.finding_id = f.id)
        AND (@severities IS NULL OR f.severity IN (SELECT value FROM json_each(@severities)))
      ORDER BY ${byTitle}, f.ordinal LIMIT @limit OFFSET coalesce(@offset - (SELECT min(before) FROM page), 0)`,
  );
  // To count the rules of CM-6 takes a quarter of a second in a catalog of 1,000 releases.
  const cacheOf = perCatalogVersion(db, () => new LRUCache<string, RuleCount[]>({ max: 100 }));

  /** The counts of the rules that cite one of some CCIs, a JSON array, as the filters of a question select them. */
  function countsOf(ccis: string, { stig, among, severity }: RuleFilters): RuleCount[] {
    const cache = cacheOf();
    const counts = cache.get(ccis) ?? counted.all({ ccis });
    cache.set(ccis, counts);
    const named = stig && filtered(stig);
    return counts.filter(
      (each) =>
        (named?.includes(each.slug) ?? true) &&
        (among?.includes(each.slug) ?? true) &&
        (severity?.has(each.severity) ?? true),
    );
  }

  return {
    /** The counts of `rules`, by STIG title and severity. Throws as `rules`. */
    counts(query: RuleFilters & Pick<RulesQuery, 'framework' | 'controlId'>): RuleCount[] {
      const { paths } = pathsToCcis(requireNode(query.framework, query.controlId));
      return countsOf(JSON.stringify([...paths.keys()]), query);
    },

    /**
     * The rules that a control reaches, by STIG (title, then slug) and document order, each once with its shortest
     * paths; pages count rules. Without `maxHops` only the nearest CCIs count. Throws NOT_FOUND for an unknown control,
     * and for an unknown STIG, whose empty result would read as "not covered" (rule D34.1).
     */
    rules(query: RulesQuery): ControlRules {
      const control = requireNode(query.framework, query.controlId);
      const { paths, truncated } = pathsToCcis(control, query);
      const ccis = JSON.stringify([...paths.keys()]);
      const ofQuery = countsOf(ccis, query);
      const counts = sumOf(ofQuery);
      const total = counts.high + counts.medium + counts.low;
      const rows = reached.all({
        ccis,
        severities: query.severity ? JSON.stringify([...query.severity]) : null,
        counts: JSON.stringify(ofQuery),
        limit: query.limit,
        offset: offsetOf(query, total),
      });
      const stigs = [...Map.groupBy(rows, ({ slug }) => slug)].map(([slug, own]): StigRules => {
        const automation = automationOf(slug);
        return {
          ...pick(own[0]!, 'slug', 'title', 'version', 'ruleCount'),
          rules: own.map((row) => {
            const ruleIdents: string[] = JSON.parse(row.ccis);
            const all = ruleIdents.flatMap((cci) => paths.get(cci) ?? []);
            const hops = Math.min(...all.map((path) => path.hops));
            return {
              ...headOf(row),
              ruleIdents,
              automation: automation.of(row.ruleId).state,
              hops,
              paths: all.filter((path) => path.hops === hops),
            };
          }),
        };
      });
      return {
        control,
        stigs,
        counts,
        pagination: paginationOf(query, total),
        ...(truncated ? { truncated: true as const } : {}),
      };
    },
  };
}

/** The sums by severity. */
export function sumOf(counts: RuleCount[]) {
  const sums = { high: 0, medium: 0, low: 0 };
  for (const { severity, rules } of counts) sums[severity] += rules;
  return sums;
}
