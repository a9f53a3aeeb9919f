import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { ruleHistory } from '../../catalog/stigs/jobs.ts';
import { readingQuery } from '../../catalog/stigs/reading.ts';
import type { Env } from '../../http/env.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { chooseRulePage } from './choose-rule.tsx';
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
