import { Empty } from '../parts/components.tsx';
import { partPath } from '../parts/list-frame.tsx';
import type { View } from '../parts/view.ts';
import { toolView } from './upgrade-form.tsx';

/** The lists whose STIGs may become checklists of hosts. */
export function hostsToolPage(lists: { id: string; name: string }[]): View {
  return toolView({
    tool: 'hosts',
    title: 'Checklists for hosts',
    body: (
      <>
        <p class="lead">
          A list holds the STIGs of a system. Choose one, name its hosts, and download a blank checklist of
          each STIG for each host in one zip.
        </p>
        {lists.length === 0 ? (
          <Empty>
            You have no lists yet. <a href="/systems#new">Create a list</a>
          </Empty>
        ) : (
          <ul class="results">
            {lists.map(({ id, name }) => (
              <li>
                <a href={partPath(id, 'checklists')}>{name}</a>
              </li>
            ))}
          </ul>
        )}
      </>
    ),
  });
}
