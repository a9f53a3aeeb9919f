import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import { maxHosts } from '../../catalog/stigs/host-schema.ts';
import { maxFiles } from '../../checklists/host-zip.ts';
import type { Pagination } from '../../http/schema.ts';
import { FilesFields, toolPath } from '../checklists/upgrade-form.tsx';
import { Empty, Lines, link, path, shortTitle, Table } from '../parts/components.tsx';
import { Confirmed, Hidden, Labelled, TextArea } from '../parts/forms.tsx';
import { listView, partPath, type ShownList } from '../parts/list-frame.tsx';
import type { View } from '../parts/view.ts';

/** The hosts that are stored with a list, of which a page shows some. */
interface StoredHosts {
  /** A form has too few fields for the check boxes of a list of very many STIGs. */
  isTickable: boolean;
  revision: number;
  hosts: { hostName: string; stigs?: string[] | undefined; missing?: string[] | undefined }[];
  /** The number of the first host of the page among all, from 0. */
  first: number;
  pagination: Pagination;
  warnings: string[];
}

export interface HostsForm {
  hosts: string;
  format: string;
  layout: string;
}

export const emptyHosts: HostsForm = { hosts: '', format: 'cklb', layout: 'stig' };

interface ListChecklistsPage extends ShownList {
  stored: StoredHosts;
  /** `release` is null for a STIG that is no longer in the catalog: which host gets it is still stored. */
  stigs: { slug: string; title: string; release: object | null }[];
  form: HostsForm;
  problems: string[];
}

/** The hosts that are stored with a list: which gets which STIG, and their checklists at one press (rule D36.6). */
function StoredHostsSection({ page }: { page: ListChecklistsPage }): Child {
  const { list, isOwn, stored } = page;
  const { hosts, pagination, warnings } = stored;
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
              revision: String(stored.revision),
              first: String(stored.first),
              count: String(hosts.length),
            }}
          />
          <Matrix page={page} />
          {stored.isTickable ? (
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
        <Matrix page={page} />
      )}
    </section>
  );
}

function Matrix({ page: { list, isOwn, stigs, stored } }: { page: ListChecklistsPage }): Child {
  const { isTickable, hosts, first, pagination } = stored;
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

/** A button of the form of assignments, which sends it elsewhere. */
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

/** The form that makes checklists for hosts from a list, and upgrades old ones to its releases. */
export function listChecklistsPage(page: ListChecklistsPage): View {
  const { list, stigs } = page;
  const here = stigs.filter(({ release }) => release !== null);
  return listView({
    ...page,
    part: 'checklists',
    body: (
      <>
        {here.length === 0 ? (
          <Empty>
            The list has no STIG to make checklists of. <a href={path('systems', list.id)}>Add STIGs</a>
          </Empty>
        ) : (
          <>
            <StoredHostsSection page={page} />
            <HostsFields page={page} count={here.length} />
          </>
        )}
        <Gone of={stigs.filter(({ release }) => release === null)} />
        <h3>Checklists that you have</h3>
        <p>
          <a href={toolPath('upgrade')}>Upgrade checklists</a> of older releases, one or several at once, with
          a report on each answer.
        </p>
      </>
    ),
  });
}

function HostsFields({ page, count: stigs }: { page: ListChecklistsPage; count: number }): Child {
  const { list, isOwn, stored, form, problems } = page;
  const hasStored = stored.pagination.total > 0;
  return (
    <form class="fields" method="post" action={partPath(list.id, 'checklists')} enctype="multipart/form-data">
      <h3>{hasStored ? 'Other hosts' : 'Hosts'}</h3>
      <Problems of={problems} />
      <p>
        {count(stigs, 'STIG')} for each host, as one zip. At most {maxHosts} hosts and{' '}
        {maxFiles.toLocaleString('en-US')} files.{' '}
        {isOwn
          ? 'Save the hosts with the list, or only download their checklists: then nothing is stored.'
          : 'The hosts are not stored.'}
      </p>
      <TextArea
        name="hosts"
        label="Hosts"
        text={form.hosts}
        rows={8}
        class="table"
        spellcheck="false"
        wrap="off"
        hint="One on each line: name, or name, address, FQDN, role. With a header line the columns may be hostName, ipAddress, macAddress, fqdn, role and stigs in any order; stigs are slugs, titles or benchmark IDs, separated by semicolons. Separate them by commas, semicolons or tabs, as a spreadsheet copies them. The role is None, Workstation, Member Server or Domain Controller."
      />
      <Labelled id="file" label="Or a CSV file of hosts">
        <input id="file" name="file" type="file" accept=".csv,.txt,text/csv" />
      </Labelled>
      <FilesFields form={form} />
      <div class="actions">
        <button type="submit">Download checklists</button>
        {isOwn ? (
          <button class="quiet" type="submit" name="keep" value="1">
            {hasStored ? 'Replace the saved hosts' : 'Save these hosts with the list'}
          </button>
        ) : null}
      </div>
    </form>
  );
}

function Problems({ of }: { of: string[] }): Child {
  if (of.length === 0) return null;
  return (
    <div class="problem" role="alert">
      {of.length === 1 ? of[0] : <Lines of={of} />}
    </div>
  );
}

function Gone({ of }: { of: { slug: string; title: string }[] }): Child {
  if (of.length === 0) return null;
  return (
    <p class="warning">No longer in the catalog, so left out: {of.map(({ title }) => title).join(', ')}</p>
  );
}
