import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { catalogFrameworks, withEdition } from '../../catalog/controls/frameworks.ts';
import { catalogPage, loadedCatalogs } from '../../catalog/controls/jobs.ts';
import { controlQuery, query80053, query800171, queryDod8500 } from '../../catalog/controls/schema.ts';
import { controlRulesQuery } from '../../catalog/crosswalk/control-rules-schema.ts';
import { type GraphNode, type MappingStatus, nameOf, statuses } from '../../catalog/crosswalk/graph.ts';
import { closureDepth, defaultStatuses } from '../../catalog/crosswalk/queries.ts';
import { wordList } from '../../http/arrays.ts';
import type { Env } from '../../http/env.ts';
import { paging, positiveInteger } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { baselineName } from '../parts/reports/framework-choice.tsx';
import { controlPage } from './control.tsx';
import { controlLinks, type LinkedRules, type RulesWanted } from './control-links.ts';
import { catalogControlsPage, controlsPage, type WordFilter } from './controls.tsx';
import type { RulesFound } from './rules-of-control.tsx';

const perPage = paging(100, 100);
const rulesQuery = controlRulesQuery
  .pick({ stig: true, list: true, severity: true })
  .extend({ rulePage: positiveInteger('rulePage').default(1) });
const crosswalkQuery = z.object({
  maxHops: positiveInteger('maxHops')
    .default(2)
    .transform((hops) => Math.min(hops, closureDepth)),
  status: wordList('status', statuses),
});

type Filter = { schema: z.ZodObject; words: Omit<WordFilter, 'selected'>[] };
/** `catalog` adds the baselines that were imported. */
const anyFilter: Filter = { schema: query80053, words: [] };
const filters: Record<string, Filter> = {
  'nist-800-171': {
    schema: query800171,
    words: [{ name: 'type', legend: 'Type', words: ['basic', 'derived'] }],
  },
  'dod-8500': {
    schema: queryDod8500,
    words: [
      { name: 'mac', legend: 'MAC level', words: ['MAC I', 'MAC II', 'MAC III'] },
      { name: 'impact', legend: 'Impact', words: ['Low', 'Medium', 'High'] },
    ],
  },
  cci: { schema: query80053.omit({ baseline: true }), words: [] },
};

type ControlServices = Pick<Services, 'controls' | 'collections' | 'favorites' | 'lists' | 'ledger'> & {
  ask: Ask;
};

/** The pages of controls and CCIs: public, like their catalogs. */
export function controlPages(app: Hono<Env>, support: PageSupport, services: ControlServices): void {
  catalogPages(app, support, services);
  recordPages(app, support, services);
}

function catalogPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { ask, controls }: ControlServices,
): void {
  async function catalog(c: Context<Env>, framework: string): Promise<Response> {
    const { schema, words } = filters[framework] ?? anyFilter;
    const { page, limit } = readQuery(c, z.object(perPage));
    const query = readQuery(c, schema) as Record<string, unknown> & {
      search?: string;
      family?: string;
      version?: string;
      baseline?: Set<string>;
    };
    const selected = words.map((each) => query[each.name] as Set<string> | undefined);
    const { search, family, version, baseline } = query;
    const filter = { search, family, version, baseline, words: selected, page, limit };
    const { baselines, ...list } = await ask(catalogPage, framework, filter);
    const titles = new Map(baselines.map((each) => [each.name, baselineName(each)]));
    const baselineFilter =
      baselines.length === 0
        ? []
        : [
            {
              ...{ name: 'baseline', legend: 'Baseline', words: [...titles.keys()] },
              ...{ selected: [...(baseline ?? [])], show: (name: string) => titles.get(name)! },
            },
          ];
    const shown = words.map((each, index) => ({ ...each, selected: [...(selected[index] ?? [])] }));
    return show(
      c,
      catalogControlsPage({
        ...list,
        filter: { search: search ?? '', family: family ?? '', version: version ?? '' },
        words: [...baselineFilter, ...shown],
      }),
    );
  }

  app.get('/controls', guard.visitor, async (c) =>
    show(c, controlsPage({ catalogs: await ask(loadedCatalogs) })),
  );
  app.get('/controls/:framework', guard.visitor, (c) =>
    catalog(c, catalogFramework(controls, c.req.param('framework'))),
  );
  app.get('/ccis', guard.visitor, (c) => catalog(c, 'cci'));
}

function recordPages(app: Hono<Env>, { guard, show }: PageSupport, services: ControlServices): void {
  const { ask, controls, collections, favorites, ledger, lists } = services;

  async function one(c: Context<Env>, framework: string, controlId: string): Promise<Response> {
    const { version } = readQuery(c, controlQuery);
    const { maxHops, status } = readQuery(c, crosswalkQuery);
    const control = controls.one(framework, controlId, version);
    const source = { framework, identifier: control.identifier };
    const statuses: Set<MappingStatus> = status ?? defaultStatuses;
    const enhancements = framework === 'nist-800-53' ? controls.enhancements(source.identifier, version) : [];
    const wanted = rulesWanted(c, [
      ...enhancements.map(({ identifier }) => ({ framework, identifier })),
      ...control.objectives.flatMap(({ ccis }) =>
        ccis.map(({ cci }) => ({ framework: 'cci', identifier: cci })),
      ),
    ]);
    const { targets, linked } = await ask(controlLinks, source, { statuses, maxHops }, wanted);
    const found = wanted && linked && rulesFound(framework, wanted, linked);
    const page = {
      control,
      version: withEdition(control.version, control.edition),
      crosswalk: { source, targets, maxHops, statuses: [...statuses] },
      mine: mine(c, framework, source.identifier),
      rules: found,
      readAgain: ledger.readAgain('controls'),
      titleOf: titlesOf(framework, control.version),
      neighbors: controls.neighbors(control),
      enhancements: enhancements.map((each) => ({
        ...each,
        rules: found === null ? null : found.countOf(each.identifier),
      })),
    };
    return show(c, controlPage(page));
  }

  /** The rules that a signed-in reader sees beside a control. */
  function rulesWanted(c: Context<Env>, others: GraphNode[]): RulesWanted | null {
    const { rulePage: page, ...filters } = readQuery(c, rulesQuery);
    const user = c.get('visitor');
    return user === null ? null : { user, page, others, list: undefined, ...filters };
  }

  function rulesFound(
    framework: string,
    { user, stig, list, severity }: RulesWanted,
    linked: LinkedRules,
  ): RulesFound {
    const countOf = (framework: string, identifier: string) =>
      linked.counts.get(nameOf({ framework, identifier })) ?? 0;
    return {
      ...linked,
      filter: { stig: stig ?? [], list: list ?? '', severity: [...(severity ?? [])] },
      lists: lists.choices(user),
      countOf: (identifier) => countOf(framework, identifier),
      rulesOfCci: (cci) => countOf('cci', cci),
    };
  }

  /** Names a baseline by its title; those of NIST are known by their names. */
  function titlesOf(framework: string, version: string) {
    const { baselines } = controls.baselines(framework, version);
    const titles = new Map(baselines.map((each) => [each.name, baselineName(each)]));
    return (name: string) => titles.get(name) ?? name;
  }

  /** Favorites and collections are of the published catalogs alone. */
  function mine(c: Context<Env>, of: string, identifier: string) {
    const user = c.get('visitor');
    const framework = catalogFrameworks.find((each) => each === of);
    if (user === null || framework === undefined) return null;
    const kept = favorites.controls(user, new Set([framework])).controls;
    return {
      isFavorite: kept.some((each) => each.controlId === identifier),
      // Readers may add to every collection that they may see.
      collections: collections.choices(user),
    };
  }

  app.get('/controls/:framework/:controlId', guard.visitor, (c) =>
    one(c, catalogFramework(controls, c.req.param('framework')), c.req.param('controlId')),
  );
  app.get('/ccis/:cci', guard.visitor, (c) => one(c, 'cci', c.req.param('cci')));
}

/** The published catalogs, loaded or not, and those of a site. */
function catalogFramework(controls: Services['controls'], text: string): string {
  const isPublished = catalogFrameworks.some((each) => each === text);
  if (!isPublished && (text === 'cci' || !controls.imported().includes(text))) throw controls.whyNoPath(text);
  return text;
}
