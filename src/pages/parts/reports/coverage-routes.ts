import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Ask } from '../../../base/ask.ts';
import { AppError } from '../../../base/errors.ts';
import { cut } from '../../../base/text.ts';
import { type ReportScope, shownCoverage } from '../../../catalog/crosswalk/reports.ts';
import { coverageQuery } from '../../../catalog/crosswalk/reports-schema.ts';
import { versionQuery } from '../../../catalog/stigs/schema.ts';
import type { Env } from '../../../http/env.ts';
import { oneWord, positiveInteger, requestText } from '../../../http/schema.ts';
import type { Services } from '../../../services.ts';
import { type PageSupport, readQuery } from '../page.ts';
import { shownList } from '../shown-list.ts';
import { listCoveragePage, stigCoveragePage } from './coverage-page.tsx';
import { coverageViews, type ShownCoverage } from './coverage-tables.tsx';
import { choicesOf, ofFramework } from './framework-choice.tsx';

/** What a page shows: the map, or one of the tables. */
const viewQuery = z.object({
  show: oneWord('show', coverageViews).optional(),
  by: oneWord('by', ['rules', 'automated']).optional(),
  control: requestText('control', 200).optional(),
  page: positiveInteger('page').default(1),
});

/** The pages of coverage (rule D25): of a list, and of a release of a STIG. */
export function coveragePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { ask, controls, stigs, lists }: Pick<Services, 'controls' | 'stigs' | 'lists'> & { ask: Ask },
): void {
  /** What the page asks for; of all controls where its form chose a revision that lacks the baseline, and why. */
  async function counted(c: Context<Env>, scope: ReportScope, isAutomatedOnly: boolean, control?: string) {
    const { baseline, framework, revision, rollup } = ofFramework(c, readQuery(c, coverageQuery));
    const query = { framework, revision, rollup };
    const shown = (baseline?: string) =>
      ask(shownCoverage, scope, { ...query, baseline }, isAutomatedOnly, control);
    try {
      return { ...(await shown(baseline)), problem: null };
    } catch (error) {
      const isOfForm = c.req.query('of') !== undefined && revision !== undefined;
      if (!(error instanceof AppError && error.field === 'baseline' && isOfForm)) throw error;
      const problem = `No control of ${cut(revision!)} is in ${cut(baseline!)}: all its controls are counted.`;
      return { ...(await shown()), problem };
    }
  }

  async function shown(c: Context<Env>, scope: ReportScope): Promise<ShownCoverage> {
    const { by, show: view, control, page } = readQuery(c, viewQuery);
    const isAutomatedOnly = by === 'automated';
    const found = await counted(c, scope, isAutomatedOnly, control);
    const { framework, revision } = found.coverage;
    return {
      ...found,
      choices: choicesOf(controls, framework, revision),
      isDefault: controls.versions(framework).some((each) => each.isServed && each.version === revision),
      view: view ?? 'map',
      page,
      isAutomatedOnly,
    };
  }

  app.get('/systems/:id/coverage', guard.costly, async (c) => {
    const list = shownList(c, lists);
    const page = await shown(c, { user: c.get('user'), list: list.list.id });
    return show(c, listCoveragePage({ ...list, ...page }), statusOf(page));
  });

  app.get('/stigs/:slug/coverage', guard.costly, async (c) => {
    const { version } = readQuery(c, versionQuery);
    const stig = stigs.named(c.req.param('slug'), version);
    const page = await shown(c, { slug: stig.slug, version: stig.release!.version });
    const { versions } = stigs.versions(stig.slug);
    const named = { slug: stig.slug, title: stig.title, version: stig.release!.version, versions };
    return show(c, stigCoveragePage({ ...page, stig: named }), statusOf(page));
  });
}

const statusOf = ({ problem }: ShownCoverage) => (problem === null ? 200 : 400);
