import type { Context, Hono } from 'hono';
import { AppError, badRequest } from '../../base/errors.ts';
import { readHosts } from '../../checklists/host-table.ts';
import { checklistsBody } from '../../checklists/hosts-schema.ts';
import { downloadStream } from '../../http/answer.ts';
import type { Env, Form } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import type { PageSupport } from '../parts/page.ts';
import { shownList } from '../parts/shown-list.ts';
import { lines } from '../parts/typed-text.ts';
import { emptyHosts, type HostsForm, listChecklistsPage } from './hosts-form.tsx';

/** The page that makes checklists of a list for hosts: pasted, typed or from a csv file. */
export function listChecklistPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  services: Pick<Services, 'lists' | 'listStigs' | 'listChecklists'>,
): void {
  const { lists, listStigs, listChecklists } = services;

  function one(c: Context<Env>, form: HostsForm, problems: string[]): Response {
    const shown = shownList(c, lists);
    const { stigs } = listStigs.releases(c.get('user'), shown.list.id);
    const page = listChecklistsPage({ ...shown, stigs, form, problems });
    return show(c, page, problems.length === 0 ? 200 : 400);
  }

  app.get('/lists/:id/checklists', guard.user, (c) => one(c, emptyHosts, []));

  app.post(
    '/lists/:id/checklists',
    guard.audited('list.checklists', { size: 'pasted', expensive: true }),
    async (c) => {
      const form = typedIn(c.get('form'));
      try {
        form.hosts = fileOrTyped(c.get('form'), form.hosts);
        const { hosts, problems } = readHosts(form.hosts, { mustHaveHeader: false });
        if (problems.length > 0) return one(c, form, problems);
        const asked = check(checklistsBody, { hosts, format: form.format, layout: form.layout });
        const id = c.req.param('id');
        const { zip, name } = await listChecklists(c.get('user'), id, asked, c.get('record'));
        return downloadStream(c, zip, 'zip', name, { 'Cache-Control': 'private, no-store' });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error;
        return one(c, form, [error.message]);
      }
    },
  );
}

function typedIn(form: Form): HostsForm {
  return {
    hosts: lines(form.get('hosts')),
    format: form.get('format') || 'cklb',
    layout: form.get('layout') || 'stig',
  };
}

/** The table of hosts: the typed text, or the content of the csv file, which the form then shows. Throws a 400. */
function fileOrTyped(form: Form, typed: string): string {
  const [file] = form.files('file');
  if (file === undefined) return typed;
  if (typed.trim() !== '') throw badRequest('Paste the hosts or choose a file, not both');
  try {
    return lines(new TextDecoder('utf-8', { fatal: true }).decode(file.bytes));
  } catch {
    throw badRequest('The file is not valid UTF-8. Save it as CSV UTF-8');
  }
}
