import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { Pagination } from '../../http/schema.ts';
import { FilesFields } from '../checklists/files-fields.tsx';
import { link, path, shortTitle, Table } from '../parts/components.tsx';
import { Confirmed, Hidden } from '../parts/forms.tsx';
import { partPath } from '../parts/list-frame.tsx';

interface Host {
  hostName: string;
  stigs?: string[] | undefined;
  missing?: string[] | undefined;
}

export interface KeptHosts {
  list: { id: string };
  isOwn: boolean;
  /** A form has too few fields for the ticks of a list of very many STIGs. */
  isTickable: boolean;
  revision: number;
  /** Those of the page, and the number of the first among all, from 0. */
  hosts: Host[];
  first: number;
  pagination: Pagination;
  warnings: string[];
  /** `release` is null for a STIG that is no longer in the catalog: its ticks stay. */
  stigs: { slug: string; title: string; release: object | null }[];
}

/** The hosts that are kept with a list: which gets which STIG, as ticks, and their checklists at one press (rule D36.6). */
export function KeptHostsSection(kept: KeptHosts): Child {
  const { list, isOwn, hosts, pagination, warnings } = kept;
  if (pagination.total === 0) return null;
  const home = partPath(list.id, 'checklists');
  return (
    <section aria-labelledby="kept">
      <h3 id="kept">Hosts of this list</h3>
      <form class="actions" method="post" action={home} enctype="multipart/form-data">
        <Hidden fields={{ kept: '1' }} />
        <FilesFields id="kept-" form={{ format: 'cklb', layout: 'stig' }} />
        <button type="submit">Download checklists of {count(pagination.total, 'host')}</button>
      </form>
      {warnings.length === 0 ? null : (
        <p class="warning">
          {warnings.slice(0, 5).join('. ')}
          {warnings.length > 5 ? `, and ${warnings.length - 5} more` : ''}. Names are kept as they are
          written.
        </p>
      )}
      {isOwn ? (
        <form method="post" action={path('systems', list.id, 'hosts', 'ticks')}>
          <Hidden
            fields={{
              revision: String(kept.revision),
              first: String(kept.first),
              count: String(hosts.length),
            }}
          />
          <Matrix {...kept} />
          {kept.isTickable ? (
            <>
              <div class="actions">
                <button type="submit">Save assignments</button>
              </div>
              <p class="quiet">
                A host with every tick gets all STIGs of the list, those that are added later too.
              </p>
            </>
          ) : (
            <p class="notice">
              This list has too many STIGs to tick. Paste the table of hosts again with a column stigs.
            </p>
          )}
        </form>
      ) : (
        <Matrix {...kept} />
      )}
    </section>
  );
}

function Matrix({ list, isOwn, isTickable, hosts, first, stigs, pagination }: KeptHosts): Child {
  return (
    <Table
      class="matrix"
      caption="Which host gets which STIG"
      head={[
        'Host',
        ...stigs.map(
          ({ title, release }) => `${shortTitle(title)}${release === null ? ' (not in the catalog)' : ''}`,
        ),
        ...(isOwn ? ['Actions'] : []),
      ]}
      rows={hosts.map((host, index) => [
        <>
          {host.hostName}
          {host.missing === undefined ? null : (
            <span class="quiet"> no longer in the list: {host.missing.join(', ')}</span>
          )}
        </>,
        ...stigs.map(({ slug, title }) => (
          <input
            type="checkbox"
            name="tick"
            value={`${first + index} ${slug}`}
            checked={host.stigs === undefined || host.stigs.includes(slug)}
            disabled={!isTickable}
            aria-label={`${host.hostName}: ${title}`}
          />
        )),
        ...(isOwn ? [<RemoveHost list={list.id} hostName={host.hostName} />] : []),
      ])}
      pages={{ pagination, href: (page) => link(partPath(list.id, 'checklists'), { page }) }}
    />
  );
}

/** A button of the form of ticks, which sends it elsewhere. */
function RemoveHost({ list, hostName }: { list: string; hostName: string }): Child {
  return (
    <Confirmed label="Remove" about={hostName} loses="What is known of the host">
      <button
        class="quiet"
        type="submit"
        name="host"
        value={hostName}
        formaction={path('systems', list, 'hosts', 'remove')}
      >
        Remove<span class="hidden"> {hostName}</span>
      </button>
    </Confirmed>
  );
}
