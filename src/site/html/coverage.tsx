import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import {
  type Coverage,
  type CoveredControl,
  coverageFormats,
} from '../../catalog/crosswalk/coverage-schema.ts';
import { beginning, Downloads, Empty, Ids, link, path, Severity, Table, Tiles } from './components.tsx';
import { CoverageMap } from './coverage-map.tsx';
import { Filters, Hidden, Select } from './forms.tsx';
import { controlHref, frameworkName } from './frameworks.ts';
import { listView, partPath, type ShownList } from './list-frame.tsx';
import { ruleHref } from './rule.tsx';
import type { View } from './view.ts';

/** Coverage with what may be asked for instead. */
export interface ShownCoverage {
  coverage: Coverage;
  choices: {
    frameworks: readonly string[];
    revisions: [value: string, text: string][];
    baselines: [value: string, text: string][];
  };
  /** Whether the revision is the one that is shown unless another is asked for. */
  isDefault: boolean;
  /** What stands for a title that a control does not have. */
  beginnings: Map<string, string>;
}

/** Where coverage stands: the address of its page, what that needs besides, and what a control's rules are narrowed to. */
interface Place {
  home: string;
  needs: Record<string, string>;
  narrow: Record<string, string>;
}

/** A page is for reading; files have everything. */
const mostRows = 1500;
const mostUnmapped = 300;

/** The coverage of a list, as a part of its page. */
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

/** The coverage of a release of a STIG; `version` is empty for the current one. */
export function stigCoveragePage({ version, ...shown }: ShownCoverage & { version: string }): View {
  const stig = shown.coverage.stigs[0]!;
  const home = path('stigs', stig.slug);
  const place = { home: `${home}/coverage`, needs: { version }, narrow: { stig: stig.slug } };
  return {
    title: `Coverage · ${stig.title} ${stig.version}`,
    section: 'stigs',
    crumbs: [
      ['STIGs', '/stigs'],
      [stig.title, link(home, { version })],
    ],
    heading: `Controls addressed by ${stig.title} ${stig.version}`,
    body: (
      <>
        <div class="actions">
          <Files shown={shown} place={place} />
        </div>
        <Body shown={shown} place={place} />
      </>
    ),
  };
}

/** What is asked for, as the address says it. */
function queryOf({ coverage, isDefault }: ShownCoverage): Record<string, string> {
  const { framework, revision, baseline, rollup } = coverage;
  return {
    framework,
    revision: isDefault ? '' : (revision ?? ''),
    baseline: baseline ?? '',
    rollup: rollup ? 'true' : '',
  };
}

function Files({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
  const { home, needs } = place;
  return (
    <Downloads of={home} formats={coverageFormats} version={needs.version ?? ''} query={queryOf(shown)} />
  );
}

function Body({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
  const { coverage, choices } = shown;
  const { framework, revision, baseline, rollup, totals, controls } = coverage;
  const isNist = framework === 'nist-800-53';
  const gone = coverage.stigs.filter(({ version }) => version === null);
  return (
    <>
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
      {revision === null ? (
        <Empty>
          No catalog of {frameworkName(framework)} is loaded. Import one with{' '}
          <code>gapstone import PATH</code>.
        </Empty>
      ) : (
        <>
          <p>
            {frameworkName(framework)} {revision}, {baseline === null ? 'all active controls' : baseline}:{' '}
            {count(totals.covered, 'control')} of {totals.controls.toLocaleString('en-US')} addressed.{' '}
            <span class="quiet">
              Addressed means that a rule is evidence for a part of a control. It does not mean satisfied, and
              a control without a rule may still be needed.
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
            <CoverageMap coverage={coverage} hrefOf={(identifier) => hrefOf(shown, place, identifier)} />
          )}
          <Tables shown={shown} place={place} />
        </>
      )}
    </>
  );
}

/** The page of a control with the rules of this list or STIG. */
function hrefOf({ coverage, isDefault }: ShownCoverage, { narrow }: Place, identifier: string): string {
  const version = isDefault ? '' : (coverage.revision ?? '');
  return link(controlHref(coverage.framework, identifier)!, { ...narrow, version });
}

/** The same as the map in words, and what the map does not show. */
function Tables({ shown, place }: { shown: ShownCoverage; place: Place }): Child {
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
  const [covered, uncovered] = [true, false].map((each) => controls.filter((one) => one.covered === each));
  return (
    <>
      <Part id="uncovered" heading="Controls without a rule" number={uncovered!.length} of={controls.length}>
        <Table
          caption="Controls without a rule"
          class="dense"
          head={['Control', 'Title', 'Family']}
          rows={uncovered!.slice(0, mostRows).map((each) => [named(each), titled(each), each.family])}
        >
          A rule addresses each of these controls.
        </Table>
        <Rest number={uncovered!.length - mostRows} shown={shown} place={place} />
      </Part>
      <Part id="covered" heading="Controls addressed" number={covered!.length} of={controls.length}>
        <Table
          caption="Controls addressed"
          class="dense"
          head={['Control', 'Title', 'Rules', ...(stigs.length > 1 ? ['STIGs'] : [])]}
          rows={covered!
            .slice(0, mostRows)
            .map((each) => [
              named(each),
              titled(each),
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
            head={['Control', 'Title', 'Rules']}
            rows={outside.map((each) => [named(each), titled(each), each.rules])}
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
              rule.ccis.length === 0 ? <span class="quiet">none</span> : <Ids of={rule.ccis} />,
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
    <section aria-labelledby={id}>
      <h2 id={id}>
        {heading}{' '}
        <span class="quiet">
          {number.toLocaleString('en-US')}
          {total}
        </span>
      </h2>
      {children}
    </section>
  );
}

/** What a table leaves to the files. */
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

/** The STIGs whose rules address a control: the first few by name. */
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
