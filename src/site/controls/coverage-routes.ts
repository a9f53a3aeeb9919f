import type { Context, Hono } from 'hono';
import { frameworks, macNames } from '../../catalog/controls/frameworks.ts';
import type { CoverageFramework } from '../../catalog/crosswalk/coverage-controls.ts';
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

  async function shown(c: Context<Env>, find: () => NamedRelease[]): Promise<ShownCoverage> {
    const query = asked(c);
    const found = await coverage.of(find, query);
    const { framework, revision } = found;
    const baselines =
      framework === 'dod-8500'
        ? macNames.map((name): [string, string] => [name, name])
        : controls
            .baselines(framework, revision ?? undefined)
            .baselines.map(({ name, controls: size }): [string, string] => [name, `${name} (${size})`]);
    return {
      coverage: found,
      choices: {
        frameworks,
        revisions: controls
          .versions(framework)
          .map(({ version, label }): [string, string] => [version, label]),
        baselines,
      },
      isDefault: controls.versions(framework).some((each) => each.isServed && each.version === revision),
      beginnings: coverage.beginnings(found),
    };
  }

  app.get('/lists/:id/coverage', guard.costly, async (c) => {
    const list = shownList(c, lists);
    const find = () => listStigs.releases(c.get('user'), list.list.id).stigs;
    return show(c, listCoveragePage({ ...list, ...(await shown(c, find)) }));
  });

  app.get('/stigs/:slug/coverage', guard.costly, async (c) => {
    const { version } = readQuery(c, versionQuery);
    const page = await shown(c, () => [stigs.named(c.req.param('slug'), version)]);
    return show(
      c,
      stigCoveragePage({ ...page, version: version === undefined ? '' : version.toUpperCase() }),
    );
  });
}

/** The query, without revision and baseline of the former framework (`of`) when the form changed it. */
function asked(c: Context<Env>): CoverageQuery {
  const query = readQuery(c, coverageQuery);
  const of: CoverageFramework | string = c.req.query('of') ?? query.framework;
  return of === query.framework ? query : { framework: query.framework, rollup: query.rollup };
}
