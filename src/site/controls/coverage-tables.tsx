import type { Child } from 'hono/jsx';
import type { Coverage, CoveredControl } from '../../catalog/crosswalk/coverage-schema.ts';
import { beginning, Ccis, link, path, Severity, Table } from '../parts/components.tsx';
import { controlHref } from '../parts/framework-links.ts';
import { ruleHref } from '../parts/rule-links.tsx';

export interface ShownCoverage {
  coverage: Coverage;
  /** Why the baseline of the form does not count. */
  problem: string | null;
  choices: {
    frameworks: readonly string[];
    revisions: [value: string, text: string][];
    baselines: [value: string, text: string][];
  };
  isDefault: boolean;
  /** Whether the map leaves out what is addressed. */
  isGapsOnly: boolean;
  /** The beginning of the statement, for controls without a title. */
  beginnings: Map<string, string>;
}

/** The address of a coverage page, its own parameters, and the filter for links to rules of a control. */
export interface Place {
  home: string;
  needs: Record<string, string>;
  narrow: Record<string, string>;
}

const mostRows = 1500;
const mostUnmapped = 300;

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

/** The page of a control, filtered to this list or STIG. */
export function hrefOf(
  { coverage, isDefault }: ShownCoverage,
  { narrow }: Place,
  identifier: string,
): string {
  const version = isDefault ? '' : (coverage.revision ?? '');
  return link(controlHref(coverage.framework, identifier), { ...narrow, version });
}

/** The map as tables, with what the map does not show. */
export function Tables({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
  const { coverage, beginnings } = shown;
  const { controls, outside, unmapped, stigs, baseline } = coverage;
  const titles = new Map(stigs.map(({ slug, title }) => [slug, title]));
  const named = ({ identifier }: { identifier: string }) => (
    <a class="ids" href={hrefOf(shown, place, identifier)}>
      {identifier}
    </a>
  );
  const titled = ({ identifier, title }: { identifier: string; title: string }) =>
    title || <span class="quiet">{beginning(beginnings.get(identifier) ?? '', 120)}</span>;
  // The shipped facts of some frameworks have neither titles nor statements.
  const isTitled = controls.some(({ identifier, title }) => title !== '' || beginnings.get(identifier));
  const heads = isTitled ? ['Control', 'Title'] : ['Control'];
  const lead = (each: { identifier: string; title: string }): Child[] =>
    isTitled ? [named(each), titled(each)] : [named(each)];
  const [covered, uncovered] = [true, false].map((each) => controls.filter((one) => one.covered === each));
  return (
    <>
      <Part id="uncovered" heading="Controls without a rule" number={uncovered!.length} of={controls.length}>
        <Table
          caption="Controls without a rule"
          class="dense"
          head={[...heads, 'Family']}
          rows={uncovered!.slice(0, mostRows).map((each) => [...lead(each), each.family])}
        >
          A rule addresses each of these controls.
        </Table>
        <Rest number={uncovered!.length - mostRows} shown={shown} place={place} />
      </Part>
      <Part id="covered" heading="Controls addressed" number={covered!.length} of={controls.length}>
        <Table
          caption="Controls addressed"
          class="dense"
          head={[...heads, 'Rules', ...(stigs.length > 1 ? ['STIGs'] : [])]}
          rows={covered!
            .slice(0, mostRows)
            .map((each) => [
              ...lead(each),
              <RuleCounts of={each} />,
              ...(stigs.length > 1 ? [<Stigs of={each.stigs} titles={titles} />] : []),
            ])}
        >
          No rule addresses any of these controls.
        </Table>
        <Rest number={covered!.length - mostRows} shown={shown} place={place} />
      </Part>
      {baseline === null ? null : (
        <Part id="outside" heading="Addressed outside the baseline" number={outside.length}>
          <Table
            caption="Controls addressed outside the baseline"
            class="dense"
            head={[...heads, 'Rules']}
            rows={outside.map((each) => [...lead(each), each.rules])}
          >
            No rule addresses a control outside the baseline.
          </Table>
        </Part>
      )}
      <Part id="unmapped" heading="Rules not mapped" number={unmapped.length} of={coverage.totals.rules}>
        <Table
          caption="Rules not mapped"
          headColumn={1}
          head={['ID', 'Rule', 'CCIs', ...(stigs.length > 1 ? ['STIG'] : [])]}
          rows={unmapped
            .slice(0, mostUnmapped)
            .map((rule) => [
              <span class="ids">{rule.groupId}</span>,
              <a href={ruleHref(rule.slug, rule, place.needs.version)}>{rule.title}</a>,
              rule.ccis.length === 0 ? (
                <span class="quiet">none</span>
              ) : (
                <Ccis of={rule.ccis} deprecated={rule.deprecated ?? []} />
              ),
              ...(stigs.length > 1 ? [titles.get(rule.slug)!] : []),
            ])}
        >
          Every rule addresses an active control.
        </Table>
        <Rest number={unmapped.length - mostUnmapped} shown={shown} place={place} />
      </Part>
    </>
  );
}

function Part(props: { id: string; heading: string; number: number; of?: number; children: Child }): Child {
  const { id, heading, number, of, children } = props;
  const total = of === undefined ? '' : ` of ${of.toLocaleString('en-US')}`;
  return (
    <details class="more">
      <summary>
        {heading}{' '}
        <span class="quiet">
          {number.toLocaleString('en-US')}
          {total}
        </span>
      </summary>
      {/* A link to an id inside opens it. */}
      <h2 id={id} class="hidden">
        {heading}
      </h2>
      {children}
    </details>
  );
}

function Rest({ number, shown, place }: { number: number; shown: ShownCoverage; place: Place }): Child {
  if (number <= 0) return null;
  const query = { ...place.needs, ...queryOf(shown), format: 'json' };
  return (
    <p class="quiet">
      {number.toLocaleString('en-US')} more are not shown here.{' '}
      <a href={link(`/api/v1${place.home}`, query)} download>
        Download all as JSON
      </a>
    </p>
  );
}

function RuleCounts({ of: { rules } }: { of: CoveredControl }): Child {
  return (['high', 'medium', 'low'] as const)
    .filter((level) => rules[level] > 0)
    .map((level) => (
      <>
        <Severity level={level} number={rules[level]} />{' '}
      </>
    ));
}

function Stigs({ of, titles }: { of: string[]; titles: Map<string, string> }): Child {
  const more = of.length - 3;
  return (
    <>
      {of.slice(0, 3).map((slug, index) => (
        <>
          {index === 0 ? '' : ', '}
          <a href={path('stigs', slug)}>{titles.get(slug)}</a>
        </>
      ))}
      {more > 0 ? <span class="quiet">{` and ${more} more`}</span> : ''}
    </>
  );
}
