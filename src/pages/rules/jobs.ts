import type { z } from '@hono/zod-openapi';
import type { User } from '../../auth/viewer.ts';
import { AppError } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import type { ChainedCci } from '../../catalog/crosswalk/cci.ts';
import type { RoleMappingRow } from '../../catalog/guidance/role-schema.ts';
import type { RuleOverTime } from '../../catalog/stigs/history-schema.ts';
import {
  type ReadingService,
  type RelatedRule,
  type RuleGroup,
  readingFilter,
  type readingQuery,
} from '../../catalog/stigs/reading.ts';
import type { RuleAutomation } from '../../catalog/stigs/rule-automation.ts';
import type { Services } from '../../services.ts';
import type { ReadingFilter } from '../parts/links.tsx';

/** A group of a release: one rule, or in a few old STIGs several; with its sources and history. */
export interface RulePage extends Omit<RuleGroup, 'stig'> {
  slug: string;
  stigTitle: string;
  version: string;
  releaseDate: string | null;
  isCurrent: boolean;
  filter: ReadingFilter;
  history: RuleOverTime[];
  requirement: ReturnType<ReadingService['requirementOf']>;
  related: RelatedRule[];
  chain: ChainedCci[];
  roles: RoleMappingRow[] | null;
  /** What a machine can check of each of `rules`. */
  automation: RuleAutomation[];
}

/** A rule of a STIG for its page; `cci` is the text of a filter. Throws NOT_FOUND, and 400 or 404 for another `cci`. */
export function shownRule(
  services: Services,
  user: User,
  name: string,
  id: string,
  query: z.output<typeof readingQuery>,
  cci: string | undefined,
): RulePage {
  const { stigs, cciLookup, reading, ruleChain, ruleHistory, roleMapping, ruleAutomation } = services;
  const cciFilter = cciLookup.readFilter(cci);
  const { slug, version: latest } = stigs.release(name);
  const automation = ruleAutomation(slug);
  const { filter, narrowing } = readingFilter(query, cciFilter, automation);
  const read = (each: string, version?: string) => reading.group(slug, each, version, narrowing);

  function overTime(requested: string): RuleOverTime[] {
    const known = ruleHistory.find(requested, slug);
    const own = known.filter(({ groupId }) => groupId === requested);
    return own.length > 0 ? own : known;
  }

  /** By default of the latest release, or of the last that contained the rule. */
  function find(): RuleGroup {
    const found = read(id, query.version);
    if (found) return found;
    const [over] = overTime(id);
    const last = over?.current ? undefined : over?.releases.find(({ state }) => state !== 'removed')?.version;
    const other =
      over &&
      (query.version === undefined ? read(over.groupId, last) : read(over.ruleVersion, query.version));
    if (!other) throw new AppError('NOT_FOUND', `Rule not found: ${cut(id)}`);
    return other;
  }

  const { stig, rules, ...group } = find();
  const requirement = reading.requirementOf(rules[0]!);
  return {
    ...{ slug, stigTitle: stig.title, version: stig.version, releaseDate: stig.releaseDate },
    isCurrent: stig.version === latest,
    rules,
    ...group,
    filter,
    history: overTime(rules[0]!.groupId),
    requirement,
    related: requirement === null ? [] : reading.related(requirement.id, slug),
    automation: rules.map(({ ruleId }) => automation.of(ruleId)),
    chain: ruleChain(rules.flatMap(({ ruleIdents }) => ruleIdents)),
    // No look-up without the entitlement: the page must not reveal which STIGs have roles (D9.4).
    roles: user.entitlements.has('occ') ? roleMapping.rows(slug) : null,
  };
}
