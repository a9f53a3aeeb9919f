import type { z } from '@hono/zod-openapi';
import type { Narrowing } from '../../catalog/stigs/queries.ts';
import { automationStates, type StigAutomation } from '../../catalog/stigs/rule-automation.ts';
import { controlsQuery } from '../../catalog/stigs/schema.ts';
import { wordList } from '../../http/arrays.ts';
import { link, path } from './components.tsx';

/** The filter under which a reader goes from rule to rule, as typed. */
export interface ReadingFilter {
  search: string;
  severity: string[];
  cci: string;
  /** States of automation. */
  checked: string[];
}

/** The filters of rules in the query of a page; `cci` is read apart, as people write it in many ways. */
export const readingQuery = controlsQuery.extend({ checked: wordList('checked', automationStates) });

/** The filters as typed, and those that the catalog reads. */
export function readingFilter(
  { search, severity, checked }: z.output<typeof readingQuery>,
  cci: { typed: string; canonical?: string | undefined },
  { of }: StigAutomation,
): { filter: ReadingFilter; narrowing: Narrowing } {
  const passes = checked && ((ruleId: string) => checked.has(of(ruleId).state));
  return {
    filter: {
      ...{ search: search ?? '', severity: [...(severity ?? [])] },
      ...{ cci: cci.typed, checked: [...(checked ?? [])] },
    },
    narrowing: { search, severity, cci: cci.canonical, passes },
  };
}

/** The address of a rule's page. With `filter`, its neighbors there are the rules that match. */
export function ruleHref(
  slug: string,
  rule: { groupId: string },
  version = '',
  filter: Partial<ReadingFilter> = {},
): string {
  return link(path('stigs', slug, 'rules', rule.groupId), { version, ...filter });
}

/** The address of a changed rule in full, in the comparison of two releases. */
export function ruleInDiff(slug: string, from: string, to: string, groupId: string): string {
  const page = link(path('stigs', slug, 'diff'), { from, to, rule: groupId });
  return `${page}#${encodeURIComponent(groupId)}`;
}

/** The address of the page that compares two releases. */
export function diffHref(slug: string, from: string, to: string): string {
  return link(path('stigs', slug, 'diff'), { from, to });
}

export function RuleIds({ of }: { of: { groupId: string; ruleVersion: string } }) {
  return (
    <span class="ids">
      {of.groupId}
      <br />
      {of.ruleVersion}
    </span>
  );
}
