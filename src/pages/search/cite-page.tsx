import type { CitedAnswer } from '../../catalog/search/schema.ts';
import { Facts } from '../parts/components.tsx';
import type { View } from '../parts/view.ts';

const kinds = { rule: 'Rule', stig: 'STIG', control: 'Control', cci: 'CCI' };
const states: Record<CitedAnswer['state'], string> = {
  current: 'In the newest release',
  former: 'In a former release; the newest release has it too',
  removed: 'In a former release; the newest release does not have it',
  withdrawn: 'Withdrawn',
  deprecated: 'Deprecated',
  not_imported: 'The cited release is not in this catalog',
  absent: 'The cited release does not have it',
};

/** The page of a citation: what it names, and what became of it (rule D41.4). */
export function citePage({
  ref,
  kind,
  holds,
  state,
  id,
  title,
  version,
  href,
  now,
  advice,
}: CitedAnswer): View {
  return {
    title: `Citation: ${title}`,
    heading: title,
    help: 'search',
    body: (
      <>
        {advice === null ? null : (
          <p class="warning">
            {holds ? null : <strong>This citation no longer holds. </strong>}
            {advice}.
          </p>
        )}
        <Facts
          of={[
            ['Citation', <span class="mono">{ref}</span>],
            [kinds[kind], <span class="ids">{id}</span>],
            ['Release', version],
            ['State', states[state]],
          ]}
        />
        {href === null ? null : (
          <p>
            <a href={href}>Open what is cited</a>
          </p>
        )}
        {now === null ? null : (
          <p>
            See <a href={now.href}>{now.title}</a> <span class="mono">{now.cite}</span>
          </p>
        )}
      </>
    ),
  };
}
