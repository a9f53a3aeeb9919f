import type { Child } from 'hono/jsx';
import { citation } from '../../base/citation.ts';
import type { RuleLine, RuleText } from '../../catalog/stigs/reading.ts';
import type { RuleAutomation } from '../../catalog/stigs/rule-automation.ts';
import {
  Automation,
  automationPath,
  beginning,
  Day,
  Facts,
  link,
  Menu,
  Neighbors,
  path,
  Severity,
  shortTitle,
} from '../parts/components.tsx';
import { FindForm, Hidden, SeverityBoxes } from '../parts/forms.tsx';
import { ruleHref } from '../parts/links.tsx';
import { Prose } from '../parts/prose.tsx';
import type { View } from '../parts/view.ts';
import type { RulePage } from './jobs.ts';
import { RuleAside } from './rule-aside.tsx';

/** The page of a rule. */
export function rulePage(page: RulePage): View {
  const { slug, stigTitle, version, isCurrent, rules, filter, automation } = page;
  const pinned = isCurrent ? '' : version;
  const first = rules[0]!;
  const neighborOf = (rule: { groupId: string } | null) =>
    rule && { id: rule.groupId, href: ruleHref(slug, rule, pinned, filter) };
  const neighbors = { before: neighborOf(page.before), after: neighborOf(page.after) };
  return {
    title: `${first.groupId} ${first.ruleTitle}`,
    section: 'stigs',
    help: 'a-rule',
    printed: `${stigTitle} ${version}, ${page.releaseDate ?? 'no date'}`,
    heading: null,
    body: (
      <>
        <p class="crumbs">
          <a href="/stigs">STIGs</a> /{' '}
          <a href={link(path('stigs', slug), { version: pinned, ...filter })} title={stigTitle}>
            {shortTitle(stigTitle)}
          </a>{' '}
          {version}
          {isCurrent ? '' : ' (not the latest release)'}
        </p>
        <div class="reading">
          <RuleList page={page} pinned={pinned} />
          <div class="read">
            <div class="section-head">
              <Neighbors label="Previous and next rule" {...neighbors} />
              <div class="actions">
                {rules.map((rule) => (
                  <CopyMenu
                    rule={rule}
                    label={rules.length === 1 ? 'Copy' : `Copy ${rule.ruleVersion}`}
                    cite={citation(slug, version, rule.ruleId)}
                    href={ruleHref(slug, rule, version)}
                  />
                ))}
              </div>
            </div>
            <Removed page={page} />
            {rules.map((rule, index) => (
              <Rule {...{ rule, automation: automation[index]!, slug, heading: index }} />
            ))}
            <Neighbors label="Previous and next rule, again" {...neighbors} />
          </div>
          <RuleAside page={page} />
        </div>
      </>
    ),
  };
}

function Removed({ page: { slug, rules, version, isCurrent, history } }: { page: RulePage }): Child {
  const over = history.find((each) => each.slug === slug);
  if (over === undefined || isCurrent) return null;
  if (over.current)
    return (
      <p class="warning">
        This is not the latest release. <a href={ruleHref(slug, over)}>Show the rule in the latest release</a>
      </p>
    );
  const last = over.releases.find(({ state }) => state !== 'removed');
  const without = over.releases.findLast(
    (each, index) => index < over.releases.indexOf(last!) && each.state === 'removed',
  );
  if (last === undefined || without === undefined) return null;
  return (
    <p class="warning">
      <strong>Removed.</strong> {last.version} (<Day date={last.releaseDate} />) was the last release with{' '}
      {rules[0]!.groupId}; {without.version} (<Day date={without.releaseDate} />) does not contain it.{' '}
      {last.version === version ? (
        'Its last text is shown here.'
      ) : (
        <a href={ruleHref(slug, over, last.version)}>Show its last text</a>
      )}
    </p>
  );
}

interface RuleProps {
  rule: RuleText;
  heading: number;
  automation: RuleAutomation;
  slug: string;
}

function Rule({ rule, heading, automation: { state, content }, slug }: RuleProps) {
  const legacy = rule.legacyIds.map((id) => (
    <a class="tag mono" href={link('/search', { q: id })}>
      {id}
    </a>
  ));
  return (
    <article>
      {heading === 0 ? <h1>{rule.ruleTitle}</h1> : <h2>{rule.ruleTitle}</h2>}
      <Facts
        of={[
          ['Severity', <Severity level={rule.severity} />],
          ['V-ID', <Id name="V-ID" id={rule.groupId} href={link('/search', { q: rule.groupId })} />],
          [
            'STIG ID',
            <Id name="STIG ID" id={rule.ruleVersion} href={link('/search', { q: rule.ruleVersion })} />,
          ],
          ['Rule ID', <Id name="rule ID" id={rule.ruleId} href={link('/search', { q: rule.ruleId })} />],
          [
            'SRG requirement',
            <Id name="requirement" id={rule.title} href={link('/search', { q: rule.title })} />,
          ],
          ...(legacy.length === 0 ? [] : [['Legacy IDs', legacy] as [string, Child]]),
          ...(rule.responsibility.trim() === ''
            ? []
            : [['Responsibility', rule.responsibility] as [string, Child]]),
          [
            'Checked by',
            <>
              <a href={automationPath(slug)}>
                <Automation state={state} />
              </a>{' '}
              <span class="quiet">{content.join('; ')}</span>
            </>,
          ],
        ]}
      />
      <section>
        <div class="section-head">
          <h2>Discussion</h2>
        </div>
        <div class="card">
          <Prose text={rule.vulnDiscussion} />
        </div>
      </section>
      {[
        { name: 'Check', text: rule.checkContent },
        { name: 'Fix', text: rule.fixText },
      ].map(({ name, text }) => (
        <section>
          <div class="section-head">
            <h2>{name}</h2>
          </div>
          <div class="card">
            <Prose text={text} copied={name.toLowerCase()} />
          </div>
        </section>
      ))}
    </article>
  );
}

/** The link, the citation, and the whole rule as text and as Markdown: the script adds a button to each. */
function CopyMenu(props: {
  rule: RuleText;
  label: string;
  cite: string;
  /** The address of the rule in this release. */
  href: string;
}): Child {
  const { rule, label, cite, href } = props;
  return (
    <Menu label={label}>
      <div>
        <p>
          Link <Id name="link" id={href} href={href} />
        </p>
        <p>
          Citation <Id name="citation" id={cite} href={link('/cite', { ref: cite })} />
        </p>
        {(['text', 'Markdown'] as const).map((form) => (
          <section>
            <div class="section-head">
              <b>Whole rule as {form}</b>
            </div>
            <pre data-copy={`rule as ${form}`} tabindex={0}>
              {wholeRule(rule, cite, form)}
            </pre>
          </section>
        ))}
      </div>
    </Menu>
  );
}

/** An id with its link; the script adds a button that copies it. */
function Id({ name, id, href }: { name: string; id: string; href: string }): Child {
  return (
    <a class="mono" data-cite={name} href={href}>
      {id}
    </a>
  );
}

const titleLength = 70;

/** The rules around the current one that match the filter: a column of wide screens. */
function RuleList({ page, pinned }: { page: RulePage; pinned: string }): Child {
  const { slug, rules, list, filter } = page;
  const here = rules[0]!.groupId;
  const isFiltered = Object.values(filter).some(({ length }) => length > 0);
  const line = (rule: RuleLine, children: Child) => (
    <li>
      <a
        href={ruleHref(slug, rule, pinned, filter)}
        aria-current={rule.groupId === here ? 'page' : undefined}
      >
        {children}
      </a>
    </li>
  );
  return (
    <nav class="rule-list" aria-label="Rules of this STIG">
      <details open={isFiltered}>
        <summary>Filters</summary>
        <FindForm
          action={path('stigs', slug, 'rules', here)}
          label="ID or title contains"
          search={filter.search}
          keep={{ version: pinned, cci: filter.cci }}
        >
          {filter.checked.map((state) => (
            <Hidden fields={{ checked: state }} />
          ))}
          <SeverityBoxes selected={filter.severity} />
        </FindForm>
      </details>
      <p class="quiet">
        Rule {list.place.toLocaleString('en-US')} of {list.total.toLocaleString('en-US')}.{' '}
        <span class="keys">
          Keys: <kbd>j</kbd> next, <kbd>k</kbd> previous.
        </span>
      </p>
      <ul>
        {list.up === null ? null : line(list.up, '↑ Earlier rules')}
        {list.lines.map((rule) =>
          line(
            rule,
            <>
              <Severity level={rule.severity} /> <span class="ids">{rule.groupId}</span>
              <span class="one-line">{beginning(rule.ruleTitle, titleLength)}</span>
            </>,
          ),
        )}
        {list.down === null ? null : line(list.down, '↓ Later rules')}
      </ul>
    </nav>
  );
}

const categories = { high: 'CAT I', medium: 'CAT II', low: 'CAT III' } as const;

/** A rule with its ids, citation and texts in one piece, to be pasted elsewhere: as plain text or as Markdown. */
function wholeRule(rule: RuleText, cite: string, form: 'text' | 'Markdown'): string {
  const isText = form === 'text';
  const facts = [
    ['Severity', categories[rule.severity]],
    ['V-ID', rule.groupId],
    ['STIG ID', rule.ruleVersion],
    ['Rule ID', rule.ruleId],
    ['CCIs', rule.ruleIdents.join(', ')],
    ['Citation', cite],
  ].filter(([, value]) => value !== '');
  const texts = [
    ['Discussion', rule.vulnDiscussion],
    ['Check', rule.checkContent],
    ['Fix', rule.fixText],
  ] as const;
  return [
    isText ? rule.ruleTitle : `## ${rule.ruleTitle}`,
    facts.map(([name, value]) => (isText ? `${name}: ${value}` : `- **${name}:** ${value}`)).join('\n'),
    // Published commands contain Markdown's own marks, so a text stands in a fence that is longer than any in it.
    ...texts.map(([name, text]) => (isText ? `${name}\n\n${text}` : `### ${name}\n\n${fenced(text)}`)),
  ].join('\n\n');
}

function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
