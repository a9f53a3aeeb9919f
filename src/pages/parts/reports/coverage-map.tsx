import type { Child } from 'hono/jsx';
import { count } from '../../../base/text.ts';
import type { CoveredControl } from '../../../catalog/crosswalk/reports-schema.ts';
import { link, Severity, shortTitle } from '../components.tsx';
import { ruleHref } from '../links.tsx';
import { hrefOf, narrowedHref, pageQuery, type ShownCoverage } from './coverage-tables.tsx';

const shades: [from: number, words: string][] = [
  [1, '1 rule'],
  [2, '2 to 4'],
  [5, '5 to 19'],
  [20, '20 or more'],
];
/** More squares are unreadable: then the page describes families as text. */
const mostSquares = 1500;

/** Rules beside the map: all of them open, and those of one STIG. */
const mostOpen = 40;
const mostListed = 100;

const shadeOf = (rules: number) => `n${shades.filter(([from]) => rules >= from).length}`;

/** The controls by family: a cell for each with its id and its number of rules; beside them the rules of a chosen one. */
export function CoverageMap({ shown }: { shown: ShownCoverage }): Child {
  const { coverage, view, chosen } = shown;
  const controls = coverage.controls.filter(({ covered }) => view === 'map' || !covered);
  const byFamily = Map.groupBy(controls, ({ family }) => family);
  const isDrawn = controls.length <= mostSquares;
  // The query alone: the address of a page in a thousand cells would be most of the page.
  const query = link('', pageQuery(shown, { control: '' }));
  const href = (identifier: string) =>
    `${query}${query === '' ? '?' : '&'}control=${encodeURIComponent(identifier)}#chosen`;
  return (
    <div class={chosen === null ? undefined : 'found'}>
      {chosen === null ? null : <Chosen of={chosen} shown={shown} />}
      <section aria-label={view === 'map' ? 'Controls by family' : 'Controls without a rule by family'}>
        {isDrawn && view === 'map' ? <Legend /> : null}
        {coverage.families
          .filter(({ family }) => byFamily.has(family))
          .map(({ family, controls: size, covered }) => (
            <details class="family" open={isDrawn}>
              <summary>
                <b>{family === '' ? 'No family' : family}</b>{' '}
                <span class="quiet">
                  {covered.toLocaleString('en-US')} of {size.toLocaleString('en-US')} addressed
                </span>
              </summary>
              {isDrawn ? (
                <div class="squares">
                  {byFamily.get(family)!.map((control) => (
                    <Square
                      control={control}
                      href={href(control.identifier)}
                      isChosen={control.identifier === chosen?.identifier}
                    />
                  ))}
                </div>
              ) : null}
            </details>
          ))}
        {controls.length === 0 ? <p class="empty">A rule addresses each of these controls.</p> : null}
      </section>
    </div>
  );
}

/** Not in the tab order: the tables have the same links, and there may be a thousand cells. */
function Square(props: { control: CoveredControl; href: string; isChosen: boolean }): Child {
  const { control, href, isChosen } = props;
  const { identifier, title, rules } = control;
  const words = rules.total === 0 ? 'no rule' : count(rules.total, 'rule');
  return (
    <a
      class={shadeOf(rules.total)}
      href={href}
      title={title === '' ? words : `${title}: ${words}`}
      tabindex={-1}
      aria-current={isChosen ? 'true' : undefined}
    >
      {identifier} {rules.total === 0 ? '' : <b>{rules.total}</b>}
    </a>
  );
}

/** The rules of a control, beside the map. */
function Chosen(props: { of: NonNullable<ShownCoverage['chosen']>; shown: ShownCoverage }): Child {
  const { of, shown } = props;
  const { identifier, title, stigs } = of;
  const total = stigs.reduce((sum, { rules }) => sum + rules.length, 0);
  return (
    <aside id="chosen" class="card" aria-labelledby="chosen-name">
      <h2 id="chosen-name">
        <a href={narrowedHref(shown, identifier)}>{identifier}</a> {title}
      </h2>
      <p class="quiet">
        {total === 0 ? 'No rule addresses it.' : count(total, 'rule')} <a href={hrefOf(shown, {})}>Close</a>
      </p>
      {stigs.map(({ slug, title: name, version, rules }) => (
        <details open={stigs.length === 1 || total <= mostOpen}>
          <summary>
            {shortTitle(name)} {version} <span class="quiet">{count(rules.length, 'rule')}</span>
          </summary>
          <ul class="plain">
            {rules.slice(0, mostListed).map((rule) => (
              <li>
                <Severity level={rule.severity} />{' '}
                <a class="ids" href={ruleHref(slug, rule, version ?? '')}>
                  {rule.groupId}
                </a>{' '}
                {rule.ruleTitle}
              </li>
            ))}
            {rules.length > mostListed ? <li>{count(rules.length - mostListed, 'more rule')}</li> : null}
          </ul>
        </details>
      ))}
    </aside>
  );
}

function Legend(): Child {
  return (
    <ul class="legend" aria-label="Legend">
      <li>
        <span class="n0" aria-hidden="true"></span> no rule
      </li>
      {shades.map(([from, words]) => (
        <li>
          <span class={shadeOf(from)} aria-hidden="true"></span> {words}
        </li>
      ))}
    </ul>
  );
}
