import { compareCodePoints } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import type { SearchCounts, SearchOrder } from './schema.ts';

const levels = ['high', 'medium', 'low'] as const;

/** A STIG whose current release is in the index. */
export interface IndexedStig {
  slug: string;
  title: string;
  version: string;
  isSrg: boolean;
  /** Its places among all: by title, and by slug (rule S4.2). */
  place: number;
  slugPlace: number;
  /** The numbers of its rules lie between these. */
  first: number;
  last: number;
}

/** A rule of the index, with what filters, orders and counts need of it. */
export interface IndexedRule {
  id: number;
  stig: IndexedStig;
  ordinal: number;
  severity: (typeof levels)[number];
  groupId: string;
  /** The title of its group: the SRG requirement that it implements. */
  requirement: string;
  /** The same without its ending, which SRGs and STIGs share (`SRG-OS-000163`); null for another title. */
  srg: string | null;
}

/** A rule and what it scores: less is better. */
export interface Ranked {
  rule: IndexedRule;
  score: number;
}

/** The rules of the index by their numbers, and its STIGs by their slugs. */
export interface IndexedRules {
  rules: Map<number, IndexedRule>;
  stigs: Map<string, IndexedStig>;
}

interface StigRow extends Pick<IndexedStig, 'slug' | 'title' | 'version'> {
  kind: string;
  release: number;
}

/** The rules of the index by their numbers: to join the tables for each of 20,000 rules takes longer than the search. */
export function readIndexedRules({ sqlite }: Pick<Database, 'sqlite'>): IndexedRules {
  const found = sqlite
    .prepare<[], StigRow>(
      `SELECT s.slug, s.title, r.version, s.kind, r.id AS release
         FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id
        ORDER BY s.title_fold, s.title, s.slug`,
    )
    .all();
  const rulesOf = sqlite.prepare<[number], Omit<IndexedRule, 'stig' | 'srg'>>(
    `SELECT id, ordinal, severity, group_id AS groupId, trim(group_title) AS requirement
       FROM findings WHERE release_id = ? ORDER BY ordinal`,
  );
  const slugs = found.map(({ slug }) => slug).sort(compareCodePoints);
  const placeOf = new Map(slugs.map((slug, place) => [slug, place]));
  const stigs = new Map<string, IndexedStig>();
  const rules = new Map<number, IndexedRule>();
  for (const [place, { slug, title, version, kind, release }] of found.entries()) {
    const own = rulesOf.all(release);
    const ids = own.map(({ id }) => id);
    const stig: IndexedStig = {
      ...{ slug, title, version, place },
      isSrg: kind === 'srg',
      slugPlace: placeOf.get(slug)!,
      first: Math.min(...ids),
      last: Math.max(...ids),
    };
    stigs.set(slug, stig);
    for (const rule of own) rules.set(rule.id, { ...rule, stig, srg: requirementOf(rule.requirement) });
  }
  return { rules, stigs };
}

/** The requirement of an SRG without its ending (`SRG-OS-000163`); null for another text. */
export const requirementOf = (text: string): string | null => /^SRG-[A-Z]+-\d+/.exec(text)?.[0] ?? null;

type Order = (a: IndexedRule, b: IndexedRule) => number;
const byStig: Order = (a, b) => a.stig.place - b.stig.place || a.ordinal - b.ordinal;
/** By the slug of the STIG, and then as the document has them. */
const bySlug: Order = (a, b) => a.stig.slugPlace - b.stig.slugPlace || a.ordinal - b.ordinal;
/** The best first; equals by slug, and then as the document has them. */
export const byScore = (a: Ranked, b: Ranked): number => a.score - b.score || bySlug(a.rule, b.rule);
const numberOf = ({ groupId }: IndexedRule) => Number(/^[^-]*-(\d+)/.exec(groupId)?.[1] ?? 0);

/** The orders of rule S4.2. */
const orders: Record<Exclude<SearchOrder, 'relevance'>, Order> = {
  stig: byStig,
  severity: (a, b) => levels.indexOf(a.severity) - levels.indexOf(b.severity) || byStig(a, b),
  id: (a, b) => numberOf(a) - numberOf(b) || compareCodePoints(a.groupId, b.groupId) || bySlug(a, b),
};

/** Some rules in an order. */
export const inOrder = (rules: IndexedRule[], sort: keyof typeof orders) => rules.toSorted(orders[sort]);

/** How many of some rules there are by severity and by STIG (rule D35.1). */
export function countsOf(rules: IndexedRule[]): SearchCounts {
  const severity = { high: 0, medium: 0, low: 0 };
  const found: SearchCounts['stigs'] = [];
  for (const rule of rules) {
    severity[rule.severity]++;
    const { place, slug, title } = rule.stig;
    found[place] ??= { slug, title, rules: 0 };
    found[place].rules++;
  }
  // Some places are empty: `filter` leaves them out.
  return { severity, stigs: found.filter(() => true) };
}
