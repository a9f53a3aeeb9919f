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

/** The controls by family: a square for each with its number of rules; a circle for none. */
export function CoverageMap(props: { coverage: Coverage; hrefOf: (identifier: string) => string }): Child {
  const { coverage, hrefOf } = props;
  const byFamily = Map.groupBy(coverage.controls, ({ family }) => family);
  const isDrawn = coverage.controls.length <= mostSquares;
  return (
    <section aria-labelledby="map">
      <h2 id="map">By family</h2>
      {isDrawn ? <Legend /> : null}
      <ul class="families">
        {coverage.families.map(({ family, controls, covered }) => (
          <li>
            <p>
              <b>{family === '' ? 'No family' : family}</b>{' '}
              <span class="quiet">
                {covered.toLocaleString('en-US')} of {controls.toLocaleString('en-US')} addressed
              </span>
            </p>
            {isDrawn ? (
              <div class="squares">
                {byFamily.get(family)!.map((control) => (
                  <Square control={control} href={hrefOf(control.identifier)} />
                ))}
              </div>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Not in the tab order: the tables below have the same links, and there may be a thousand squares. */
function Square({ control: { identifier, rules }, href }: { control: CoveredControl; href: string }): Child {
  const words = `${identifier}: ${rules.total === 0 ? 'no rule' : count(rules.total, 'rule')}`;
  return (
    <a class={shadeOf(rules.total)} href={href} title={words} aria-label={words} tabindex={-1}>
      {rules.total === 0 ? '' : rules.total}
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
      <li class="quiet">One square is one control. The tables below say the same in words.</li>
    </ul>
  );
}
