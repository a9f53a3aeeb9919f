import type { Finding } from '../../catalog/stigs/schema.ts';
import { Facts, link, Prose, path, Severity } from './components.tsx';
import type { View } from './view.ts';

/** A group of a release: one rule, or in a few old STIGs several. */
export interface RulePage {
  slug: string;
  stigTitle: string;
  version: string;
  isCurrent: boolean;
  rules: Finding[];
  before: Finding | null;
  after: Finding | null;
}

/** The address of a rule's page. */
export function ruleHref(slug: string, rule: { groupId: string }, version = ''): string {
  return link(path('stigs', slug, 'rules', rule.groupId), { version });
}

/** The address of the page that compares two releases. */
export function diffHref(slug: string, from: string, to: string): string {
  return link(path('stigs', slug, 'diff'), { from, to });
}

/** The two ids that a rule is known by, one above the other. */
export function RuleIds({ of }: { of: { groupId: string; ruleVersion: string } }) {
  return (
    <span class="ids">
      {of.groupId}
      <br />
      {of.ruleVersion}
    </span>
  );
}

export function rulePage({ slug, stigTitle, version, isCurrent, rules, before, after }: RulePage): View {
  const pinned = isCurrent ? '' : version;
  const first = rules[0]!;
  return {
    title: `${first.groupId} ${first.ruleTitle}`,
    section: 'stigs',
    heading: null,
    body: (
      <>
        <p class="crumbs">
          <a href="/stigs">STIGs</a> /{' '}
          <a href={link(path('stigs', slug), { version: pinned })}>{stigTitle}</a> {version}
          {isCurrent ? '' : ' (not the latest release)'}
        </p>
        {rules.map((rule, index) => (
          <Rule rule={rule} heading={index} />
        ))}
        <nav class="pager" aria-label="Rules">
          {before === null ? null : (
            <a rel="prev" href={ruleHref(slug, before, pinned)}>
              ← {before.groupId}
            </a>
          )}
          {after === null ? null : (
            <a rel="next" href={ruleHref(slug, after, pinned)}>
              {after.groupId} →
            </a>
          )}
        </nav>
      </>
    ),
  };
}

function Rule({ rule, heading }: { rule: Finding; heading: number }) {
  const texts: [string, string][] = [
    ['Discussion', rule.vulnDiscussion],
    ['Check', rule.checkContent],
    ['Fix', rule.fixText],
  ];
  return (
    <article>
      {heading === 0 ? <h1>{rule.ruleTitle}</h1> : <h2>{rule.ruleTitle}</h2>}
      <Facts
        of={[
          ['Severity', <Severity level={rule.severity} />],
          ['Group ID', <span class="ids">{rule.groupId}</span>],
          ['Rule ID', <span class="ids">{rule.ruleId}</span>],
          ['STIG ID', <span class="ids">{rule.ruleVersion}</span>],
          ['Group title', <span class="mono">{rule.title}</span>],
          [
            'CCIs',
            rule.ruleIdents.length === 0 ? (
              <span class="quiet">none</span>
            ) : (
              rule.ruleIdents.map((cci) => (
                <span class="tag">
                  <a class="ids" href={path('ccis', cci)}>
                    {cci}
                  </a>
                </span>
              ))
            ),
          ],
        ]}
      />
      {texts.map(([name, text]) => (
        <section>
          <h2>{name}</h2>
          <div class="section-text">
            <Prose text={text} />
          </div>
        </section>
      ))}
    </article>
  );
}
