import type { Child } from 'hono/jsx';
import { count } from '../../../base/text.ts';
import type { StigWithRules } from '../../../catalog/crosswalk/coverage.ts';
import type { Coverage, CoveredControl } from '../../../catalog/crosswalk/reports-schema.ts';
import { paginationOf, slice } from '../../../http/paging.ts';
import {
  beginning,
  Ccis,
  link,
  type Pages,
  path,
  SeverityCounts,
  shortTitle,
  Table,
} from '../components.tsx';
import { controlHref } from '../framework-links.ts';
import { ruleHref } from '../rule-links.tsx';

import type { FrameworkChoices } from './framework-choice.tsx';

/** The map, the map of gaps, and the tables: each comes on demand, as a page with all of them is large. */
export const coverageViews = ['map', 'gaps', 'uncovered', 'covered', 'outside', 'unmapped'] as const;
export type CoverageView = (typeof coverageViews)[number];

export interface ShownCoverage {
  coverage: Coverage;
  /** Why the baseline of the form does not count. */
  problem: string | null;
  choices: FrameworkChoices;
  isDefault: boolean;
  view: CoverageView;
  page: number;
  /** Whether only rules that a scan answers count. */
  isAutomatedOnly: boolean;
  /** The control whose rules stand beside the map. */
  chosen: { identifier: string; title: string; stigs: StigWithRules[] } | null;
  /** The beginning of the statement, for controls without a title. */
  beginnings: Map<string, string>;
}

/** The address of a coverage page, its own parameters, and the filter for links to rules of a control. */
export interface Place {
  home: string;
  needs: Record<string, string>;
  narrow: Record<string, string>;
}

const rowsPerPage = 200;

/** The query parameters of a coverage. */
export function queryOf({ coverage, isDefault }: ShownCoverage): Record<string, string> {
  const { framework, revision, baseline, rollup } = coverage;
  return {
    framework,
    revision: isDefault ? '' : (revision ?? ''),
    baseline: baseline ?? '',
    rollup: rollup ? 'true' : '',
  };
}

/** The query of the page itself, with a change. */
export function pageQuery(shown: ShownCoverage, { needs }: Place, change: Record<string, string>) {
  const { view, isAutomatedOnly } = shown;
  const query: Record<string, string> = {
    ...{ ...needs, ...queryOf(shown) },
    ...{ by: isAutomatedOnly ? 'automated' : '', show: view, ...change },
  };
  return {
    ...query,
    framework: query.framework === 'nist-800-53' ? '' : query.framework,
    show: query.show === 'map' ? '' : query.show,
  };
}

/** The page of a control, filtered to this list or STIG. */
export function hrefOf(
  { coverage, isDefault }: ShownCoverage,
  { narrow }: Place,
  identifier: string,
): string {
  const version = isDefault ? '' : (coverage.revision ?? '');
  return link(controlHref(coverage.framework, identifier), { ...narrow, version });
}

/** One of the tables beside the map. */
export function CoverageTable(props: {
  shown: ShownCoverage;
  place: Place;
  view: Exclude<CoverageView, 'map' | 'gaps'>;
}): Child {
  const { shown, place, view } = props;
  const { coverage, beginnings } = shown;
  const { controls, outside, stigs } = coverage;
  if (view === 'unmapped') return <Unmapped shown={shown} place={place} />;
  const of: (CoveredControl | Coverage['outside'][number])[] =
    view === 'outside' ? outside : controls.filter(({ covered }) => covered === (view === 'covered'));
  // The shipped facts of some frameworks have neither titles nor statements.
  const isTitled = controls.some(({ identifier, title }) => title !== '' || beginnings.get(identifier));
  const titles = new Map(stigs.map(({ slug, title }) => [slug, title]));
  const part = { page: shown.page, limit: rowsPerPage };
  const hasStigs = view === 'covered' && stigs.length > 1;
  return (
    <Table
      caption={captions[view]}
      head={[
        'Control',
        ...(isTitled ? ['Title'] : []),
        ...(view === 'outside' ? [] : ['Family']),
        ...(view === 'uncovered' ? [] : ['Rules']),
        ...(hasStigs ? ['STIGs'] : []),
      ]}
      rows={slice(of, part).map((each) => [
        <a class="ids" href={hrefOf(shown, place, each.identifier)}>
          {each.identifier}
        </a>,
        ...(isTitled
          ? [each.title || <span class="quiet">{beginning(beginnings.get(each.identifier) ?? '', 120)}</span>]
          : []),
        ...('family' in each ? [each.family] : []),
        ...(view === 'uncovered' ? [] : [<RulesLink of={each} shown={shown} place={place} />]),
        ...(hasStigs && 'stigs' in each ? [<Stigs of={each.stigs} titles={titles} />] : []),
      ])}
      pages={pagesOf(shown, place, of.length)}
    >
      {nothing[view]}
    </Table>
  );
}

const captions = {
  uncovered: 'Controls without a rule',
  covered: 'Controls addressed',
  outside: 'Controls addressed outside the baseline',
};
const nothing = {
  uncovered: 'A rule addresses each of these controls.',
  covered: 'No rule addresses any of these controls.',
  outside: 'No rule addresses a control outside the baseline.',
};

/** The number of rules of a control, and the way to them beside the map. */
function RulesLink(props: {
  of: CoveredControl | { identifier: string; rules: number };
  shown: ShownCoverage;
  place: Place;
}): Child {
  const { of, shown, place } = props;
  const query = pageQuery(shown, place, { show: 'map', control: of.identifier });
  return (
    <>
      <a href={`${link(place.home, query)}#chosen`}>
        {count(typeof of.rules === 'number' ? of.rules : of.rules.total, 'rule')}
      </a>{' '}
      {typeof of.rules === 'number' ? null : <SeverityCounts counts={of.rules} />}
    </>
  );
}

function Unmapped({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
  const { unmapped, stigs } = shown.coverage;
  const titles = new Map(stigs.map(({ slug, title }) => [slug, title]));
  return (
    <Table
      caption="Rules not mapped"
      headColumn={1}
      head={['ID', 'Rule', 'CCIs', ...(stigs.length > 1 ? ['STIG'] : [])]}
      rows={slice(unmapped, { page: shown.page, limit: rowsPerPage }).map((rule) => [
        <span class="ids">{rule.groupId}</span>,
        <a href={ruleHref(rule.slug, rule, place.needs.version)}>{rule.title}</a>,
        rule.ccis.length === 0 ? (
          <span class="quiet">none</span>
        ) : (
          <Ccis of={rule.ccis} deprecated={rule.deprecated ?? []} />
        ),
        ...(stigs.length > 1 ? [shortTitle(titles.get(rule.slug)!)] : []),
      ])}
      pages={pagesOf(shown, place, unmapped.length)}
    >
      Every rule addresses an active control.
    </Table>
  );
}

function pagesOf(shown: ShownCoverage, place: Place, total: number): Pages {
  const href = (page: number) => `${link(place.home, pageQuery(shown, place, { page: String(page) }))}#map`;
  return { pagination: paginationOf({ page: shown.page, limit: rowsPerPage }, total), href };
}

function Stigs({ of, titles }: { of: string[]; titles: Map<string, string> }): Child {
  const more = of.length - 3;
  return (
    <>
      {of.slice(0, 3).map((slug, index) => (
        <>
          {index === 0 ? '' : ', '}
          <a href={path('stigs', slug)}>{shortTitle(titles.get(slug)!)}</a>
        </>
      ))}
      {more > 0 ? <span class="quiet">{` and ${more} more`}</span> : ''}
    </>
  );
}
