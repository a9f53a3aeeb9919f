import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { type ChecklistHost, stigsAmong } from '../../catalog/stigs/host-schema.ts';
import { readHosts } from '../../checklists/host-table.ts';
import { checklistsBody } from '../../checklists/host-zip.ts';
import { listChecklists } from '../../checklists/jobs.ts';
import { answerZip } from '../../checklists/list-api.ts';
import type { Env, Form } from '../../http/env.ts';
import { offsetOf, paginationOf, slice } from '../../http/paging.ts';
import { check, positiveInteger } from '../../http/schema.ts';
import { type DecodedText, decodeText } from '../../read/decode.ts';
import type { Services } from '../../services.ts';
import { link } from '../parts/components.tsx';
import { partPath } from '../parts/list-frame.tsx';
import { goTo, type PageSupport, readQuery } from '../parts/page.ts';
import { shownList } from '../parts/shown-list.ts';
import { lines } from '../parts/typed-text.ts';
import { emptyHosts, type HostsForm, listChecklistsPage } from './hosts-form.tsx';

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
    const stored = {
      isTickable: shown.isOwn && stigs.length <= mostTicks,
      revision: lists.revision(user, shown.list.id),
      hosts: slice(hosts, part),
      first: offsetOf(part, hosts.length),
      pagination: paginationOf(part, hosts.length),
      warnings,
    };
    const view = listChecklistsPage({ ...shown, stigs, stored, form, problems });
    return show(c, view, problems.length === 0 ? 200 : 400);
  }

  const amongOf = (c: Context<Env>, id: string) => {
    const { stigs } = listStigs.releases(c.get('user'), id);
    return stigsAmong(stigNames, stigs);
  };

  app.get('/systems/:id/checklists', guard.user, (c) => one(c, emptyHosts, []));

  app.post(
    '/systems/:id/checklists',
    guard.audited('list.checklists', { size: 'pasted', expensive: true }),
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
    const body = check(checklistsBody, { hosts, format, layout });
    const made = await ask(listChecklists, c.get('user'), id, body);
    return answerZip(
      c,
      { ...made, warnings: [...warnings, ...made.warnings] },
      { 'Cache-Control': 'private, no-store' },
    );
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
