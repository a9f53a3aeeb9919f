import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { count } from '../../base/text.ts';
import type { RuleHistory } from '../../catalog/stigs/history-schema.ts';
import { ruleHistory } from '../../catalog/stigs/jobs.ts';
import { readingQuery } from '../../catalog/stigs/reading.ts';
import type { Env } from '../../http/env.ts';
import { Severity, Table } from '../parts/components.tsx';
import { RuleIds, ruleHref } from '../parts/links.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import type { View } from '../parts/view.ts';
import { shownRule } from './jobs.ts';
import { rulePage } from './rule-page.tsx';

/** The pages of one rule: by any of its ids, and in its STIG. */
export function rulePages(app: Hono<Env>, { guard, show }: PageSupport, { ask }: { ask: Ask }): void {
  async function one(c: Context<Env>, name: string, id: string): Promise<Response> {
    const query = readQuery(c, readingQuery);
    return show(c, rulePage(await ask(shownRule, c.get('user'), name, id, query, c.req.query('cci'))));
  }

  app.get('/stigs/:slug/rules/:groupId', guard.user, (c) =>
    one(c, c.req.param('slug'), c.req.param('groupId')),
  );

  app.get('/rules/:id', guard.user, async (c) => {
    const id = c.req.param('id');
    const { rules } = await ask(ruleHistory, id);
    const groups = new Set(rules.map((each) => JSON.stringify([each.slug, each.groupId])));
    return groups.size === 1
      ? one(c, rules[0]!.slug, rules[0]!.groupId)
      : show(c, chooseRulePage({ id, rules }));
  });
}

/** The choice between several rules with one id: DISA reused numbers, and split rules. */
function chooseRulePage({ id, rules }: RuleHistory): View {
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
