import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import { AppError } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import { coverageQuery } from '../../catalog/crosswalk/coverage-schema.ts';
import type { NamedRelease } from '../../catalog/stigs/queries.ts';
import { versionQuery } from '../../catalog/stigs/schema.ts';
import type { Env } from '../../http/env.ts';
import { oneWord, positiveInteger, requestText } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { shownList } from '../parts/shown-list.ts';
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
  services: Pick<Services, 'coverage' | 'controls' | 'stigs' | 'lists' | 'listStigs' | 'ruleAutomation'>,
): void {
  const { coverage, controls, stigs, lists, listStigs, ruleAutomation } = services;
  const isAutomated = (slug: string, ruleId: string) => ruleAutomation(slug).of(ruleId).state === 'automated';

  /** What the page asks for; of all controls where its form chose a revision that lacks the baseline, and why. */
  async function counted(
    c: Context<Env>,
    find: () => NamedRelease[],
    counts: typeof isAutomated | undefined,
  ) {
    const { baseline, ...query } = ofFramework(c, readQuery(c, coverageQuery));
    try {
      return { found: await coverage.of(find, { ...query, baseline }, counts), problem: null };
    } catch (error) {
      const isOfForm = c.req.query('of') !== undefined && query.revision !== undefined;
      if (!(error instanceof AppError && error.field === 'baseline' && isOfForm)) throw error;
      const problem = `No control of ${cut(query.revision!)} is in ${cut(baseline!)}: all its controls are counted.`;
      return { found: await coverage.of(find, query, counts), problem };
    }
  }

  async function shown(c: Context<Env>, find: () => NamedRelease[]): Promise<ShownCoverage> {
    const { by, show: view, control, page } = readQuery(c, viewQuery);
    const counts = by === 'automated' ? isAutomated : undefined;
    const { found, problem } = await counted(c, find, counts);
    const { framework, revision, rollup } = found;
    const asked = { framework, revision: revision ?? undefined, rollup };
    const rules = control === undefined ? null : coverage.rulesOfControl(find, asked, control, counts);
    return {
      coverage: found,
      problem,
      choices: choicesOf(controls, framework, revision),
      isDefault: controls.versions(framework).some((each) => each.isServed && each.version === revision),
      view: view ?? 'map',
      page,
      isAutomatedOnly: by === 'automated',
      chosen: rules && { identifier: control!, ...rules },
      beginnings: coverage.beginnings(found),
    };
  }

  app.get('/lists/:id/coverage', guard.costly, async (c) => {
    const list = shownList(c, lists);
    const find = () => listStigs.releases(c.get('user'), list.list.id).stigs;
    const page = await shown(c, find);
    return show(c, listCoveragePage({ ...list, ...page }), statusOf(page));
  });

  app.get('/stigs/:slug/coverage', guard.costly, async (c) => {
    const { version } = readQuery(c, versionQuery);
    const stig = stigs.named(c.req.param('slug'), version);
    const page = await shown(c, () => [stig]);
    const { versions } = stigs.versions(stig.slug);
    const named = { slug: stig.slug, title: stig.title, version: stig.release!.version, versions };
    return show(c, stigCoveragePage({ ...page, stig: named }), statusOf(page));
  });
}

const statusOf = ({ problem }: ShownCoverage) => (problem === null ? 200 : 400);
