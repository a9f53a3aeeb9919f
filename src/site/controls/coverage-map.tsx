import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { Coverage, CoveredControl } from '../../catalog/crosswalk/coverage-schema.ts';

const shades: [from: number, words: string][] = [
  [1, '1 rule'],
  [2, '2 to 4'],
  [5, '5 to 19'],
  [20, '20 or more'],
];
/** More squares are unreadable: then the page describes families as text. */
const mostSquares = 1500;

const shadeOf = (rules: number) => `n${shades.filter(([from]) => rules >= from).length}`;

/** The controls by family: a cell for each with its id and its number of rules; a dashed one for none. */
export function CoverageMap(props: {
  coverage: Coverage;
  hrefOf: (identifier: string) => string;
  isGapsOnly: boolean;
  /** The address of the map with all controls, or with gaps only. */
  otherHref: string;
}): Child {
  const { coverage, hrefOf, isGapsOnly, otherHref } = props;
  const shown = coverage.controls.filter(({ covered }) => !(isGapsOnly && covered));
  const byFamily = Map.groupBy(shown, ({ family }) => family);
  const isDrawn = shown.length <= mostSquares;
  return (
    <section aria-labelledby="map">
      <div class="section-head">
        <h2 id="map">{isGapsOnly ? 'Gaps by family' : 'By family'}</h2>
        <a href={`${otherHref}#map`}>{isGapsOnly ? 'Show all controls' : 'Show gaps only'}</a>
        {isDrawn && !isGapsOnly ? <Legend /> : null}
      </div>
      {coverage.families
        .filter(({ family }) => byFamily.has(family))
        .map(({ family, controls, covered }) => (
          <details class="family" open={isDrawn}>
            <summary>
              <b>{family === '' ? 'No family' : family}</b>{' '}
              <span class="quiet">
                {covered.toLocaleString('en-US')} of {controls.toLocaleString('en-US')} addressed
              </span>
            </summary>
            {isDrawn ? (
              <div class="squares">
                {byFamily.get(family)!.map((control) => (
                  <Square control={control} href={hrefOf(control.identifier)} />
                ))}
              </div>
            ) : null}
          </details>
        ))}
      {shown.length === 0 ? <p class="empty">A rule addresses each of these controls.</p> : null}
    </section>
  );
}

/** Not in the tab order: the tables below have the same links, and there may be a thousand cells. */
function Square({ control: { identifier, rules }, href }: { control: CoveredControl; href: string }): Child {
  const words = `${identifier} ${rules.total === 0 ? 'no rule' : count(rules.total, 'rule')}`;
  return (
    <a class={shadeOf(rules.total)} href={href} title={words} aria-label={words} tabindex={-1}>
      {identifier} {rules.total === 0 ? '' : <b>{rules.total}</b>}
    </a>
  );
}

function Legend(): Child {
  return (
    <ul class="squares legend" aria-label="Legend">
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
