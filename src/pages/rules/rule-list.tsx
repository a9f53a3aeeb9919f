import type { Child } from 'hono/jsx';
import type { RuleLine } from '../../catalog/stigs/reading.ts';
import { beginning, path, Severity } from '../parts/components.tsx';
import { FindForm, Hidden, SeverityBoxes } from '../parts/forms.tsx';
import { ruleHref } from '../parts/rule-links.tsx';
import type { RulePage } from './jobs.ts';

const titleLength = 70;

/** The rules around the current one that match the filter: a column of wide screens. */
export function RuleList({ page, pinned }: { page: RulePage; pinned: string }): Child {
  const { slug, rules, list, filter } = page;
  const here = rules[0]!.groupId;
  const isFiltered = Object.values(filter).some(({ length }) => length > 0);
  const line = (rule: RuleLine, children: Child) => (
    <li>
      <a
        href={ruleHref(slug, rule, pinned, filter)}
        aria-current={rule.groupId === here ? 'page' : undefined}
      >
        {children}
      </a>
    </li>
  );
  return (
    <nav class="rule-list" aria-label="Rules of this STIG">
      <details open={isFiltered}>
        <summary>Filters</summary>
        <FindForm
          action={path('stigs', slug, 'rules', here)}
          label="ID or title contains"
          search={filter.search}
          keep={{ version: pinned, cci: filter.cci }}
        >
          {filter.checked.map((state) => (
            <Hidden fields={{ checked: state }} />
          ))}
          <SeverityBoxes selected={filter.severity} />
        </FindForm>
      </details>
      <p class="quiet">
        Rule {list.place.toLocaleString('en-US')} of {list.total.toLocaleString('en-US')}.{' '}
        <span class="keys">
          Keys: <kbd>j</kbd> next, <kbd>k</kbd> previous.
        </span>
      </p>
      <ul>
        {list.up === null ? null : line(list.up, '↑ Earlier rules')}
        {list.lines.map((rule) =>
          line(
            rule,
            <>
              <Severity level={rule.severity} /> <span class="ids">{rule.groupId}</span>
              <span class="one-line">{beginning(rule.ruleTitle, titleLength)}</span>
            </>,
          ),
        )}
        {list.down === null ? null : line(list.down, '↓ Later rules')}
      </ul>
    </nav>
  );
}
