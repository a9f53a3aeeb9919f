import type { Child } from 'hono/jsx';
import type { IdAnswer } from '../../catalog/search/schema.ts';

const states = {
  current: 'current',
  removed: 'removed',
  withdrawn: 'withdrawn',
  deprecated: 'deprecated',
  unknown: 'in no source here',
} as const;

/** What each id of a question names. */
export function Answers({ answers }: { answers: IdAnswer[] }): Child {
  if (answers.length === 0) return null;
  return (
    <table class="words">
      <caption class="hidden">The ids you asked for</caption>
      <thead>
        <tr>
          <th scope="col">Id</th>
          <th scope="col">What it is</th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {answers.map(({ asked, href, title, state, version, rules, part }) => (
          <tr>
            <th scope="row" class="ids">
              {href === undefined ? asked : <a href={href}>{asked}</a>}
            </th>
            <td>
              {title}
              {part === undefined ? null : <span class="quiet"> part {part}</span>}
            </td>
            <td>
              {states[state]}
              {version === undefined ? null : (
                <span class="quiet">
                  {' '}
                  {state === 'removed' ? 'after ' : ''}
                  {version}
                </span>
              )}
              {rules === undefined ? null : (
                <span class="quiet">
                  {' · '}
                  {rules.toLocaleString('en-US')} {rules === 1 ? 'rule' : 'rules'}
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
