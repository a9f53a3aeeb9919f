import { isPartOf, sharedRules } from './compare-printings.ts';
import { joinSeries } from './join-series.ts';
import {
  compare,
  largestFirst,
  newestPrintingFirst,
  newestReleaseFirst,
  orderOf,
  type Printing,
} from './printings.ts';
import { splitByProduct, splitByVersion } from './products.ts';
import { aliasKey, slugOf } from './slug.ts';
import { aliasesOf, assignSlugs } from './slugs.ts';
import { createStig, join, type Series, type Stig } from './stig.ts';

/** All STIGs with their printings, and what each is called. */
export interface Identity {
  stigs: Stig[];
  stigOf: Map<Printing, Stig>;
  /** The printing that is served in the place of another of its version. */
  servedInstead: Map<Printing, Printing>;
  aliases: Map<string, Stig>;
  /** Operator's slugs that cannot serve two benchmarks, with a version in which their rules differ. */
  refused: Map<string, string>;
  /** Benchmark ids of operator's rows that no printing has. */
  unused: string[];
}

/** Decides from all printings and the operator's rows, in the steps of rule D24.5. Pure; neither order nor history count. */
export function decideIdentity(printings: Printing[], operatorRows: Map<string, string>): Identity {
  // Steps 1 and 2: ids and series.
  const allSeries = seriesOf(printings);
  // Step 3: operator's rows.
  const { slugs, unused } = slugsByRow(allSeries, operatorRows);
  const stigs = stigsOfRows(slugs);
  const named = new Set(stigs.flatMap(({ series }) => series));
  // Steps 4 to 6: titles, STIG ids, new STIGs.
  const refused = joinSeries(
    allSeries.filter((series) => !named.has(series)),
    stigs,
  );
  // Step 7: versions. What is split off is appended, so that its versions are chosen too.
  const servedInstead = new Map<Printing, Printing>();
  for (const stig of stigs) {
    const splitOff = chooseVersions(stig, servedInstead);
    stigs.push(...newStigs(stig, splitOff));
    const lost = splitOff.find(({ main, printings: own }) => own.some(({ idKey }) => idKey !== main.idKey));
    if (stig.operatorSlug !== null && lost) refused.set(stig.operatorSlug, lost.main.version);
  }
  // Step 8: slugs and aliases.
  assignSlugs(stigs);
  const stigOf = new Map(
    stigs.flatMap((stig) => stig.printings.map((printing): [Printing, Stig] => [printing, stig])),
  );
  return { stigs, stigOf, servedInstead, aliases: aliasesOf(stigs), refused, unused };
}

/** Groups printings by benchmark id and product, the newest first in and among the groups. */
function seriesOf(printings: Printing[]): Series[] {
  const newest = [...printings].sort((a, b) => compare(b.releaseOrder, a.releaseOrder));
  return [...Map.groupBy(newest, ({ idKey }) => idKey)]
    .flatMap(([idKey, list]) =>
      splitByProduct(list).map(
        (own): Series => ({
          idKey,
          kind: idKey.startsWith('srg:') ? 'srg' : 'stig',
          printings: own,
          titleSlugs: new Set([...new Set(own.map(({ title }) => title))].map(slugOf)),
        }),
      ),
    )
    .sort((a, b) => newestReleaseFirst(a.printings[0]!, b.printings[0]!));
}

/** The operator's slug of each series that a row names, and the ids of rows that name none. */
function slugsByRow(allSeries: Series[], rows: Map<string, string>) {
  const slugs = new Map<Series, string>();
  const unused: string[] = [];
  const sorted = [...rows].sort(([a], [b]) => compare(a, b));
  const exact = (benchmarkId: string) =>
    allSeries.filter(({ printings }) => printings.some((each) => each.benchmarkId === benchmarkId));
  const folded = (benchmarkId: string) => {
    const keys = [aliasKey(benchmarkId, 'stig'), aliasKey(benchmarkId, 'srg')];
    return allSeries.filter(({ idKey }) => keys.includes(idKey));
  };
  const assign = (slug: string, named: Series[]) => {
    for (const series of named) if (!slugs.has(series)) slugs.set(series, slug);
  };
  // An id means the benchmark with exactly this id; if there is none, those whose ids fold to the same key.
  for (const [benchmarkId, slug] of sorted) assign(slug, exact(benchmarkId));
  for (const [benchmarkId, slug] of sorted) {
    if (exact(benchmarkId).length > 0) continue;
    const named = folded(benchmarkId);
    assign(slug, named);
    if (named.length === 0) unused.push(benchmarkId);
  }
  return { slugs, unused };
}

/** The STIGs with an operator's slug. A STIG and an SRG cannot share one: the newer has it. */
function stigsOfRows(slugs: Map<Series, string>): Stig[] {
  const newestFirst = [...slugs].sort(([a], [b]) => newestReleaseFirst(a.printings[0]!, b.printings[0]!));
  return [...Map.groupBy(newestFirst, ([, slug]) => slug)].map(([slug, named]) => {
    const [[{ kind }]] = named as [[Series, string]];
    const stig = createStig(kind, { operatorSlug: slug });
    for (const [series] of named)
      if (series.kind === kind) join(stig, series, () => `operator override: ${slug}`);
    return stig;
  });
}

/** A printing that does not stay in its STIG, with those that it stands for; `main` stays in their version. */
interface SplitOff {
  printings: Printing[];
  main: Printing;
}

/**
 * Decides which printings of each version a STIG keeps, the newest version first (rule D24.3). A printing with all rules
 * of another stands for it. Of those with other rules the one that shares most with the newer versions stays, of equals
 * the newest. Gives the others.
 */
function chooseVersions(stig: Stig, servedInstead: Map<Printing, Printing>): SplitOff[] {
  const all = stig.series.flatMap(({ printings }) => printings);
  const versions = [...Map.groupBy(all, ({ version }) => version).values()];
  const splitOff: SplitOff[] = [];
  const mains: Printing[] = [];
  for (const printings of versions.sort((a, b) => compare(orderOf(b[0]!), orderOf(a[0]!)))) {
    const groups = groupByLargest(printings);
    const main = nearestTo(
      mains,
      groups.map(([largest]) => largest!),
    );
    mains.push(main);
    for (const group of groups) {
      const [largest, ...parts] = group;
      for (const part of parts) servedInstead.set(part, largest!);
      if (largest === main) stig.printings.push(...group);
      else splitOff.push({ printings: group, main });
    }
  }
  stig.current = mains.reduce((newest, each) => (each.releaseOrder > newest.releaseOrder ? each : newest));
  return splitOff;
}

/** Groups of printings of a version: the largest, then those that are parts of it. */
function groupByLargest(printings: Printing[]): Printing[][] {
  const groups: Printing[][] = [];
  for (const printing of printings.length === 1 ? printings : [...printings].sort(largestFirst)) {
    const group = groups.find(([largest]) => isPartOf(printing, largest!));
    if (group) group.push(printing);
    else groups.push([printing]);
  }
  return groups;
}

/** The printing that shares most rules with one of the newer versions; of equals the newest. */
function nearestTo(newer: Printing[], candidates: Printing[]): Printing {
  if (candidates.length === 1) return candidates[0]!;
  const newest = candidates.sort(newestPrintingFirst);
  const shared = newest.map((each) => Math.max(0, ...newer.map((main) => sharedRules(each, main))));
  return newest[shared.indexOf(Math.max(...shared))]!;
}

/** The STIGs that printings make which were split off another. */
function newStigs(stig: Stig, splitOff: SplitOff[]): Stig[] {
  const largest = splitOff.map(({ printings: [first] }) => first!).sort(newestReleaseFirst);
  const groups = [...Map.groupBy(largest, ({ idKey }) => idKey).values()].flatMap(splitByVersion);
  return groups.map((group) => {
    const own = splitOff.filter(({ printings: [first] }) => group.includes(first!));
    const splitFrom = new Map(
      own.flatMap(({ printings, main }) => printings.map((each): [Printing, Printing] => [each, main])),
    );
    const made = createStig(stig.kind, { splitFrom });
    for (const series of seriesOf([...splitFrom.keys()]))
      join(made, series, () => `set apart from ${stig.slug}`);
    return made;
  });
}
