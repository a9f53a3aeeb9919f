import type { User } from '../../auth/viewer.ts';
import { type ControlRulesService, type RuleCount, sumOf } from '../../catalog/crosswalk/control-rules.ts';
import type { ControlRules, RulesQuery } from '../../catalog/crosswalk/control-rules-schema.ts';
import { type GraphNode, nameOf } from '../../catalog/crosswalk/graph.ts';
import type { CrosswalkService, PathQuestion } from '../../catalog/crosswalk/queries.ts';
import type { FilterLists } from '../../http/list-filter.ts';
import type { Crosswalk } from './crosswalk.tsx';

interface ControlLinkServices {
  crosswalk: CrosswalkService;
  controlRules: ControlRulesService;
  listStigs: FilterLists;
}

/** A page of the rules of a control; `others` are controls and CCIs whose rules are counted with the same filters. */
interface RulesSelection extends Pick<RulesQuery, 'stig' | 'severity'> {
  user: User;
  list: string | undefined;
  page: number;
  others: GraphNode[];
}

interface LinkedRules {
  rules: ControlRules;
  /** Every STIG with rules of the control. */
  stigs: { slug: string; title: string }[];
  /** The number of rules of each other control, by its name in the crosswalk. */
  counts: Map<string, number>;
}

/** A page has as many whole STIGs as have together at most so many rules, and at least one. */
const rulesPerPage = 100;

/** What a control is mapped to: the paths to every other framework, and a page of its rules where one is wanted. */
export function controlLinks(
  services: ControlLinkServices,
  source: GraphNode,
  limits: Pick<PathQuestion, 'statuses' | 'maxHops'>,
  selection: RulesSelection | null,
): { targets: Crosswalk['targets']; linked: LinkedRules | null } {
  const { crosswalk } = services;
  const targets = crosswalk
    .graph()
    .frameworks.filter((to) => to !== source.framework)
    .map((to) => ({ framework: to, paths: crosswalk.resolve({ ...source, to, ...limits }).paths }));
  return { targets, linked: selection && linkedRules(services, source, selection) };
}

function linkedRules(
  { controlRules, listStigs }: ControlLinkServices,
  { framework, identifier: controlId }: GraphNode,
  { user, list, stig, severity, page, others }: RulesSelection,
): LinkedRules {
  const among = list === undefined ? undefined : listStigs.slugs(user, list, 'list');
  const filters = { stig, among, severity };
  const counts = controlRules.counts({ framework, controlId, ...filters });
  const pages = pagesOf(counts);
  const onPage = { among: pages[page - 1] ?? [], page: 1, limit: Number.MAX_SAFE_INTEGER };
  const found = controlRules.rules({ framework, controlId, severity, ...onPage });
  const pagination = { page, limit: rulesPerPage, total: rulesIn(counts), totalPages: pages.length };
  const countOf = (control: GraphNode) =>
    rulesIn(controlRules.counts({ framework: control.framework, controlId: control.identifier, ...filters }));
  const all = controlRules.counts({ framework, controlId });
  return {
    rules: { ...found, counts: sumOf(counts), pagination },
    stigs: [...new Map(all.map(({ slug, title }) => [slug, { slug, title }])).values()],
    counts: new Map(others.map((control) => [nameOf(control), countOf(control)])),
  };
}

const rulesIn = (counts: RuleCount[]): number => counts.reduce((sum, { rules }) => sum + rules, 0);

/** The slugs of each page: a STIG is never split. */
function pagesOf(counts: RuleCount[]): string[][] {
  const pages: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const [slug, of] of Map.groupBy(counts, (each) => each.slug)) {
    const rules = rulesIn(of);
    if (size + rules > rulesPerPage) {
      pages.push([]);
      size = 0;
    }
    pages.at(-1)!.push(slug);
    size += rules;
  }
  return pages;
}
