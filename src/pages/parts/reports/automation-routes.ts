import type { Hono } from 'hono';
import type { Ask } from '../../../base/ask.ts';
import { listAutomation, stigAutomation } from '../../../catalog/crosswalk/reports.ts';
import { versionQuery } from '../../../catalog/stigs/schema.ts';
import type { Env } from '../../../http/env.ts';
import type { Services } from '../../../services.ts';
import { type PageSupport, readQuery } from '../page.ts';
import { shownList } from '../shown-list.ts';
import { planOfWorkPage, stigAutomationPage } from './automation-page.tsx';

/** The pages of what machines check (rule D38.2): the plan of work of a list, and the rules of a STIG. */
export function automationPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  services: Pick<Services, 'stigs' | 'lists' | 'listHosts' | 'ledger'> & { ask: Ask },
): void {
  const { ask, stigs, lists, listHosts, ledger } = services;

  app.get('/systems/:id/automation', guard.costly, async (c) => {
    const list = shownList(c, lists);
    const plan = await ask(listAutomation, { user: c.get('user'), list: list.list.id });
    const { hosts } = listHosts.get(c.get('user'), list.list.id);
    return show(c, planOfWorkPage({ ...list, plan, hosts, readAgain: ledger.readAgain('scap') }));
  });

  app.get('/stigs/:slug/automation', guard.costly, async (c) => {
    const { version } = readQuery(c, versionQuery);
    const stig = stigs.named(c.req.param('slug'), version);
    const { versions } = stigs.versions(stig.slug);
    return show(
      c,
      stigAutomationPage({
        automation: await ask(stigAutomation, { slug: stig.slug, version: stig.release!.version }),
        stig: { slug: stig.slug, title: stig.title, version: stig.release!.version, versions },
        readAgain: ledger.readAgain('scap'),
      }),
    );
  });
}
