import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { Ask } from '../../../base/ask.ts';
import { AppError } from '../../../base/errors.ts';
import { programName } from '../../../base/installation.ts';
import { count, cut } from '../../../base/text.ts';
import { type ReportScope, shownCoverage } from '../../../catalog/crosswalk/reports.ts';
import { coverageQuery, reportFormats } from '../../../catalog/crosswalk/reports-schema.ts';
import type { Env } from '../../../http/env.ts';
import { oneWord, positiveInteger, requestText } from '../../../http/schema.ts';
import type { Services } from '../../../services.ts';
import { Downloads, Empty, EmptySystem, Tabs } from '../components.tsx';
import { Filters, Hidden, Problem, Select } from '../forms.tsx';
import { frameworkName } from '../links.tsx';
import { type PageSupport, readQuery } from '../page.ts';
import { CoverageMap } from './coverage-map.tsx';
import { CoverageTable, coverageViews, hrefOf, queryOf, type ShownCoverage } from './coverage-tables.tsx';
import { choicesOf, FrameworkSelects, ofFramework } from './framework-choice.tsx';
import { reportPages } from './report-place.ts';

/** What a page shows: the map, or one of the tables. */
const viewQuery = z.object({
  show: oneWord('show', coverageViews).default('map'),
  by: oneWord('by', ['rules', 'automated']).optional(),
  control: requestText('control', 200).optional(),
  page: positiveInteger('page').default(1),
});

/** The pages of coverage (rule D25): of a system, and of a release of a STIG. */
export function coveragePages(
  app: Hono<Env>,
  support: PageSupport,
  services: Pick<Services, 'controls' | 'stigs' | 'lists'> & { ask: Ask },
): void {
  const { ask, controls } = services;

  /** The coverage of a query; of all controls where the form chose a revision without its baseline, and why. */
  async function counted(c: Context<Env>, scope: ReportScope, isAutomatedOnly: boolean, control?: string) {
    const { baseline, framework, revision, rollup } = ofFramework(c, readQuery(c, coverageQuery));
    const query = { framework, revision, rollup };
    const countOf = (baseline?: string) =>
      ask(shownCoverage, scope, { ...query, baseline }, isAutomatedOnly, control);
    try {
      return { ...(await countOf(baseline)), problem: null };
    } catch (error) {
      const isOfForm = c.req.query('of') !== undefined && revision !== undefined;
      if (!(error instanceof AppError && error.field === 'baseline' && isOfForm)) throw error;
      const problem = `No control of ${cut(revision!)} is in ${cut(baseline!)}: all its controls are counted.`;
      return { ...(await countOf()), problem };
    }
  }

  reportPages(app, support, services, 'coverage', async (c, place) => {
    const { by, show: view, control, page } = readQuery(c, viewQuery);
    const isAutomatedOnly = by === 'automated';
    const { problem, ...found } = await counted(c, place.scope, isAutomatedOnly, control);
    const { framework, revision, stigs } = found.coverage;
    const isDefault = controls.versions(framework).some((each) => each.isServed && each.version === revision);
    const shown: ShownCoverage = { ...found, place, isDefault, view, page, isAutomatedOnly };
    const choices = choicesOf(controls, framework, revision);
    return support.show(
      c,
      place.view({
        keep: queryOf(shown),
        actions: (
          <Downloads
            of={place.home}
            formats={reportFormats}
            version={place.version}
            query={queryOf(shown)}
            // The API counts all rules.
            label={isAutomatedOnly ? 'Download by all rules' : 'Download'}
          />
        ),
        body:
          stigs.length === 0 ? (
            <EmptySystem />
          ) : (
            <>
              <Problem text={problem} />
              <Choices shown={shown} choices={choices} />
              {revision === null ? (
                <Empty>
                  No catalog of {frameworkName(framework)} is loaded. Import one with{' '}
                  <code>{programName} import PATH</code>.
                </Empty>
              ) : (
                <Result shown={shown} />
              )}
            </>
          ),
      }),
      problem === null ? 200 : 400,
    );
  });
}

function Choices(props: { shown: ShownCoverage; choices: ReturnType<typeof choicesOf> }): Child {
  const { coverage, isAutomatedOnly, place } = props.shown;
  return (
    <Filters action={place.home}>
      <Hidden fields={{ version: place.version }} />
      <FrameworkSelects choices={props.choices} chosen={coverage} />
      <Select
        name="by"
        label="Count"
        of={[
          ['', 'all rules'],
          ['automated', 'rules that a scan answers'],
        ]}
        selected={isAutomatedOnly ? 'automated' : ''}
      />
      {coverage.framework === 'nist-800-53' ? (
        <label>
          <input type="checkbox" name="rollup" value="true" checked={coverage.rollup} />
          Count rules of enhancements for their base control
        </label>
      ) : null}
    </Filters>
  );
}

function Result({ shown }: { shown: ShownCoverage }): Child {
  const { coverage, view } = shown;
  const { framework, revision, baseline, totals, controls, outside } = coverage;
  const gone = coverage.stigs.filter(({ version }) => version === null);
  const name = `${frameworkName(framework)} ${revision}`;
  const labels = {
    map: 'Map',
    gaps: 'Map of gaps',
    uncovered: `Controls without a rule ${totals.uncovered.toLocaleString('en-US')}`,
    covered: `Controls addressed ${totals.covered.toLocaleString('en-US')}`,
    outside: `Outside the baseline ${outside.length.toLocaleString('en-US')}`,
    unmapped: `Rules not mapped ${totals.unmappedRules.toLocaleString('en-US')}`,
  };
  return (
    <>
      <p>
        {name}, {baseline ?? 'all active controls'}:{' '}
        <b>
          {count(totals.covered, 'control')} of {totals.controls.toLocaleString('en-US')} addressed
        </b>
        , {totals.mappedRules.toLocaleString('en-US')} of {count(totals.rules, 'rule')} mapped.{' '}
        <span class="quiet">
          Addressed means that a rule is evidence for a part of a control. It does not mean satisfied.
        </span>
      </p>
      {gone.length === 0 ? null : (
        <p class="quiet">
          No longer in the catalog, and so without rules: {gone.map(({ title }) => title).join(', ')}
        </p>
      )}
      <Tabs
        label="Map and tables"
        of={coverageViews
          .filter((each) => each !== 'outside' || baseline !== null)
          .map((each) => [labels[each], hrefOf(shown, { show: each }), each === view])}
      />
      <div id="map">
        {controls.length === 0 ? (
          <Empty>
            {name} has no control in the baseline {baseline}.
          </Empty>
        ) : view === 'map' || view === 'gaps' ? (
          <CoverageMap shown={shown} />
        ) : (
          <CoverageTable shown={shown} />
        )}
      </div>
    </>
  );
}
