import { putTogether } from './choice.ts';
import { createDraft, type Draft, join } from './draft.ts';
import { isWithin } from './evidence.ts';
import { aliasesOf, giveSlugs, type Named } from './give-slugs.ts';
import { newestFirst, type Printing, type Unit, unitsOf } from './printings.ts';
import { aliasKey } from './slug.ts';

/** What becomes of a printing: its STIG, and the printing that is served in its place. */
export interface Fate {
  stig: Named;
  keptBy: Printing | null;
}

/** Which STIG every printing belongs to, which are served, and what they are called. */
export interface Identity {
  stigs: Named[];
  /** By the hash of the file. */
  fates: Map<string, Fate>;
  aliases: Map<string, Named>;
  /** The slugs of overrides that cannot serve two benchmarks, with a version as which they hold other rules. */
  refused: Map<string, string>;
  /** The benchmark ids of overrides that no benchmark bears. */
  unmet: string[];
}

/**
 * Decides it from all printings that were ever imported and the operator's overrides, benchmark id to slug (rules
 * D24, F2.3 and F2.4). Pure: neither the order of the printings counts nor what was decided before.
 */
export function decideIdentity(printings: Printing[], overrides: Map<string, string>): Identity {
  const units = unitsOf(printings);
  const { slugs, unmet } = slugsByUnit(units, overrides);
  const drafts: Draft[] = [];
  const others = units.filter((unit) => {
    const slug = slugs.get(unit);
    if (slug === undefined) return true;
    const draft = drafts.find(({ given }) => given === slug) ?? createDraft(unit.kind, { given: slug });
    // A STIG and an SRG never meet: the slug is the newer one's.
    if (draft.kind !== unit.kind) return true;
    if (!drafts.includes(draft)) drafts.push(draft);
    join(draft, unit, () => `operator override: ${slug}`);
    return false;
  });
  const refused = putTogether(others, drafts);
  const settled: Settled[] = [];
  // What is set apart comes behind, and is looked at in its turn.
  for (const draft of drafts) {
    const own = settle(draft);
    drafts.push(...setApart(own));
    settled.push(own);
    const lost = own.apart.find(({ printing, main }) => printing.idKey !== main.idKey);
    if (draft.given !== null && lost) refused.set(draft.given, lost.printing.version);
  }
  const stigs = settled.map(({ stig }) => stig);
  giveSlugs(stigs);
  const fates = settled.flatMap(({ stig, keptBy }) =>
    [...keptBy].map(([printing, keeper]) => [printing.sha256, { stig, keptBy: keeper }] as const),
  );
  return { stigs, fates: new Map(fates), aliases: aliasesOf(stigs), refused, unmet };
}

/** The slug that an override gives a unit, and the rows that none bears. */
function slugsByUnit(units: Unit[], overrides: Map<string, string>) {
  const borne = new Map<string, Set<Unit>>();
  for (const unit of units)
    for (const { benchmarkId } of unit.printings)
      borne.set(benchmarkId, (borne.get(benchmarkId) ?? new Set()).add(unit));
  const slugs = new Map<Unit, string>();
  const met = new Set<string>();
  const rows = [...overrides].sort(([a], [b]) => (a < b ? -1 : 1));
  // An id is meant as it is written; only where nothing bears it, whatever folds to the same key is meant.
  for (const isExact of [true, false])
    for (const [benchmarkId, slug] of rows) {
      if (borne.has(benchmarkId) !== isExact) continue;
      const keys = (['stig', 'srg'] as const).map((kind) => aliasKey(benchmarkId, kind));
      const meant = borne.get(benchmarkId) ?? units.filter(({ idKey }) => keys.includes(idKey));
      for (const unit of meant) {
        met.add(benchmarkId);
        if (!slugs.has(unit)) slugs.set(unit, slug);
      }
    }
  return { slugs, unmet: [...overrides.keys()].filter((benchmarkId) => !met.has(benchmarkId)) };
}

/** A STIG with the printings that stay in it, each with the one that is served in its place, and those that do not. */
interface Settled {
  stig: Named;
  keptBy: Map<Printing, Printing | null>;
  apart: { printing: Printing; keeper: Printing; main: Printing }[];
}

/**
 * Of the printings of each version those are one release whose rules are all in the largest of them. What has rules of its
 * own beside the newest is set apart, with what it holds (rule D24.3).
 */
function settle(draft: Draft): Settled {
  const keptBy: Settled['keptBy'] = new Map();
  const apart: Settled['apart'] = [];
  for (const printings of draft.versions.values()) {
    const keepers = new Map<Printing, Printing>();
    const served: Printing[] = [];
    for (const printing of largestFirst(printings)) {
      const larger = served.find((each) => isPartOf(printing, each));
      if (!larger) served.push(printing);
      keepers.set(printing, larger ?? printing);
    }
    const [main] = served.sort(newestFirst);
    for (const [printing, keeper] of keepers)
      if (keeper === main) keptBy.set(printing, keeper === printing ? null : keeper);
      else apart.push({ printing, keeper, main: main! });
  }
  const printings = [...keptBy.keys()];
  const served = printings.filter((printing) => keptBy.get(printing) === null);
  const current = served.reduce((newest, each) => (each.releaseOrder > newest.releaseOrder ? each : newest));
  return { stig: Object.assign(draft, { current, printings }), keptBy, apart };
}

function isPartOf(part: Printing, whole: Printing): boolean {
  return isWithin(part.evidence().rules, whole.evidence().rules);
}

function largestFirst(printings: Printing[]): Printing[] {
  if (printings.length === 1) return printings;
  const size = (printing: Printing) => printing.evidence().rules.length;
  return [...printings].sort((a, b) => size(b) - size(a) || newestFirst(a, b));
}

/** Drafts of what does not stay in a STIG, one for each benchmark id that has such printings. */
function setApart({ stig, apart }: Settled): Draft[] {
  return unitsOf(
    apart.filter(({ printing, keeper }) => printing === keeper).map(({ printing }) => printing),
  ).map(({ idKey, kind }) => {
    const own = apart.filter(({ keeper }) => keeper.idKey === idKey);
    const draft = createDraft(kind, {
      apartFrom: new Map(own.map(({ printing, main }) => [printing, main])),
    });
    for (const unit of unitsOf(own.map(({ printing }) => printing)))
      join(draft, unit, () => `set apart from ${stig.slug}`);
    return draft;
  });
}
