import type { Child } from 'hono/jsx';
import { programName } from '../../../base/installation.ts';
import { count } from '../../../base/text.ts';
import { reportFormats } from '../../../catalog/crosswalk/reports-schema.ts';
import { Downloads, Empty, link, Tabs } from '../components.tsx';
import { Filters, Hidden, Problem, Select } from '../forms.tsx';
import { frameworkName } from '../framework-links.ts';
import { listView, partPath, type ShownList } from '../list-frame.tsx';
import { pinnedOf, type ShownStig, stigPath, stigView } from '../stig-frame.tsx';
import type { View } from '../view.ts';
import { CoverageMap } from './coverage-map.tsx';
import {
  CoverageTable,
  type CoverageView,
  coverageViews,
  type Place,
  pageQuery,
  queryOf,
  type ShownCoverage,
} from './coverage-tables.tsx';
import { FrameworkSelects } from './framework-choice.tsx';

/** The coverage tab of a list. */
export function listCoveragePage({ list, isOwn, ...shown }: ShownList & ShownCoverage): View {
  const place = { home: partPath(list.id, 'coverage'), needs: {}, narrow: { list: list.id } };
  return listView({
    ...{ list, isOwn, part: 'coverage' },
    actions: <Files shown={shown} place={place} />,
    body:
      shown.coverage.stigs.length === 0 ? (
        <Empty>
          This list is empty. <a href="/stigs">Browse STIGs</a>
        </Empty>
      ) : (
        <Body shown={shown} place={place} />
      ),
  });
}

/** The coverage of a release of a STIG. */
export function stigCoveragePage({ stig, ...shown }: ShownCoverage & { stig: ShownStig }): View {
  const { slug } = stig;
  const place = {
    home: stigPath(slug, 'coverage'),
    needs: { version: pinnedOf(stig) },
    narrow: { stig: slug },
  };
  return stigView({
    stig,
    part: 'coverage',
    keep: Object.fromEntries(Object.entries(queryOf(shown)).filter(([, text]) => text !== '')),
    actions: <Files shown={shown} place={place} />,
    body: <Body shown={shown} place={place} />,
  });
}

function Files({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
  const { home, needs } = place;
  return (
    <Downloads
      of={home}
      formats={reportFormats}
      version={needs.version ?? ''}
      query={queryOf(shown)}
      // The API counts all rules.
      label={shown.isAutomatedOnly ? 'Download by all rules' : 'Download'}
    />
  );
}

function Body({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
  const { framework, revision } = shown.coverage;
  return (
    <>
      <Problem text={shown.problem} />
      <Choices shown={shown} place={place} />
      {revision === null ? (
        <Empty>
          No catalog of {frameworkName(framework)} is loaded. Import one with{' '}
          <code>{programName} import PATH</code>.
        </Empty>
      ) : (
        <Result shown={shown} place={place} />
      )}
    </>
  );
}

function Choices({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
  const { coverage, choices, isAutomatedOnly } = shown;
  return (
    <Filters action={place.home}>
      <Hidden fields={place.needs} />
      <FrameworkSelects choices={choices} chosen={coverage} />
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

function Result({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
  const { coverage, view } = shown;
  const { framework, revision, baseline, totals, controls, outside } = coverage;
  const gone = coverage.stigs.filter(({ version }) => version === null);
  const names: Record<CoverageView, [name: string, number: number | null]> = {
    map: ['Map', null],
    gaps: ['Map of gaps', null],
    uncovered: ['Controls without a rule', totals.uncovered],
    covered: ['Controls addressed', totals.covered],
    outside: ['Outside the baseline', outside.length],
    unmapped: ['Rules not mapped', totals.unmappedRules],
  };
  return (
    <>
      <p>
        {frameworkName(framework)} {revision}, {baseline === null ? 'all active controls' : baseline}:{' '}
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
          .map((each) => {
            const [name, number] = names[each];
            const label = number === null ? name : `${name} ${number.toLocaleString('en-US')}`;
            return [label, `${link(place.home, pageQuery(shown, place, { show: each }))}#map`, each === view];
          })}
      />
      <div id="map">
        {controls.length === 0 ? (
          <Empty>
            {frameworkName(framework)} {revision} has no control in the baseline {baseline}.
          </Empty>
        ) : view === 'map' || view === 'gaps' ? (
          <CoverageMap shown={shown} place={place} />
        ) : (
          <CoverageTable shown={shown} place={place} view={view} />
        )}
      </div>
    </>
  );
}
