import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { catalogFrameworks, withEdition } from '../../catalog/controls/frameworks.ts';
import { catalogPage, loadedCatalogs } from '../../catalog/controls/jobs.ts';
import { controlQuery, query80053, query800171, queryDod8500 } from '../../catalog/controls/schema.ts';
import { isCounted, type RuleCount, sumOf } from '../../catalog/crosswalk/control-rules.ts';
import { controlRulesQuery } from '../../catalog/crosswalk/control-rules-schema.ts';
import { type MappingStatus, statuses } from '../../catalog/crosswalk/graph.ts';
import { closureDepth } from '../../catalog/crosswalk/path-search.ts';
import { defaultStatuses } from '../../catalog/crosswalk/queries.ts';
import { wordList } from '../../http/arrays.ts';
import type { Env } from '../../http/env.ts';
import { paging, positiveInteger } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { controlPage } from './control.tsx';
import { catalogControlsPage, controlsPage, type WordFilter } from './controls.tsx';
import { baselineName } from './framework-choice.tsx';
import type { RulesFound } from './rules-of-control.tsx';

const perPage = paging(100, 100);
/** A page has as many whole STIGs as have together at most so many rules, and at least one. */
const rulesPerPage = 100;
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

type ControlServices = Pick<
  Services,
  'controls' | 'crosswalk' | 'controlRules' | 'collections' | 'favorites' | 'lists' | 'listStigs' | 'ledger'
> & { ask: Ask };

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
  const { controls, crosswalk, collections, favorites, ledger } = services;

  function one(c: Context<Env>, framework: string, controlId: string): Response {
    const { version } = readQuery(c, controlQuery);
    const { maxHops, status } = readQuery(c, crosswalkQuery);
    const control = controls.one(framework, controlId, version);
    const { identifier } = control;
    const wanted: Set<MappingStatus> = status ?? defaultStatuses;
    const targets = crosswalk
      .graph()
      .frameworks.filter((to) => to !== framework)
      .map((to) => ({
        framework: to,
        paths: crosswalk.resolve({ framework, identifier, to, statuses: wanted, maxHops }).paths,
      }));
    const found = rulesOf(c, framework, identifier, services);
    const page = {
      control,
      version: withEdition(control.version, control.edition),
      crosswalk: { source: { framework, identifier }, targets, maxHops, statuses: [...wanted] },
      mine: mine(c, framework, identifier),
      rules: found,
      readAgain: ledger.readAgain('controls'),
      titleOf: titlesOf(framework, control.version),
      neighbors: controls.neighbors(control),
      enhancements: framework === 'nist-800-53' ? enhancements(identifier, version, found) : [],
    };
    return show(c, controlPage(page));
  }

  /** Names a baseline by its title; those of NIST are known by their names. */
  function titlesOf(framework: string, version: string) {
    const { baselines } = controls.baselines(framework, version);
    const titles = new Map(baselines.map((each) => [each.name, baselineName(each)]));
    return (name: string) => titles.get(name) ?? name;
  }

  /** A base control and its enhancements, each with the number of rules on its own page under the same filters. */
  function enhancements(identifier: string, version: string | undefined, found: RulesFound | null) {
    return controls
      .enhancements(identifier, version)
      .map((each) => ({ ...each, rules: found === null ? null : found.countOf(each.identifier) }));
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

function rulesOf(
  c: Context<Env>,
  framework: string,
  controlId: string,
  { lists, listStigs, controlRules }: ControlServices,
): RulesFound | null {
  const { rulePage: page, stig, list, severity } = readQuery(c, rulesQuery);
  const user = c.get('visitor');
  if (user === null) return null;
  const among = list === undefined ? undefined : listStigs.slugs(user, list, 'list');
  const question = { framework, controlId, stig, among, severity };
  const counts = controlRules.counts(question);
  const slugs = controlRules.selectedSlugs(question);
  const pages = pagesOf(counts.filter((each) => isCounted(each, slugs, severity)));
  const onPage = { ...question, stig: undefined, among: pages[page - 1] ?? [] };
  const found = controlRules.rules({ ...onPage, page: 1, limit: Number.MAX_SAFE_INTEGER });
  const sums = sumOf(counts, slugs, severity);
  const total = sums.high + sums.medium + sums.low;
  const pagination = { page, limit: rulesPerPage, total, totalPages: pages.length };
  const rules = { ...found, counts: sums, pagination };
  const titles = new Map(counts.map((each) => [each.slug, each.title]));
  const countOf = (framework: string, controlId: string) => {
    const counts = controlRules.counts({ framework, controlId });
    const { high, medium, low } = sumOf(counts, controlRules.selectedSlugs({ stig, among }), severity);
    return high + medium + low;
  };
  return {
    rules,
    filter: { stig: stig ?? [], list: list ?? '', severity: [...(severity ?? [])] },
    stigs: [...titles].map(([slug, title]) => ({ slug, title })),
    lists: lists.choices(user),
    countOf: (identifier) => countOf(framework, identifier),
    rulesOfCci: (cci) => countOf('cci', cci),
  };
}

/** The slugs of each page: a STIG is never split. */
function pagesOf(counts: RuleCount[]): string[][] {
  const pages: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const [slug, of] of Map.groupBy(counts, (each) => each.slug)) {
    const rules = of.reduce((sum, each) => sum + each.rules, 0);
    if (size + rules > rulesPerPage) {
      pages.push([]);
      size = 0;
    }
    pages.at(-1)!.push(slug);
    size += rules;
  }
  return pages;
}

/** The published catalogs, loaded or not, and those of a site. */
function catalogFramework(controls: Services['controls'], text: string): string {
  const isPublished = catalogFrameworks.some((each) => each === text);
  if (!isPublished && (text === 'cci' || !controls.imported().includes(text))) throw controls.whyNoPath(text);
  return text;
}
