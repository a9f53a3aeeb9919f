import { wordList } from '../../http/arrays.ts';
import type { Narrowing } from './queries.ts';
import { type AutomationState, automationStates, type StigAutomation } from './rule-automation.ts';
import { controlsQuery } from './schema.ts';

/** The filters of rules in the query of a page; `cci` is read apart, as people write it in many ways. */
export const readingQuery = controlsQuery.extend({ checked: wordList('checked', automationStates) });

type Asked = Pick<Narrowing, 'search' | 'severity'> & { checked?: Set<AutomationState> | undefined };

/** The filters as typed, and those that the catalog reads. */
export function readingFilter(
  { search, severity, checked }: Asked,
  cci: { typed: string; canonical?: string | undefined },
  { of }: StigAutomation,
) {
  const passes = checked && ((ruleId: string) => checked.has(of(ruleId).state));
  const narrowing: Narrowing = { search, severity, cci: cci.canonical, passes };
  return {
    narrowing,
    filter: {
      ...{ search: search ?? '', severity: [...(severity ?? [])] },
      ...{ cci: cci.typed, checked: [...(checked ?? [])] },
    },
  };
}
