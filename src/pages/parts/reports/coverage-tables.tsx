import type { Child } from 'hono/jsx';
import { count } from '../../../base/text.ts';
import type { StigWithRules } from '../../../catalog/crosswalk/coverage.ts';
import type { Coverage, CoveredControl } from '../../../catalog/crosswalk/reports-schema.ts';
import { paginationOf, slice } from '../../../http/paging.ts';
import { beginning, Ccis, link, path, SeverityCounts, shortTitle } from '../components.tsx';
import { controlHref, ruleHref } from '../links.tsx';
import { type Column, listing } from '../listing.tsx';
import type { ReportPlace } from './report-place.ts';

/** The map, the map of gaps, and the tables: each comes on demand, as a page with all of them is large. */
export const coverageViews = ['map', 'gaps', 'uncovered', 'covered', 'outside', 'unmapped'] as const;
type CoverageView = (typeof coverageViews)[number];

export interface ShownCoverage {
  coverage: Coverage;
  place: ReportPlace;
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
export function pageQuery(shown: ShownCoverage, change: Record<string, string>): Record<string, string> {
  const query = queryOf(shown);
  const show = change.show ?? shown.view;
  return {
    version: shown.place.version,
    ...query,
    framework: query.framework === 'nist-800-53' ? '' : query.framework!,
    by: shown.isAutomatedOnly ? 'automated' : '',
    ...change,
    show: show === 'map' ? '' : show,
  };
}

/** The address of the page with a change. */
export function hrefOf(shown: ShownCoverage, change: Record<string, string>, anchor = 'map'): string {
  return `${link(shown.place.home, pageQuery(shown, change))}#${anchor}`;
}

/** The page of a control, filtered to this system or STIG. */
export function narrowedHref({ coverage, isDefault, place }: ShownCoverage, identifier: string): string {
  const version = isDefault ? '' : (coverage.revision ?? '');
  return link(controlHref(coverage.framework, identifier), { ...place.narrow, version });
}

/** One of the tables beside the map. */
export function CoverageTable({ shown }: { shown: ShownCoverage }): Child {
  const { view, coverage, beginnings, place } = shown;
  const { controls, outside, unmapped, stigs } = coverage;
  const titles = new Map(stigs.map(({ slug, title }) => [slug, title]));
  // The shipped facts of some frameworks have neither titles nor statements.
  const isTitled = controls.some(({ identifier, title }) => title !== '' || beginnings.get(identifier));
  const title: Column<{ identifier: string; title: string }> = isTitled && [
    'Title',
    (each) =>
      each.title || <span class="quiet">{beginning(beginnings.get(each.identifier) ?? '', 120)}</span>,
  ];
  const control: Column<{ identifier: string }> = [
    'Control',
    ({ identifier }) => (
      <a class="ids" href={narrowedHref(shown, identifier)}>
        {identifier}
      </a>
    ),
  ];
  const rulesHref = (identifier: string) => hrefOf(shown, { show: 'map', control: identifier }, 'chosen');
  const family: Column<CoveredControl> = ['Family', (each) => each.family];
  const table = <Row,>(caption: string, rows: Row[], empty: string, columns: Column<Row>[]) =>
    listing({
      caption,
      columns,
      empty,
      headColumn: view === 'unmapped' ? 1 : 0,
      rows: slice(rows, { page: shown.page, limit: rowsPerPage }),
      home: place.home,
      query: pageQuery(shown, {}),
      anchor: '#map',
      pagination: paginationOf({ page: shown.page, limit: rowsPerPage }, rows.length),
    });
  if (view === 'uncovered')
    return table(
      'Controls without a rule',
      controls.filter(({ covered }) => !covered),
      'A rule addresses each of these controls.',
      [control, title, family],
    );
  if (view === 'covered')
    return table(
      'Controls addressed',
      controls.filter(({ covered }) => covered),
      'No rule addresses any of these controls.',
      [
        control,
        title,
        family,
        [
          'Rules',
          ({ identifier, rules }) => (
            <>
              <a href={rulesHref(identifier)}>{count(rules.total, 'rule')}</a>{' '}
              <SeverityCounts counts={rules} />
            </>
          ),
        ],
        stigs.length > 1 && ['STIGs', (each) => <Stigs of={each.stigs} titles={titles} />],
      ],
    );
  if (view === 'outside')
    return table(
      'Controls addressed outside the baseline',
      outside,
      'No rule addresses a control outside the baseline.',
      [
        control,
        title,
        ['Rules', ({ identifier, rules }) => <a href={rulesHref(identifier)}>{count(rules, 'rule')}</a>],
      ],
    );
  return table('Rules not mapped', unmapped, 'Every rule addresses an active control.', [
    ['ID', ({ groupId }) => <span class="ids">{groupId}</span>],
    ['Rule', (rule) => <a href={ruleHref(rule.slug, rule, place.version)}>{rule.title}</a>],
    [
      'CCIs',
      ({ ccis, deprecated = [] }) =>
        ccis.length === 0 ? <span class="quiet">none</span> : <Ccis of={ccis} deprecated={deprecated} />,
    ],
    stigs.length > 1 && ['STIG', ({ slug }) => shortTitle(titles.get(slug)!)],
  ]);
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
