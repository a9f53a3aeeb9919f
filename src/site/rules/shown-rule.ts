import type { ChainedCci } from '../../catalog/crosswalk/chain.ts';
import type { RoleMappingRow } from '../../catalog/guidance/role-schema.ts';
import type { RuleOverTime } from '../../catalog/stigs/history-schema.ts';
import type {
  ReadingService,
  RelatedRule,
  RuleGroup,
  RuleLine,
  RuleText,
} from '../../catalog/stigs/reading.ts';
import type { ReadingFilter } from '../parts/rule-links.tsx';

/** A group of a release: one rule, or in a few old STIGs several; with what it comes from and what became of it. */
export interface RulePage {
  slug: string;
  stigTitle: string;
  version: string;
  isCurrent: boolean;
  rules: RuleText[];
  before: RuleLine | null;
  after: RuleLine | null;
  list: RuleGroup['list'];
  filter: ReadingFilter;
  history: RuleOverTime[];
  requirement: ReturnType<ReadingService['requirementOf']>;
  related: RelatedRule[];
  chain: ChainedCci[];
  /** Who acts on the STIG; null for who is not entitled to see that. */
  roles: RoleMappingRow[] | null;
}
