import { sharedRules, splitApart } from './benchmark-products.ts';
import { putTogether } from './choice.ts';
import { createDraft, type Draft, join } from './draft.ts';
import { isWithin } from './evidence.ts';
import { aliasesOf, giveSlugs, type Named } from './give-slugs.ts';
import type { Printing } from './printing.ts';
import { dated, newestFirst, newestReleaseFirst, type Unit, unitsOf } from './printings.ts';
import { aliasKey } from './slug.ts';

/** A printing's STIG, and the printing that replaces it, if any. */
export interface Fate {
  stig: Named;
  keptBy: Printing | null;
}

/** All STIGs with their printings, and what each is called. */
export interface Identity {
  stigs: Named[];
  fates: Map<string, Fate>;
  aliases: Map<string, Named>;
  /** Overrides' slugs that cannot serve two benchmarks, with a version in which their rules differ. */
  refused: Map<string, string>;
  unused: string[];
}

/** Decides from all printings and overrides (rules D24, F2.3, F2.4). Pure; neither order nor history count. */
export function decideIdentity(printings: Printing[], overrides: Map<string, string>): Identity {
  const units = unitsOf(printings);
  const { slugs, unused } = slugsByUnit(units, overrides);
  const drafts: Draft[] = [];
  const others = units.filter((unit) => {
    const slug = slugs.get(unit);
    if (slug === undefined) return true;
    const draft = drafts.find(({ given }) => given === slug) ?? createDraft(unit.kind, { given: slug });
    // A STIG and an SRG cannot share a slug: the newer one has it.
    if (draft.kind !== unit.kind) return true;
    if (!drafts.includes(draft)) drafts.push(draft);
    join(draft, unit, () => `operator override: ${slug}`);
    return false;
  });
  const refused = putTogether(others, drafts);
  const settled: Settled[] = [];
  // Appends what `settle` sets apart, so that the loop settles it too.
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
  return { stigs, fates: new Map(fates), aliases: aliasesOf(stigs), refused, unused };
}

function slugsByUnit(units: Unit[], overrides: Map<string, string>) {
  const borne = new Map<string, Set<Unit>>();
  for (const unit of units)
    for (const { benchmarkId } of unit.printings)
      borne.set(benchmarkId, (borne.get(benchmarkId) ?? new Set()).add(unit));
  const slugs = new Map<Unit, string>();
  const used = new Set<string>();
  const rows = [...overrides].sort(([a], [b]) => (a < b ? -1 : 1));
  // An id means the benchmark with exactly this id; if there is none, those whose ids fold to the same key.
  for (const isExact of [true, false])
    for (const [benchmarkId, slug] of rows) {
      if (borne.has(benchmarkId) !== isExact) continue;
      const keys = (['stig', 'srg'] as const).map((kind) => aliasKey(benchmarkId, kind));
      const meant = borne.get(benchmarkId) ?? units.filter(({ idKey }) => keys.includes(idKey));
      for (const unit of meant) {
        used.add(benchmarkId);
        if (!slugs.has(unit)) slugs.set(unit, slug);
      }
    }
  return { slugs, unused: [...overrides.keys()].filter((benchmarkId) => !used.has(benchmarkId)) };
}

/** `keptBy` has the printings that stay in the STIG, each with the one that replaces it, or null. */
interface Settled {
  stig: Named;
  keptBy: Map<Printing, Printing | null>;
  apart: { printing: Printing; keeper: Printing; main: Printing }[];
}

/**
 * Printings of a version are one release if the largest one has all their rules. Of those with other rules the one that
 * shares most with the newer versions stays, of equals the newest; the rest are set apart, with the ones that they
 * contain (rule D24.3).
 */
function settle(draft: Draft): Settled {
  const keptBy: Settled['keptBy'] = new Map();
  const apart: Settled['apart'] = [];
  const mains: Printing[] = [];
  for (const printings of newestVersionsFirst(draft)) {
    const keepers = new Map<Printing, Printing>();
    const served: Printing[] = [];
    for (const printing of largestFirst(printings)) {
      const larger = served.find((each) => isPartOf(printing, each));
      if (!larger) served.push(printing);
      keepers.set(printing, larger ?? printing);
    }
    const main = nearestTo(mains, served.sort(newestFirst));
    mains.push(main);
    for (const [printing, keeper] of keepers)
      if (keeper === main) keptBy.set(printing, keeper === printing ? null : keeper);
      else apart.push({ printing, keeper, main });
  }
  const printings = [...keptBy.keys()];
  const served = printings.filter((printing) => keptBy.get(printing) === null);
  const current = served.reduce((newest, each) => (each.releaseOrder > newest.releaseOrder ? each : newest));
  return { stig: Object.assign(draft, { current, printings }), keptBy, apart };
}

function newestVersionsFirst({ versions }: Draft): Printing[][] {
  const orderOf = (printings: Printing[]) => dated(printings[0]!);
  return [...versions.values()].sort((a, b) => (orderOf(a) < orderOf(b) ? 1 : -1));
}

/** The printing that shares most rules with one of the newer versions; of equals the first. */
function nearestTo(newer: Printing[], served: Printing[]): Printing {
  if (served.length === 1 || newer.length === 0) return served[0]!;
  const most = served.map((each) => Math.max(...newer.map((main) => sharedRules(each, main))));
  return served[most.indexOf(Math.max(...most))]!;
}

function isPartOf(part: Printing, whole: Printing): boolean {
  return isWithin(part.evidence().rules, whole.evidence().rules);
}

function largestFirst(printings: Printing[]): Printing[] {
  if (printings.length === 1) return printings;
  const size = (printing: Printing) => printing.evidence().rules.length;
  return [...printings].sort((a, b) => size(b) - size(a) || newestFirst(a, b));
}

function setApart({ stig, apart }: Settled): Draft[] {
  const keepers = apart.filter(({ printing, keeper }) => printing === keeper).map(({ printing }) => printing);
  const byId = Map.groupBy(keepers.sort(newestReleaseFirst), ({ idKey }) => idKey);
  return [...byId.values()].flatMap(splitApart).map((part) => {
    const own = apart.filter(({ keeper }) => part.includes(keeper));
    const draft = createDraft(stig.kind, {
      apartFrom: new Map(own.map(({ printing, main }) => [printing, main])),
    });
    for (const unit of unitsOf(own.map(({ printing }) => printing)))
      join(draft, unit, () => `set apart from ${stig.slug}`);
    return draft;
  });
}
