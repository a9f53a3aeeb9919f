import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { ControlRules } from '../../catalog/crosswalk/control-rules-schema.ts';
import { Empty, Ids, link, Nothing, Pager, path, Severity, Table } from './components.tsx';
import { ruleHref } from './rule.tsx';

/** The STIG rules that a control reaches; null for who is not signed in. `home` is the page that it stands on. */
export function RulesOfControl({ found, home }: { found: ControlRules | null; home: string }): Child {
  const href = (page: number) => `${link(home, { rulePage: page })}#rules`;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">STIG rules</h2>
      {found === null ? (
        <Empty>
          <a href={`/signin?next=${encodeURIComponent(home)}`}>Sign in</a> to see the STIG rules that are
          mapped to it.
        </Empty>
      ) : found.stigs.length === 0 ? (
        <Nothing pages={{ pagination: found.pagination, href }}>
          No rule in a current release is mapped to it through a CCI.
        </Nothing>
      ) : (
        <>
          <p class="quiet">
            {count(found.pagination.total, 'rule')} in current releases, mapped through CCIs
          </p>
          {found.stigs.map((stig) => (
            <>
              <h3>
                <a href={path('stigs', stig.slug)}>{stig.title}</a>{' '}
                <span class="quiet">
                  {stig.version}, {count(stig.ruleCount, 'rule')}
                </span>
              </h3>
              <Table
                caption={`Rules of ${stig.title}`}
                headColumn={2}
                head={['Severity', 'ID', 'Rule', 'Through']}
                rows={stig.rules.map((rule) => [
                  <Severity level={rule.severity} />,
                  <span class="ids">{rule.groupId}</span>,
                  <a href={ruleHref(stig.slug, rule)}>{rule.ruleTitle}</a>,
                  <Ids of={[...new Set(rule.paths.map((way) => way.controls.at(-1)!.identifier))]} />,
                ])}
              />
            </>
          ))}
          <Pager pagination={found.pagination} href={href} />
        </>
      )}
    </section>
  );
}
