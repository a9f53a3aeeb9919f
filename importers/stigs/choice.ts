import { compareCodePoints } from '../../src/base/text.ts';
import type { Overlaps } from './overlap.ts';
import { areTwoRoles, nameTwoProducts } from './siblings.ts';
import { idKeyOf, isSlug, kindOf, numbered, reservedSlugs, slugOf, slugStemOf } from './slug.ts';
import type { StagedRelease } from './stage-release.ts';
import type { StigRow, StigStore, StoredRelease } from './store.ts';

/** The STIG that releases belong to, and why. */
export interface Choice {
  stig: StigRow;
  decision: string;
}

/** A STIG with most of the STIG IDs of some release. */
interface Similar {
  stig: StigRow;
  /** The share of STIG IDs, in percent. */
  percent: number;
  /** What tells that it is another product all the same; null for nothing. */
  otherBy: string | null;
}

const joinFrom = 0.8;

/**
 * Makes what chooses the STIG of a benchmark that none knows yet (rule F2.4, steps 3 to 5): one of the same title or of
 * the same rules, or a new one. It takes the releases of that benchmark, newest first; `clashes` tells whether a STIG holds
 * other rules as one of their versions.
 */
export function createChoose(
  store: StigStore,
  overlaps: Overlaps,
  clashes: (group: StagedRelease[], stig: StigRow) => boolean,
): (group: StagedRelease[]) => Choice {
  return choose;

  function choose(group: StagedRelease[]): Choice {
    const newest = group[0]!;
    const slug = slugOf(newest.title);
    const kind = kindOf(newest.title);
    const sameTitle = store.bySlug(slug);
    const isClash = sameTitle !== null && clashes(group, sameTitle);
    const isOtherRole = sameTitle !== null && !isClash && holdsOtherRole(newest, sameTitle);
    if (sameTitle?.kind === kind && !isClash && !isOtherRole) {
      return {
        stig: sameTitle,
        decision: `joined ${slug}: same title, other benchmark id; ${evidence(group, sameTitle)}`,
      };
    }
    const similar = sameTitle?.kind === kind ? [] : similarStigs(group, kind);
    const renamed = similar.find((each) => each.otherBy === null);
    if (renamed)
      return {
        stig: renamed.stig,
        decision: `joined ${renamed.stig.slug}: other title and benchmark id, ${renamed.percent} % of the STIG IDs shared`,
      };
    const remark = !sameTitle && similar[0] ? `; ${siblingRemark(similar[0])}` : '';
    if (isFree(slug))
      return { stig: store.create(slug, kind), decision: `new slug from the title: ${slug}${remark}` };
    let free = idKeyOf(newest.benchmarkId);
    for (let n = 2; !isFree(free); n++) free = numbered(slugStemOf(newest), n);
    return {
      stig: store.create(free, kind),
      decision: `new slug ${free}: ${isOtherRole ? `${slug} is the other role of this server` : whyNot(slug, sameTitle, kind)}${remark}`,
    };
  }

  function isFree(slug: string): boolean {
    return isSlug(slug) && !reservedSlugs.has(slug) && store.bySlug(slug) === null;
  }

  function holdsOtherRole({ idKey }: StagedRelease, stig: StigRow): boolean {
    return store.releases(stig.id).some((release) => areTwoRoles(idKey, release.idKey));
  }

  /** STIGs that may be a group's own under another title: those with most of its STIG IDs, the most alike first. */
  function similarStigs(group: StagedRelease[], kind: 'stig' | 'srg'): Similar[] {
    const candidates = new Set(group.flatMap((release) => overlaps.stigsLike(release.id, kind, joinFrom)));
    return [...candidates]
      .map((id) => ({ stig: store.byId(id), releases: store.releases(id) }))
      .filter(({ releases }) => releases.length > 0)
      .map(({ stig, releases }) => ({ stig, pair: nearest(group, releases) }))
      .map(({ stig, pair: [a, b] }) => ({
        stig,
        pair: [a, b] as const,
        index: overlaps.sameStigIds(a.id, b.id),
      }))
      .filter(({ stig, index }) => index >= joinFrom && !clashes(group, stig))
      .sort((a, b) => b.index - a.index || compareCodePoints(a.stig.slug, b.stig.slug))
      .map(({ stig, pair, index }) => ({
        stig,
        percent: Math.round(index * 100),
        otherBy: otherBy(...pair),
      }));
  }

  /** Only new numbers tell that two releases are of one product; where they do not, the titles must not say otherwise. */
  function otherBy(a: StagedRelease, b: StoredRelease): string | null {
    if (overlaps.ofTwoProducts(a.id, b.id)) return 'its rules have other SV-ids';
    if (overlaps.ofOneProduct(a.id, b.id)) return null;
    return nameTwoProducts(a.title, b.title) ? 'its title names another product' : null;
  }

  function siblingRemark({ stig, percent, otherBy }: Similar): string {
    return `shares ${percent} % of the STIG IDs with ${stig.slug}, but ${otherBy}`;
  }

  function evidence(group: StagedRelease[], stig: StigRow): string {
    const releases = store.releases(stig.id);
    if (releases.length === 0) return 'no release of it is retained';
    const [mine, theirs] = nearest(group, releases);
    const overlap = overlaps.compare(mine.id, theirs.id);
    const byId = overlap.stigIds >= overlap.groupIds;
    const percent = Math.round((byId ? overlap.stigIds : overlap.groupIds) * 100);
    return `${percent} % of the ${byId ? 'STIG IDs' : 'V-ids and legacy ids'} shared with ${theirs.version}`;
  }
}

/** Why a new STIG cannot have the slug of its title. */
function whyNot(slug: string, taken: StigRow | null, kind: 'stig' | 'srg'): string {
  if (slug === '') return 'the title does not give a slug';
  if (taken === null) return `${slug} is reserved for a path of the API`;
  return `${slug} ${taken.kind === kind ? 'holds other rules under the same version' : `is a ${taken.kind.toUpperCase()}`}`;
}

/** The two releases, one of each list, whose dates are nearest to each other; ties go to the newest. */
function nearest(mine: StagedRelease[], theirs: StoredRelease[]): [StagedRelease, StoredRelease] {
  let best: { distance: number; key: string; pair: [StagedRelease, StoredRelease] } | null = null;
  for (const a of mine) {
    for (const b of theirs) {
      const distance = Math.abs(day(a.releaseDate) - day(b.releaseDate));
      const key = `${b.releaseOrder} ${a.releaseOrder}`;
      if (!best || distance < best.distance || (distance === best.distance && key > best.key)) {
        best = { distance, key, pair: [a, b] };
      }
    }
  }
  return best!.pair;
}

function day(date: string | null): number {
  return date === null ? 0 : Date.parse(`${date}T00:00:00Z`) / 86_400_000;
}
