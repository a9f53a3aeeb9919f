import { areOneRelease, haveOtherNumbers, haveSameNewNumbers, sharedStigIds } from './compare-printings.ts';
import type { Printing } from './printings.ts';
import { nameTwoProducts } from './products.ts';
import { createStig, join, type Series, type Stig } from './stig.ts';

const sameStigFrom = 0.8;

/**
 * Puts each series without an operator's slug, in order, into the STIG with its title (step 4 of rule D24.5), into one
 * that shares most STIG ids (step 5), or into a new one (step 6), which is appended to `stigs`. A STIG with the operator's
 * slug takes only series whose title gives that slug: a row speaks of its own id. Gives the operator's slugs that a series
 * cannot share because of its other rules, with the version.
 */
export function joinSeries(allSeries: Series[], stigs: Stig[]): Map<string, string> {
  const refused = new Map<string, string>();
  const byHash = new Map<string, Set<Stig>>();
  for (const series of allSeries) {
    const { stig, obstacle } = findByTitle(series, stigs, refused);
    const joined = stig ?? joinByStigIds(series, stigs, obstacle === null ? stigsWith(series) : [], obstacle);
    for (const key of hashKeys(series)) byHash.set(key, (byHash.get(key) ?? new Set()).add(joined));
  }
  return refused;

  function stigsWith(series: Series): Stig[] {
    return [...new Set(hashKeys(series).flatMap((key) => [...(byHash.get(key) ?? [])]))];
  }
}

/** Joins the STIG with the title of a series; without one, gives what hinders the first of those with its title. */
function findByTitle(
  series: Series,
  stigs: Stig[],
  refused: Map<string, string>,
): { stig: Stig | null; obstacle: Stig['obstacle'] } {
  let obstacle: Stig['obstacle'] = null;
  for (const stig of stigs.filter((each) => hasTitleOf(series, each))) {
    const found = obstacleTo(series, stig);
    if (found === null) {
      const [mine, theirs] = nearestPair(series, stig);
      const shared = `${percentOf(sharedStigIds(mine, theirs))} shared with ${theirs.version}`;
      join(stig, series, () => `joined ${stig.slug}: same title, other benchmark id; ${shared}`);
      return { stig, obstacle };
    }
    obstacle ??= found.kind;
    if (found.version !== undefined && stig.operatorSlug !== null)
      refused.set(stig.operatorSlug, found.version);
  }
  return { stig: null, obstacle };
}

/** Joins the candidate that shares most STIG ids with a series, or makes a STIG of it. */
function joinByStigIds(series: Series, stigs: Stig[], candidates: Stig[], obstacle: Stig['obstacle']): Stig {
  const similar = candidates
    .filter((stig) => stig.operatorSlug === null)
    .map((stig) => ({ stig, pair: nearestPair(series, stig) }))
    .map(({ stig, pair }) => ({ stig, pair, share: sharedStigIds(...pair) }))
    .filter(({ stig, share }) => share >= sameStigFrom && !isOther(obstacleTo(series, stig)))
    .map((each) => ({ ...each, otherProduct: otherProduct(...each.pair) }))
    .sort((a, b) => b.share - a.share || stigs.indexOf(a.stig) - stigs.indexOf(b.stig));
  const same = similar.find(({ otherProduct }) => otherProduct === null);
  if (same) {
    const { stig, share } = same;
    const shared = `${percentOf(share)} shared`;
    join(stig, series, () => `joined ${stig.slug}: other title and benchmark id, ${shared}`);
    return stig;
  }
  const stig = createStig(series.kind, { obstacle });
  const remark = (): string => {
    const [first] = similar;
    return first
      ? `; shares ${percentOf(first.share)} with ${first.stig.slug}, but ${first.otherProduct}`
      : '';
  };
  // The other products with this benchmark id, which later series may be too.
  const siblings = (): string => {
    const slugs = stigs.filter((each) => each !== stig && hasIdOf(series, each)).map(({ slug }) => slug);
    if (slugs.length === 0) return '';
    return `; ${slugs.sort().join(', ')} has the same benchmark id, but names another product and shares no rule`;
  };
  join(stig, series, () => reasonOf(stig) + remark() + siblings());
  stigs.push(stig);
  return stig;
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
