import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import { link } from '../parts/components.tsx';
import { controlHref } from '../parts/framework-links.ts';
import type { RulesFound } from './rules-of-control.tsx';

/** A base control or an enhancement, with its number of mapped rules; null without a session. */
export interface Enhancement {
  identifier: string;
  title: string;
  rules: number | null;
}

/** A base control with its enhancements below it. Each link has the same filters. */
export function EnhancementTree(props: {
  framework: string;
  of: Enhancement[];
  current: string;
  filter: RulesFound['filter'] | undefined;
}): Child {
  const { framework, of, current, filter = {} } = props;
  const [base, ...below] = of;
  if (base === undefined || below.length === 0) return null;
  const node = ({ identifier, title, rules }: Enhancement) => {
    const label = `${identifier} ${title}`;
    return (
      <>
        {identifier === current ? (
          <strong aria-current="true">{label}</strong>
        ) : (
          <a href={link(controlHref(framework, identifier), { ...filter })}>{label}</a>
        )}{' '}
        {rules === null ? null : <span class="quiet">{rules === 0 ? 'no rule' : count(rules, 'rule')}</span>}
      </>
    );
  };
  return (
    <section aria-labelledby="enhancements">
      <details class="more">
        <summary id="enhancements">Enhancements {below.length}</summary>
        <ul class="tree">
          <li>
            {node(base)}
            <ul>
              {below.map((each) => (
                <li>{node(each)}</li>
              ))}
            </ul>
          </li>
        </ul>
      </details>
    </section>
  );
}
