import { count } from '../../base/text.ts';
import type { RuleHistory } from '../../catalog/stigs/history-schema.ts';
import { Severity, Table } from '../parts/components.tsx';
import { RuleIds, ruleHref } from '../parts/rule-links.tsx';
import type { View } from '../parts/view.ts';

/** The choice between several rules with one id: DISA reused numbers, and split rules. */
export function chooseRulePage({ id, rules }: RuleHistory): View {
  return {
    title: `Rules with the id ${id}`,
    section: 'stigs',
    crumbs: [['STIGs', '/stigs']],
    heading: `${count(rules.length, 'rule')} with the id ${id}`,
    body: (
      <Table
        caption={`Rules with the id ${id}`}
        headColumn={2}
        head={['Severity', 'ID', 'Rule', 'STIG', 'Release']}
        rows={rules.map((rule) => {
          const last = rule.releases.find(({ state }) => state !== 'removed')!;
          return [
            <Severity level={rule.severity} />,
            <RuleIds of={rule} />,
            <a href={ruleHref(rule.slug, rule)}>{rule.ruleTitle}</a>,
            rule.title,
            rule.current ? `${last.version}, latest` : `${last.version}, removed later`,
          ];
        })}
      />
    ),
  };
}
