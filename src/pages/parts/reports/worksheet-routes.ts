import type { Context, Hono } from 'hono';
import type { Ask } from '../../../base/ask.ts';
import { type ReportScope, worksheetOf } from '../../../catalog/crosswalk/reports.ts';
import { worksheetQuery } from '../../../catalog/crosswalk/reports-schema.ts';
import { versionQuery } from '../../../catalog/stigs/schema.ts';
import type { Env } from '../../../http/env.ts';
import { flag, paging } from '../../../http/schema.ts';
import type { Services } from '../../../services.ts';
import { type PageSupport, readQuery } from '../page.ts';
import { shownList } from '../shown-list.ts';
import { choicesOf, ofFramework } from './framework-choice.tsx';
import { listWorksheetPage, type ShownWorksheet, stigWorksheetPage } from './worksheet-page.tsx';

const pageQuery = worksheetQuery.extend({ page: paging(1, 1).page, print: flag('print') });

/** The pages of worksheets (rule D37.3): of a list, and of a release of a STIG. */
export function worksheetPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  services: Pick<Services, 'controls' | 'stigs' | 'lists' | 'ledger'> & { ask: Ask },
): void {
  const { ask, controls, stigs, lists, ledger } = services;

  /** One family: all controls of a framework are too much for a page. */
  async function shown(c: Context<Env>, scope: ReportScope): Promise<ShownWorksheet> {
    const { page, print, ...asked } = readQuery(c, pageQuery);
    const query = ofFramework(c, asked);
    const families = controls.families(query.framework, query.revision);
    const family = (query === asked ? query.family : undefined) ?? families[0] ?? '';
    const found = await ask(worksheetOf, scope, { ...query, family });
    const choices = choicesOf(controls, found.framework, found.revision);
    return {
      worksheet: found,
      family,
      page,
      isPrint: print ?? false,
      choices: {
        ...choices,
        frameworks: choices.frameworks.filter((each) => each !== 'cci'),
        families,
      },
      readAgain: ledger.readAgain('controls'),
    };
  }

  app.get('/systems/:id/worksheet', guard.costly, async (c) => {
    const list = shownList(c, lists);
    const page = await shown(c, { user: c.get('user'), list: list.list.id });
    return show(c, listWorksheetPage({ ...list, ...page }));
  });

  app.get('/stigs/:slug/worksheet', guard.costly, async (c) => {
    const { version } = readQuery(c, versionQuery);
    const { slug, title, release } = stigs.named(c.req.param('slug'), version);
    const { versions } = stigs.versions(slug);
    const stig = { slug, title, version: release!.version, versions };
    return show(c, stigWorksheetPage({ ...(await shown(c, stig)), stig }));
  });
}
