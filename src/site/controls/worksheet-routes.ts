import type { Context, Hono } from 'hono';
import { worksheetQuery } from '../../catalog/crosswalk/worksheet-schema.ts';
import type { NamedRelease } from '../../catalog/stigs/queries.ts';
import { versionQuery } from '../../catalog/stigs/schema.ts';
import type { Env } from '../../http/env.ts';
import { flag, paging } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { shownList } from '../parts/shown-list.ts';
import { choicesOf, ofFramework } from './framework-choice.tsx';
import { listWorksheetPage, type ShownWorksheet, stigWorksheetPage } from './worksheet-page.tsx';

const pageQuery = worksheetQuery.extend({ page: paging(1, 1).page, print: flag('print') });

/** The pages of worksheets (rule D37.3): of a list, and of a release of a STIG. */
export function worksheetPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  services: Pick<Services, 'worksheet' | 'controls' | 'stigs' | 'lists' | 'listStigs' | 'ledger'>,
): void {
  const { worksheet, controls, stigs, lists, listStigs, ledger } = services;

  /** One family: all controls of a framework are too much for a page. */
  async function shown(c: Context<Env>, find: () => NamedRelease[]): Promise<ShownWorksheet> {
    const { page, print, ...asked } = readQuery(c, pageQuery);
    const query = ofFramework(c, asked);
    const families = controls.families(query.framework, query.revision);
    const family = (query === asked ? query.family : undefined) ?? families[0] ?? '';
    const found = await worksheet.of(find, { ...query, family });
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

  app.get('/lists/:id/worksheet', guard.costly, async (c) => {
    const list = shownList(c, lists);
    const page = await shown(c, () => listStigs.releases(c.get('user'), list.list.id).stigs);
    return show(c, listWorksheetPage({ ...list, ...page }));
  });

  app.get('/stigs/:slug/worksheet', guard.costly, async (c) => {
    const { version } = readQuery(c, versionQuery);
    const find = () => stigs.named(c.req.param('slug'), version);
    const { slug, title, release } = find();
    const { versions } = stigs.versions(slug);
    const stig = { slug, title, version: release!.version, versions };
    return show(c, stigWorksheetPage({ ...(await shown(c, () => [find()])), stig }));
  });
}
