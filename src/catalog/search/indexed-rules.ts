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
}

/** A rule of the index, with what filters, orders and counts need of it. */
export interface IndexedRule {
  id: number;
  /** Its place among all of the index, by number. */
  place: number;
  stig: IndexedStig;
  ordinal: number;
  severity: (typeof levels)[number];
  groupId: string;
  /** The title of its group: the SRG requirement that it implements. */
  requirement: string;
  /** The same without its ending, which SRGs and STIGs share (`SRG-OS-000163`); null for another title. */
  srg: string | null;
}

/** The rules of the index by their places and by their numbers, and the places of each STIG by its slug. */
export interface IndexedRules {
  all: IndexedRule[];
  rules: Map<number, IndexedRule>;
  placesOf: Map<string, number[]>;
}

interface StigRow extends Pick<IndexedStig, 'slug' | 'title' | 'version'> {
  kind: string;
  release: number;
}

/** The rules of the index by their numbers: to join the tables for each of 20,000 rules takes longer than the search. */
export function* readIndexedRules({ sqlite }: Pick<Database, 'sqlite'>): Generator<void, IndexedRules> {
  const stigs = sqlite
    .prepare<[], StigRow>(
      `SELECT s.slug, s.title, r.version, s.kind, r.id AS release
         FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id
        ORDER BY s.title_fold, s.title, s.slug`,
    )
    .all();
  const rulesOf = sqlite.prepare<[number], Omit<IndexedRule, 'stig' | 'place' | 'srg'>>(
    `SELECT id, ordinal, severity, group_id AS groupId, trim(group_title) AS requirement
       FROM findings WHERE release_id = ? ORDER BY ordinal`,
  );
  const slugs = stigs.map(({ slug }) => slug).sort(compareCodePoints);
  const placeOf = new Map(slugs.map((slug, place) => [slug, place]));
  const all: IndexedRule[] = [];
  for (const [place, { slug, title, version, kind, release }] of stigs.entries()) {
    const stig = { slug, title, version, isSrg: kind === 'srg', place, slugPlace: placeOf.get(slug)! };
    for (const rule of rulesOf.all(release))
      all.push({ ...rule, stig, place: 0, srg: requirementOf(rule.requirement) });
    yield;
  }
  all.sort((a, b) => a.id - b.id);
  for (const [place, rule] of all.entries()) rule.place = place;
  const bySlug = Map.groupBy(all, ({ stig }) => stig.slug);
  return {
    all,
    rules: new Map(all.map((rule) => [rule.id, rule])),
    placesOf: new Map([...bySlug].map(([slug, own]) => [slug, own.map(({ place }) => place)])),
  };
}

/** The requirement of an SRG without its ending (`SRG-OS-000163`); null for another text. */
export const requirementOf = (text: string): string | null => /^SRG-[A-Z]+-\d+/.exec(text)?.[0] ?? null;

type Order = (a: IndexedRule, b: IndexedRule) => number;
const byStig: Order = (a, b) => a.stig.place - b.stig.place || a.ordinal - b.ordinal;
/** By the slug of the STIG, and then as the document has them. */
export const bySlug: Order = (a, b) => a.stig.slugPlace - b.stig.slugPlace || a.ordinal - b.ordinal;
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
