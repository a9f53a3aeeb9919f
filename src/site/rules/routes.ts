import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { AppError } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import type { RuleOverTime } from '../../catalog/stigs/history-schema.ts';
import { ruleHistory, rulesOverTime } from '../../catalog/stigs/jobs.ts';
import { type RuleGroup, readingFilter, readingQuery } from '../../catalog/stigs/reading.ts';
import type { Env } from '../../http/env.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { chooseRulePage } from './choose-rule.tsx';
import { rulePage } from './rule-page.tsx';

/** The pages of one rule: by any of its ids, and in its STIG. */
export function rulePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  services: Pick<
    Services,
    'stigs' | 'cciLookup' | 'reading' | 'ruleChain' | 'roleMapping' | 'ruleAutomation'
  > & { ask: Ask },
): void {
  const { stigs, cciLookup, reading, ruleChain, roleMapping, ruleAutomation, ask } = services;

  async function overTime(slug: string, id: string): Promise<RuleOverTime[]> {
    const known = await ask(rulesOverTime, id, slug);
    const own = known.filter((each) => each.groupId === id);
    return own.length > 0 ? own : known;
  }

  /** A rule of a release; by default of the latest, or of the last that contained it. Throws NOT_FOUND. */
  async function find(
    slug: string,
    id: string,
    version: string | undefined,
    read: (id: string, version?: string) => RuleGroup | null,
  ) {
    const found = read(id, version);
    if (found) return found;
    const [over] = await overTime(slug, id);
    const last = over?.current ? undefined : over?.releases.find(({ state }) => state !== 'removed')?.version;
    const other =
      over && (version === undefined ? read(over.groupId, last) : read(over.ruleVersion, version));
    if (!other) throw new AppError('NOT_FOUND', `Rule not found: ${cut(id)}`);
    return other;
  }

  async function one(c: Context<Env>, name: string, id: string): Promise<Response> {
    const query = readQuery(c, readingQuery);
    const cci = cciLookup.typed(c.req.query('cci'));
    const { slug, version: latest } = stigs.release(name);
    const automation = ruleAutomation(slug);
    const { filter, narrowing } = readingFilter(query, cci, automation);
    const { stig, rules, ...group } = await find(slug, id, query.version, (each, release) =>
      reading.group(slug, each, release, narrowing),
    );
    const requirement = reading.requirementOf(rules[0]!);
    return show(
      c,
      rulePage({
        ...{ slug, stigTitle: stig.title, version: stig.version, releaseDate: stig.releaseDate },
        isCurrent: stig.version === latest,
        rules,
        ...group,
        filter,
        history: await overTime(slug, rules[0]!.groupId),
        requirement,
        related: requirement === null ? [] : reading.related(requirement.id, slug),
        automation,
        chain: ruleChain(rules.flatMap(({ ruleIdents }) => ruleIdents)),
        // No look-up without the entitlement: the page must not reveal which STIGs have roles (D9.4).
        roles: c.get('user').entitlements.has('occ') ? roleMapping.rows(slug) : null,
      }),
    );
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
