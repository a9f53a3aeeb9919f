import { areOneRelease, haveOtherNumbers, haveSameNewNumbers, sharedStigIds } from './compare-printings.ts';
import type { Printing } from './printings.ts';
import { nameTwoProducts } from './products.ts';
import { createStig, join, type Series, type Stig } from './stig.ts';

const sameStigFrom = 0.8;

/**
 * Puts each series without an operator's slug, in order, into the STIG with its title (step 4 of rule D24.5), into one
 * that shares most STIG ids (step 5), or into a new one (step 6). A STIG with the operator's slug takes only series whose
 * title gives that slug: a row speaks of its own id. Gives the operator's slugs that a series cannot share because of its
 * other rules, with the version.
 */
export function putTogether(allSeries: Series[], stigs: Stig[]): Map<string, string> {
  const refused = new Map<string, string>();
  const byHash = new Map<string, Set<Stig>>();
  for (const series of allSeries) {
    const stig = choose(series);
    for (const key of hashKeys(series)) byHash.set(key, (byHash.get(key) ?? new Set()).add(stig));
  }
  return refused;

  function choose(series: Series): Stig {
    let obstacle: Stig['obstacle'] = null;
    for (const stig of stigs.filter((each) => hasTitleOf(series, each))) {
      const found = obstacleTo(series, stig);
      if (found === null) {
        joinByTitle(series, stig);
        return stig;
      }
      obstacle ??= found.kind;
      if (found.version !== undefined && stig.operatorSlug !== null)
        refused.set(stig.operatorSlug, found.version);
    }
    const similar = obstacle === null ? similarTo(series) : [];
    const same = similar.find(({ otherProduct }) => otherProduct === null);
    if (same) {
      const { stig, share } = same;
      join(
        stig,
        series,
        () => `joined ${stig.slug}: other title and benchmark id, ${percentOf(share)} shared`,
      );
      return stig;
    }
    const stig = createStig(series.kind, { obstacle });
    join(stig, series, () => reasonOf(stig) + remarkOn(similar[0]) + siblingsOf(series, stig));
    stigs.push(stig);
    return stig;
  }

  /** Without the operator's slug, the STIGs that share enough STIG ids with a series, the most similar first. */
  function similarTo(series: Series): Similar[] {
    const candidates = new Set(hashKeys(series).flatMap((key) => [...(byHash.get(key) ?? [])]));
    return [...candidates]
      .map((stig) => ({ stig, pair: nearestPair(series, stig) }))
      .map(({ stig, pair }) => ({ stig, pair, share: sharedStigIds(...pair) }))
      .filter(
        ({ stig, share }) =>
          stig.operatorSlug === null && share >= sameStigFrom && !isOther(obstacleTo(series, stig)),
      )
      .sort((a, b) => b.share - a.share || stigs.indexOf(a.stig) - stigs.indexOf(b.stig))
      .map(({ stig, pair, share }) => ({ stig, share, otherProduct: otherProduct(...pair) }));
  }

  /** The other products with the benchmark id of a series, which later series may be too. */
  function siblingsOf(series: Series, own: Stig): string {
    const slugs = stigs.filter((each) => each !== own && hasIdOf(series, each)).map(({ slug }) => slug);
    if (slugs.length === 0) return '';
    return `; ${slugs.sort().join(', ')} has the same benchmark id, but names another product and shares no rule`;
  }
}

interface Similar {
  stig: Stig;
  /** The share of common STIG ids. */
  share: number;
  /** Why it is another product all the same, or null. */
  otherProduct: string | null;
}

function hasTitleOf({ kind, titleSlugs }: Series, stig: Stig): boolean {
  if (stig.kind !== kind) return false;
  const [newest] = titleSlugs;
  if (stig.operatorSlug !== null) return newest === stig.operatorSlug;
  return [...titleSlugs].some((slug) => slug !== '' && stig.series.some((each) => each.titleSlugs.has(slug)));
}

interface Obstacle {
  kind: NonNullable<Stig['obstacle']>;
  /** The version with other rules. */
  version?: string;
}

/** Why a series cannot belong to a STIG whatever they share; null where it can. */
function obstacleTo(series: Series, stig: Stig): Obstacle | null {
  // Series of one benchmark id are different products (rule D24.4).
  if (hasIdOf(series, stig)) return { kind: 'product' };
  const printings = stig.series.flatMap((each) => each.printings);
  const clash = series.printings.find((mine) =>
    printings.some((theirs) => mine.version === theirs.version && !areOneRelease(mine, theirs)),
  );
  if (clash) return { kind: 'clash', version: clash.version };
  return stig.series.some((each) => areTwoRoles(each.idKey, series.idKey)) ? { kind: 'role' } : null;
}

/** Roles of a server may be one STIG by their STIG ids, not by their title. */
const isOther = (obstacle: Obstacle | null) => obstacle !== null && obstacle.kind !== 'role';

const hasIdOf = ({ idKey }: Series, { series }: Stig) => series.some((each) => each.idKey === idKey);

/** Whether two folded ids are roles of one server (`..._ms`, `..._dc`), published under one title (rule F2.3). */
function areTwoRoles(idKeyA: string, idKeyB: string): boolean {
  const [a, b] = [/^(.*)_(ms|dc)$/.exec(idKeyA), /^(.*)_(ms|dc)$/.exec(idKeyB)];
  return a !== null && b !== null && a[1] === b[1] && a[2] !== b[2];
}

/** Only new numbers prove one product; without them, the titles must not name two. */
function otherProduct(a: Printing, b: Printing): string | null {
  if (haveOtherNumbers(a, b)) return 'its rules have other SV-ids';
  if (haveSameNewNumbers(a, b)) return null;
  return nameTwoProducts(a.title, b.title) ? 'its title names another product' : null;
}

function joinByTitle(series: Series, stig: Stig): void {
  const [mine, theirs] = nearestPair(series, stig);
  const shared = `${percentOf(sharedStigIds(mine, theirs))} shared with ${theirs.version}`;
  join(stig, series, () => `joined ${stig.slug}: same title, other benchmark id; ${shared}`);
}

function reasonOf({ slug, titleSlug, obstacle, takenBy }: Stig): string {
  if (slug === titleSlug) return `new slug from the title: ${slug}`;
  const kind = takenBy?.kind === 'srg' ? 'SRG' : 'STIG';
  const taken = {
    role: 'is the other role of this server',
    product: 'is another product with this benchmark id',
    clash: 'has other rules in the same version',
  };
  const why = obstacle === null ? `is another ${kind}` : taken[obstacle];
  if (titleSlug === '') return `new slug ${slug}: the title does not give a slug`;
  return `new slug ${slug}: ${titleSlug} ${takenBy === null ? 'is reserved for a path of the API' : why}`;
}

function remarkOn(similar: Similar | undefined): string {
  if (!similar) return '';
  return `; shares ${percentOf(similar.share)} with ${similar.stig.slug}, but ${similar.otherProduct}`;
}

const percentOf = (share: number) => `${Math.round(share * 100)} % of the STIG IDs`;

/**
 * Some hashes of its STIG ids, with the kind. Two lists with at least the share `sameStigFrom` in common lack at most the
 * rest of each other: of their smallest hashes, one more than that rest, they share one.
 */
function hashKeys({ kind, printings }: Series): string[] {
  return printings.flatMap(({ stigIds }) => {
    const most = Math.ceil(sameStigFrom * stigIds.length);
    return [...stigIds.subarray(0, stigIds.length - most + 1)].map((hash) => `${kind} ${hash}`);
  });
}

/** The pair of printings with the nearest dates; of equal ones the newest. */
function nearestPair(series: Series, stig: Stig): [Printing, Printing] {
  const theirs = stig.series.flatMap(({ printings }) => printings);
  const pairs = series.printings.flatMap((a) => theirs.map((b): [Printing, Printing] => [a, b]));
  const distance = ([a, b]: [Printing, Printing]) => Math.abs(dayOf(a) - dayOf(b));
  const order = ([a, b]: [Printing, Printing]) => `${b.releaseOrder} ${a.releaseOrder}`;
  return pairs.reduce((best, each) => {
    const nearer = distance(each) - distance(best);
    return nearer < 0 || (nearer === 0 && order(each) > order(best)) ? each : best;
  });
}

const dayOf = ({ releaseDate }: Printing) =>
  releaseDate === null ? 0 : Date.parse(`${releaseDate}T00:00:00Z`) / 86_400_000;
