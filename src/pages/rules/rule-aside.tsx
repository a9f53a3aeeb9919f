import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { ChainedCci } from '../../catalog/crosswalk/cci.ts';
import type { RuleOverTime, RuleRelease } from '../../catalog/stigs/history-schema.ts';
import type { RelatedRule } from '../../catalog/stigs/reading.ts';
import { Day, Empty, link, path, Severity, Status, shortTitle } from '../parts/components.tsx';
import { classNames, SeverityMove } from '../parts/diff-text.tsx';
import { frameworkName, ruleHref, ruleInDiff } from '../parts/links.tsx';
import type { RulePage } from './jobs.ts';

const shown = { ccis: 6, related: 6, roles: 5 };
/** STIGs with the same requirement on a page: the most common requirements are in nearly every STIG. */
const mostRelated = 100;

/** The sources of a rule, its history, related rules, and the responsible roles. */
export function RuleAside({ page }: { page: RulePage }): Child {
  return (
    <aside class="rule-aside" aria-label="About this rule">
      <Chain page={page} />
      {page.history.map((over) => (
        <Releases over={over} shown={page.version} />
      ))}
      <Related page={page} />
      <Roles page={page} />
    </aside>
  );
}

function Folded({ of, first, more }: { of: Child[]; first: number; more: string }): Child {
  return (
    <>
      {of.slice(0, first)}
      {of.length <= first ? null : (
        <li>
          <details>
            <summary>{count(of.length - first, `more ${more}`)}</summary>
            <ul>{of.slice(first)}</ul>
          </details>
        </li>
      )}
    </>
  );
}

const Step = ({ children }: { children: Child }) => <span class="step">{children}</span>;

function Chain({ page: { requirement, chain } }: { page: RulePage }): Child {
  return (
    <section aria-labelledby="chain">
      <h2 id="chain">From requirement to control</h2>
      <ol class="chain">
        {requirement === null ? null : (
          <li>
            <Step>SRG requirement</Step>{' '}
            <a
              class="ids"
              href={
                requirement.rule === null
                  ? link('/search', { q: requirement.id })
                  : ruleHref(requirement.rule.slug, requirement.rule)
              }
            >
              {requirement.id}
            </a>{' '}
            {requirement.rule === null ? null : <span class="quiet">{requirement.rule.ruleTitle}</span>}
          </li>
        )}
        <Folded first={shown.ccis} more="CCI" of={chain.map((each) => <Cci of={each} />)} />
        {chain.length > 0 ? null : (
          <li>
            <Step>CCI</Step> <span class="quiet">none: this rule maps to no control</span>
          </li>
        )}
      </ol>
    </section>
  );
}

function Cci({ of: { cci, isDeprecated, controls } }: { of: ChainedCci }): Child {
  return (
    <li>
      <Step>CCI</Step>{' '}
      <a class="ids" href={path('ccis', cci)}>
        {cci}
      </a>{' '}
      {isDeprecated ? <span class="quiet">deprecated</span> : null}
      <ol>
        {controls.length > 0 ? null : (
          <li>
            <Step>{frameworkName('nist-800-53')}</Step> <span class="quiet">no control</span>
          </li>
        )}
        {controls.map(({ identifier, title, status, related }) => (
          <li>
            <Step>{frameworkName('nist-800-53')}</Step>{' '}
            <a class="ids" href={path('controls', 'nist-800-53', identifier)}>
              {identifier}
            </a>{' '}
            <span class="quiet">{title}</span> {status === 'verified' ? null : <Status status={status} />}
            <ol>
              <li>
                <Step>{frameworkName('nist-800-171')}</Step>{' '}
                {related.length === 0 ? (
                  <span class="quiet">no requirement</span>
                ) : (
                  related.map((each) => (
                    <>
                      <a class="ids" href={path('controls', 'nist-800-171', each)}>
                        {each}
                      </a>{' '}
                    </>
                  ))
                )}
              </li>
            </ol>
          </li>
        ))}
      </ol>
    </li>
  );
}

const states: Record<RuleRelease['state'], { shape: string; words: string }> = {
  first: { shape: '○', words: 'oldest stored release' },
  added: { shape: '+', words: 'added' },
  same: { shape: '=', words: 'same' },
  changed: { shape: '≠', words: 'changed' },
  renumbered: { shape: '#', words: 'renumbered' },
  removed: { shape: '−', words: 'removed' },
};

/** The history of a rule, newest release first: each change by shape and words, with a link to the difference. */
function Releases({ over, shown: version }: { over: RuleOverTime; shown: string }): Child {
  const { slug, groupId, ruleVersion, releases } = over;
  return (
    <section aria-label={`Releases of ${ruleVersion}`}>
      <h2>Over time</h2>
      <ol class="strip">
        {releases.map((each, index) => {
          const { shape, words } = states[each.state];
          // A rule that is back after a gap has no direct predecessor to compare with.
          const before = each.state === 'added' ? undefined : releases[index + 1];
          const hasMoved = each.classes.includes('severity') && before?.severity;
          return (
            <li class={hasMoved ? 'moved' : each.state}>
              <span class="shape" aria-hidden="true">
                {hasMoved ? '⇅' : shape}
              </span>
              <span>
                {each.state === 'removed' ? (
                  each.version
                ) : (
                  <a
                    href={ruleHref(slug, { groupId }, each.version)}
                    aria-current={each.version === version ? 'true' : undefined}
                  >
                    {each.version}
                  </a>
                )}{' '}
                <Day date={each.releaseDate} />
                <br />
                {before === undefined ? (
                  words
                ) : (
                  <a href={ruleInDiff(slug, before.version, each.version, groupId)}>
                    {words}
                    <span class="hidden"> since {before.version}: compare</span>
                  </a>
                )}
                {each.classes.length === 0 ? null : (
                  <span class="quiet">: {each.classes.map((name) => classNames[name]).join(', ')}</span>
                )}
                {hasMoved ? (
                  <>
                    <br />
                    <SeverityMove from={before.severity!} to={each.severity!} />
                  </>
                ) : null}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function Related({ page: { requirement, related } }: { page: RulePage }): Child {
  if (requirement === null) return null;
  const listed = related.slice(0, mostRelated);
  return (
    <section aria-labelledby="related">
      <h2 id="related">Same requirement in other STIGs</h2>
      {related.length === 0 ? (
        <Empty>No rule in another STIG has the requirement {requirement.id}.</Empty>
      ) : (
        <ul>
          <Folded
            first={shown.related}
            more="STIG"
            of={listed.map((rule) => <RelatedLine rule={rule} requirement={requirement.id} />)}
          />
        </ul>
      )}
      {related.length === listed.length ? null : (
        <p>
          <a href={link('/search', { q: requirement.id })}>
            All {count(related.length, 'STIG')} with {requirement.id}
          </a>
        </p>
      )}
    </section>
  );
}

function RelatedLine({ rule, requirement }: { rule: RelatedRule; requirement: string }): Child {
  const { slug, title, version, severity, ruleVersion, rules } = rule;
  return (
    <li>
      <Severity level={severity} />{' '}
      <a class="ids" href={ruleHref(slug, rule)}>
        {ruleVersion}
      </a>{' '}
      <span class="quiet">
        {shortTitle(title)} {version}
      </span>{' '}
      {rules === 1 ? null : (
        <a href={`${link(path('stigs', slug), { search: requirement })}#rules`}>
          and {count(rules - 1, 'more rule', 'more rules')}
        </a>
      )}
    </li>
  );
}

function Roles({ page: { slug, roles } }: { page: RulePage }): Child {
  return (
    <section aria-labelledby="roles">
      <h2 id="roles">Who is responsible</h2>
      {roles === null ? (
        <Empty>You need the role-data permission (occ) to see this.</Empty>
      ) : roles.length === 0 ? (
        <Empty>No occupation is mapped to this STIG.</Empty>
      ) : (
        <>
          <ul>
            {roles.slice(0, shown.roles).map((row) => (
              <li>
                <a href={path('roles', row.occupationCode)}>{row.occupationTitle}</a>{' '}
                <span class="quiet">
                  {row.roleResponsibilityLevel}, {Math.round(row.confidenceScore * 100)}%
                </span>
              </li>
            ))}
          </ul>
          <p>
            <a href={path('stigs', slug, 'roles')}>
              {roles.length > shown.roles ? `All ${roles.length} occupations` : 'Occupations'} of this STIG,
              with reasons
            </a>
          </p>
        </>
      )}
    </section>
  );
}
