import type { Context, Hono } from 'hono';
import { AppError } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import { frameworks, macNames } from '../../catalog/controls/frameworks.ts';
import { type CoverageQuery, coverageQuery } from '../../catalog/crosswalk/coverage-schema.ts';
import type { NamedRelease } from '../../catalog/stigs/queries.ts';
import { versionQuery } from '../../catalog/stigs/schema.ts';
import type { Env } from '../../http/env.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { shownList } from '../parts/shown-list.ts';
import { listCoveragePage, stigCoveragePage } from './coverage-page.tsx';
import type { ShownCoverage } from './coverage-tables.tsx';

/** The pages of coverage (rule D25): of a list, and of a release of a STIG. */
export function coveragePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  services: Pick<Services, 'coverage' | 'controls' | 'stigs' | 'lists' | 'listStigs'>,
): void {
  const { coverage, controls, stigs, lists, listStigs } = services;

  /** What the page asks for; of all controls where its form chose a revision that lacks the baseline, and why. */
  async function counted(c: Context<Env>, find: () => NamedRelease[]) {
    const { baseline, ...query } = asked(c);
    try {
      return { found: await coverage.of(find, { ...query, baseline }), problem: null };
    } catch (error) {
      const isOfForm = c.req.query('of') !== undefined && query.revision !== undefined;
      if (!(error instanceof AppError && error.field === 'baseline' && isOfForm)) throw error;
      const problem = `No control of ${cut(query.revision!)} is in ${cut(baseline!)}: all its controls are counted.`;
      return { found: await coverage.of(find, query), problem };
    }
  }

  async function shown(c: Context<Env>, find: () => NamedRelease[]): Promise<ShownCoverage> {
    const { found, problem } = await counted(c, find);
    const { framework, revision } = found;
    const baselines =
      framework === 'dod-8500'
        ? macNames.map((name): [string, string] => [name, name])
        : controls
            .baselines(framework, revision ?? undefined)
            .baselines.map(({ name, controls: size }): [string, string] => [name, `${name} (${size})`]);
    return {
      coverage: found,
      problem,
      choices: {
        frameworks: [...new Set([...frameworks, ...controls.imported()])],
        revisions: controls
          .versions(framework)
          .map(({ version, label }): [string, string] => [version, label]),
        baselines,
      },
      isDefault: controls.versions(framework).some((each) => each.isServed && each.version === revision),
      isGapsOnly: c.req.query('show') === 'gaps',
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

/** The query, without revision and baseline of the former framework (`of`) when the form changed it. */
function asked(c: Context<Env>): CoverageQuery {
  const query = readQuery(c, coverageQuery);
  const of = c.req.query('of') ?? query.framework;
  return of === query.framework ? query : { framework: query.framework, rollup: query.rollup };
}
