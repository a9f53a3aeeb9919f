import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { Ask } from '../../base/ask.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { count } from '../../base/text.ts';
import { type ChecklistHost, maxHosts, stigsAmong } from '../../catalog/stigs/host-schema.ts';
import { readHosts } from '../../checklists/host-table.ts';
import { checklistsBody, maxFiles } from '../../checklists/host-zip.ts';
import { listChecklists } from '../../checklists/jobs.ts';
import { answerZip } from '../../checklists/list-api.ts';
import type { Env, Form } from '../../http/env.ts';
import { offsetOf, paginationOf, slice } from '../../http/paging.ts';
import { check, type Pagination, positiveInteger } from '../../http/schema.ts';
import { type DecodedText, decodeText } from '../../read/decode.ts';
import type { Services } from '../../services.ts';
import { FilesFields, toolPath } from '../checklists/upgrade-form.tsx';
import { Empty, Lines, link, path, shortTitle } from '../parts/components.tsx';
import { Confirmed, Hidden, Labelled, lines, TextArea } from '../parts/forms.tsx';
import { listView, partPath, type ShownList, shownList } from '../parts/list-frame.tsx';
import { type Column, listing } from '../parts/listing.tsx';
import { goTo, type PageSupport, readQuery } from '../parts/page.ts';

const pageQuery = z.object({ page: positiveInteger('page').default(1) });

/** The ticks of a page: a form has at most a thousand fields. */
const mostTicks = 800;
const mostRows = 100;

/** The page that makes checklists of a list for hosts: pasted, typed or from a csv file, or kept with the list. */
export function listChecklistPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { ask, ...services }: Pick<Services, 'lists' | 'listStigs' | 'listHosts' | 'stigNames'> & { ask: Ask },
): void {
  const { lists, listStigs, listHosts, stigNames } = services;

  function one(c: Context<Env>, form: HostsForm, problems: string[]): Response {
    const shown = shownList(c, lists);
    const user = c.get('user');
    const { page } = readQuery(c, pageQuery);
    const { stigs } = listStigs.releases(user, shown.list.id);
    const { hosts, warnings } = listHosts.get(user, shown.list.id);
    const limit = Math.max(1, Math.min(mostRows, Math.floor(mostTicks / Math.max(1, stigs.length))));
    const part = { page, limit };
    const saved: SavedHosts = {
      ...shown,
      stigs,
      isTickable: shown.isOwn && stigs.length <= mostTicks,
      revision: lists.revision(user, shown.list.id),
      hosts: slice(hosts, part),
      first: offsetOf(part, hosts.length),
      pagination: paginationOf(part, hosts.length),
      warnings,
    };
    const gone = stigs.filter((stig) => !isHere(stig));
    const view = listView({
      ...shown,
      part: 'checklists',
      body: (
        <>
          {gone.length === stigs.length ? (
            <Empty>
              The list has no STIG to make checklists of.{' '}
              <a href={path('systems', shown.list.id)}>Add STIGs</a>
            </Empty>
          ) : (
            <>
              <SavedHostsSection of={saved} />
              <HostsFields saved={saved} form={form} problems={problems} />
            </>
          )}
          {gone.length === 0 ? null : (
            <p class="warning">
              No longer in the catalog, so left out: {gone.map(({ title }) => title).join(', ')}
            </p>
          )}
          <h3>Checklists that you have</h3>
          <p>
            <a href={toolPath('upgrade')}>Upgrade checklists</a> of older releases, one or several at once,
            with a report on each answer.
          </p>
        </>
      ),
    });
    return show(c, view, problems.length === 0 ? 200 : 400);
  }

  const amongOf = (c: Context<Env>, id: string) => {
    const { stigs } = listStigs.releases(c.get('user'), id);
    return stigsAmong(stigNames, stigs);
  };

  app.get('/systems/:id/checklists', guard.user, (c) => one(c, emptyHosts, []));

  app.post(
    '/systems/:id/checklists',
    guard.audited('list.checklists', { size: 'pasted', expensive: true, made: true }),
    async (c) => {
      const form = typedIn(c.get('form'));
      const id = c.req.param('id');
      try {
        if (c.get('form').get('kept') !== '') return await zip(c, id, form);
        const { text, warnings } = fileOrTyped(c.get('form'), form.hosts);
        form.hosts = text;
        const { hosts, problems } = readHosts(form.hosts, {
          mustHaveHeader: false,
          among: amongOf(c, id),
        });
        if (problems.length > 0) return one(c, form, problems);
        if (c.get('form').get('keep') === '') return await zip(c, id, form, hosts, warnings);
        await listHosts.put(c.get('user'), id, hosts);
        return goTo(c, partPath(id, 'checklists'), {
          code: warnings.length === 0 ? 'hosts-kept' : 'hosts-decoded',
          count: hosts.length,
        });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error;
        return one(c, form, [error.message]);
      }
    },
  );

  async function zip(
    c: Context<Env>,
    id: string,
    { format, layout }: HostsForm,
    hosts?: ChecklistHost[],
    warnings: string[] = [],
  ) {
    const asked = check(checklistsBody, { hosts, format, layout });
    const made = await ask(listChecklists, c.get('user'), id, asked);
    const withWarnings = { ...made, warnings: [...warnings, ...made.warnings] };
    return answerZip(c, withWarnings, { 'Cache-Control': 'private, no-store' });
  }

  app.post('/systems/:id/hosts/ticks', guard.audited('list.set-hosts', { size: 'notes' }), async (c) => {
    const id = c.req.param('id');
    const user = c.get('user');
    const form = c.get('form');
    const number = (name: string) => (/^\d{1,15}$/.test(form.get(name)) ? Number(form.get(name)) : 0);
    const slugs = listStigs.slugs(user, id);
    const ticks = new Set(form.all('tick'));
    const [first, end] = [number('first'), number('first') + number('count')];
    const ticked = (host: ChecklistHost, index: number): ChecklistHost => {
      if (index < first || index >= end) return host;
      const ticked = slugs.filter((slug) => ticks.has(`${index} ${slug}`));
      // What has left the list comes back with it.
      const missing = (host.stigs ?? []).filter((name) => !slugs.includes(stigNames.slugOf(name)));
      const own = [...ticked, ...missing];
      if (own.length === 0) throw badRequest(`${host.hostName} has no STIG. Tick one, or remove the host`);
      const { stigs: _, ...all } = host;
      return ticked.length === slugs.length ? all : { ...all, stigs: own };
    };
    const match = new Set([number('revision')]);
    try {
      await listHosts.edit(user, id, (hosts) => hosts.map(ticked), match);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error;
      return one(c, emptyHosts, [error.message]);
    }
    return goTo(c, link(partPath(id, 'checklists'), { page: form.get('page') }), { code: 'changed' });
  });

  app.post('/systems/:id/hosts/remove', guard.audited('list.set-hosts', { size: 'notes' }), async (c) => {
    const id = c.req.param('id');
    const user = c.get('user');
    const removed = c.get('form').get('host');
    lists.own(user, id);
    await listHosts.edit(user, id, (hosts) => hosts.filter(({ hostName }) => hostName !== removed));
    return goTo(c, partPath(id, 'checklists'), { code: 'removed' });
  });
}

function typedIn(form: Form): HostsForm {
  return {
    hosts: lines(form.get('hosts')),
    format: form.get('format') || 'cklb',
    layout: form.get('layout') || 'stig',
  };
}

/** The table of hosts: the typed text, or the content of the csv file, which the form then shows. Throws a 400. */
function fileOrTyped(form: Form, typed: string): DecodedText {
  const [file] = form.files('file');
  if (file === undefined) return { text: typed, warnings: [] };
  if (typed.trim() !== '') throw badRequest('Paste the hosts or choose a file, not both');
  try {
    const { text, warnings } = decodeText(file.bytes);
    return { text: lines(text), warnings };
  } catch (error) {
    throw badRequest(`The file cannot be read: ${(error as Error).message}. Save it as CSV UTF-8`);
  }
}

interface HostsForm {
  hosts: string;
  format: string;
  layout: string;
}

const emptyHosts: HostsForm = { hosts: '', format: 'cklb', layout: 'stig' };

/** The form that makes checklists for hosts that are typed or in a file. */
function HostsFields(props: { saved: SavedHosts; form: HostsForm; problems: string[] }): Child {
  const { saved, form, problems } = props;
  const { isOwn } = saved;
  const hasSaved = saved.pagination.total > 0;
  return (
    <form
      class="fields"
      method="post"
      action={partPath(saved.list.id, 'checklists')}
      enctype="multipart/form-data"
    >
      <h3>{hasSaved ? 'Other hosts' : 'Hosts'}</h3>
      {problems.length === 0 ? null : (
        <div class="problem" role="alert">
          {problems.length === 1 ? problems[0] : <Lines of={problems} />}
        </div>
      )}
      <p>
        {count(saved.stigs.filter(isHere).length, 'STIG')} for each host, as one zip. At most {maxHosts} hosts
        and {maxFiles.toLocaleString('en-US')} files.{' '}
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
            {hasSaved ? 'Replace the saved hosts' : 'Save these hosts with the list'}
          </button>
        ) : null}
      </div>
    </form>
  );
}

interface SavedHosts extends ShownList {
  /** A form has too few fields for the ticks of a list of very many STIGs. */
  isTickable: boolean;
  revision: number;
  /** Those of the page, and the number of the first among all, from 0. */
  hosts: { hostName: string; stigs?: string[] | undefined; missing?: string[] | undefined }[];
  first: number;
  pagination: Pagination;
  warnings: string[];
  stigs: ListedStig[];
}

/** `release` is null for a STIG that is no longer in the catalog: its ticks stay. */
interface ListedStig {
  slug: string;
  title: string;
  release: object | null;
}

const isHere = ({ release }: ListedStig) => release !== null;

/** The hosts of a system: which gets which STIG, as ticks, and their checklists at one press (rule D36.6). */
function SavedHostsSection({ of }: { of: SavedHosts }): Child {
  const { list, isOwn, hosts, pagination, warnings } = of;
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
              revision: String(of.revision),
              first: String(of.first),
              count: String(hosts.length),
            }}
          />
          <Matrix {...of} />
          {of.isTickable ? (
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
        <Matrix {...of} />
      )}
    </section>
  );
}

function Matrix({ list, isOwn, isTickable, hosts, first, stigs, pagination }: SavedHosts): Child {
  return listing({
    class: 'matrix',
    caption: 'Which host gets which STIG',
    columns: [
      [
        'Host',
        ({ hostName, missing }) => (
          <>
            {hostName}
            {missing === undefined ? null : (
              <span class="quiet"> no longer in the list: {missing.join(', ')}</span>
            )}
          </>
        ),
      ],
      ...stigs.map(
        (stig): Column<SavedHosts['hosts'][number]> => [
          `${shortTitle(stig.title)}${isHere(stig) ? '' : ' (not in the catalog)'}`,
          (host) => (
            <input
              type="checkbox"
              name="tick"
              value={`${first + hosts.indexOf(host)} ${stig.slug}`}
              checked={host.stigs === undefined || host.stigs.includes(stig.slug)}
              disabled={!isTickable}
              aria-label={`${host.hostName}: ${stig.title}`}
            />
          ),
        ],
      ),
      isOwn && ['Actions', ({ hostName }) => <RemoveHost list={list.id} hostName={hostName} />],
    ],
    rows: hosts,
    home: partPath(list.id, 'checklists'),
    pagination,
  });
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
