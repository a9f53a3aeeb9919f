import type { Child } from 'hono/jsx';
import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import { coverageFormats } from '../../catalog/crosswalk/coverage-schema.ts';
import { Downloads, Empty, link, Tiles } from '../parts/components.tsx';
import { Filters, Hidden, Problem, Select } from '../parts/forms.tsx';
import { frameworkName } from '../parts/framework-links.ts';
import { listView, partPath, type ShownList } from '../parts/list-frame.tsx';
import { pinnedOf, type ShownStig, stigPath, stigView } from '../parts/stig-frame.tsx';
import type { View } from '../parts/view.ts';
import { CoverageMap } from './coverage-map.tsx';
import { hrefOf, type Place, queryOf, type ShownCoverage, Tables } from './coverage-tables.tsx';

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
    <Downloads of={home} formats={coverageFormats} version={needs.version ?? ''} query={queryOf(shown)} />
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

function Choices({ shown: { coverage, choices }, place }: { shown: ShownCoverage; place: Place }): Child {
  const { framework, revision, baseline, rollup } = coverage;
  const isNist = framework === 'nist-800-53';
  return (
    <Filters action={place.home} submit="Show coverage">
      <Hidden fields={{ ...place.needs, of: framework }} />
      <Select
        name="framework"
        label="Framework"
        of={choices.frameworks.map((each): [string, string] => [each, frameworkName(each)])}
        selected={framework}
      />
      {choices.revisions.length > 1 ? (
        <Select name="revision" label="Revision" of={choices.revisions} selected={revision ?? ''} />
      ) : null}
      {choices.baselines.length > 0 || baseline !== null ? (
        <Select
          name="baseline"
          label={framework === 'dod-8500' ? 'MAC level' : 'Baseline'}
          none="all controls"
          of={
            baseline === null || choices.baselines.some(([name]) => name === baseline)
              ? choices.baselines
              : [...choices.baselines, baseline]
          }
          selected={baseline ?? ''}
        />
      ) : null}
      {isNist ? (
        <label>
          <input type="checkbox" name="rollup" value="true" checked={rollup} />
          Count rules of enhancements for their base control
        </label>
      ) : null}
    </Filters>
  );
}

function Result({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
  const { coverage } = shown;
  const { framework, revision, baseline, totals, controls } = coverage;
  const gone = coverage.stigs.filter(({ version }) => version === null);
  return (
    <>
      <p>
        {frameworkName(framework)} {revision}, {baseline === null ? 'all active controls' : baseline}:{' '}
        {count(totals.covered, 'control')} of {totals.controls.toLocaleString('en-US')} addressed.{' '}
        <span class="quiet">
          Addressed means that a rule is evidence for a part of a control. It does not mean satisfied, and a
          control without a rule may still be needed.
        </span>
      </p>
      {gone.length === 0 ? null : (
        <p class="quiet">
          No longer in the catalog, and so without rules: {gone.map(({ title }) => title).join(', ')}
        </p>
      )}
      <Tiles
        of={[
          [totals.covered, 'controls addressed', '#covered'],
          [totals.uncovered, 'controls without a rule', '#uncovered'],
          ...(baseline === null
            ? []
            : [
                [coverage.outside.length, 'addressed outside the baseline', '#outside'] as [
                  number,
                  string,
                  string,
                ],
              ]),
          [totals.mappedRules, `of ${count(totals.rules, 'rule')} mapped to a control`],
          [totals.unmappedRules, 'rules not mapped', '#unmapped'],
        ]}
      />
      {controls.length === 0 ? (
        <Empty>
          {frameworkName(framework)} {revision} has no control in the baseline {baseline}.
        </Empty>
      ) : (
        <CoverageMap
          coverage={coverage}
          hrefOf={(identifier) => hrefOf(shown, place, identifier)}
          isGapsOnly={shown.isGapsOnly}
          otherHref={link(place.home, {
            ...place.needs,
            ...queryOf(shown),
            show: shown.isGapsOnly ? '' : 'gaps',
          })}
        />
      )}
      <Tables shown={shown} place={place} />
    </>
  );
}
