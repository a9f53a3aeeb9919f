import type { ChainedCci } from '../../catalog/crosswalk/cci.ts';
import type { RoleMappingRow } from '../../catalog/guidance/role-schema.ts';
import type { RuleOverTime } from '../../catalog/stigs/history-schema.ts';
import type { ReadingService, RelatedRule, RuleGroup } from '../../catalog/stigs/reading.ts';
import type { StigAutomation } from '../../catalog/stigs/rule-automation.ts';
import type { ReadingFilter } from '../parts/rule-links.tsx';

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
  automation: StigAutomation;
}
