import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { IdAnswer } from '../../catalog/search/schema.ts';
import { Table } from '../parts/components.tsx';

const states = {
  current: 'current',
  removed: 'removed',
  withdrawn: 'withdrawn',
  deprecated: 'deprecated',
  unknown: 'unknown',
} as const;

/** What each id of a question names. */
export function Answers({ answers }: { answers: IdAnswer[] }): Child {
  if (answers.length === 0) return null;
  return (
    <Table
      caption="The IDs you asked for"
      class="words"
      head={['ID', 'What it is', 'State']}
      rows={answers.map(({ asked, href, title, state, version, rules, part }) => [
        <span class="ids">{href === undefined ? asked : <a href={href}>{asked}</a>}</span>,
        <>
          {title}
          {part === undefined ? null : <span class="quiet"> part {part}</span>}
        </>,
        <>
          {states[state]}
          {version === undefined ? null : (
            <span class="quiet">
              {state === 'removed' ? ' after ' : ' '}
              {version}
            </span>
          )}
          {rules === undefined ? null : <span class="quiet"> · {count(rules, 'rule')}</span>}
        </>,
      ])}
    />
  );
}
