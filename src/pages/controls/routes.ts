import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { catalogFrameworks, withEdition } from '../../catalog/controls/frameworks.ts';
import { controlQuery } from '../../catalog/controls/schema.ts';
import { controlRulesQuery } from '../../catalog/crosswalk/control-rules-schema.ts';
import { type MappingStatus, nameOf, statuses } from '../../catalog/crosswalk/graph.ts';
import { closureDepth, defaultStatuses } from '../../catalog/crosswalk/queries.ts';
import { wordList } from '../../http/arrays.ts';
import type { Env } from '../../http/env.ts';
import { positiveInteger } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { baselineName } from '../parts/reports/framework-choice.tsx';
import { catalogPages } from './catalogs.tsx';
import { controlPage } from './control.tsx';
import { controlLinks } from './control-links.ts';
import type { RulesFound } from './rules-of-control.tsx';

const rulesQuery = controlRulesQuery
  .pick({ stig: true, list: true, severity: true })
  .extend({ rulePage: positiveInteger('rulePage').default(1) });
const crosswalkQuery = z.object({
  maxHops: positiveInteger('maxHops')
    .default(2)
    .transform((hops) => Math.min(hops, closureDepth)),
  status: wordList('status', statuses),
});

/** The pages of controls and CCIs: public, like their catalogs. */
export function controlPages(
  app: Hono<Env>,
  support: PageSupport,
  services: Pick<Services, 'controls' | 'collections' | 'favorites' | 'lists' | 'ledger'> & { ask: Ask },
): void {
  const { ask, controls, collections, favorites, ledger, lists } = services;
  const { guard, show } = support;

  /** The published catalogs, loaded or not, and those of a site. */
  function frameworkOf(text: string): string {
    const isPublished = catalogFrameworks.some((each) => each === text);
    if (!isPublished && (text === 'cci' || !controls.imported().includes(text)))
      throw controls.whyNoPath(text);
    return text;
  }

  catalogPages(app, support, ask, frameworkOf);

  async function one(c: Context<Env>, framework: string, controlId: string): Promise<Response> {
    const { version } = readQuery(c, controlQuery);
    const { maxHops, status } = readQuery(c, crosswalkQuery);
    const { rulePage, list, stig, severity } = readQuery(c, rulesQuery);
    const user = c.get('visitor');
    const control = controls.one(framework, controlId, version);
    const { identifier } = control;
    const statuses: Set<MappingStatus> = status ?? defaultStatuses;
    const enhancements = framework === 'nist-800-53' ? controls.enhancements(identifier, version) : [];
    const others = [
      ...enhancements.map((each) => ({ framework, identifier: each.identifier })),
      ...control.objectives.flatMap(({ ccis }) =>
        ccis.map(({ cci }) => ({ framework: 'cci', identifier: cci })),
      ),
    ];
    const source = { framework, identifier };
    const query = user && { user, page: rulePage, others, list, stig, severity };
    const { targets, linked } = await ask(controlLinks, source, { statuses, maxHops }, query);
    const countOf = (framework: string, identifier: string) =>
      linked?.counts.get(nameOf({ framework, identifier })) ?? 0;
    const rules: RulesFound | null = linked && {
      ...linked,
      filter: { stig: stig ?? [], list: list ?? '', severity: [...(severity ?? [])] },
      lists: lists.choices(user!),
      rulesOfCci: (cci) => countOf('cci', cci),
    };
    const { baselines } = controls.baselines(framework, control.version);
    const titles = new Map(baselines.map((each) => [each.name, baselineName(each)]));
    // Favorites and collections are of the published catalogs alone.
    const published = catalogFrameworks.find((each) => each === framework);
    return show(
      c,
      controlPage({
        control,
        version: withEdition(control.version, control.edition),
        crosswalk: { targets, maxHops, statuses: [...statuses] },
        mine:
          user === null || published === undefined
            ? null
            : {
                isFavorite: favorites
                  .controls(user, new Set([published]))
                  .controls.some((each) => each.controlId === identifier),
                // Readers may add to every collection that they may see.
                collections: collections.choices(user),
              },
        rules,
        readAgain: ledger.readAgain('controls'),
        titleOf: (baseline) => titles.get(baseline) ?? baseline,
        neighbors: controls.neighbors(control),
        enhancements: enhancements.map((each) => ({
          ...each,
          rules: linked && countOf(framework, each.identifier),
        })),
      }),
    );
  }

  app.get('/controls/:framework/:controlId', guard.visitor, (c) =>
    one(c, frameworkOf(c.req.param('framework')), c.req.param('controlId')),
  );
  app.get('/ccis/:cci', guard.visitor, (c) => one(c, 'cci', c.req.param('cci')));
}
