import { clashOf, createDraft, type Draft, join } from './draft.ts';
import { jaccard, ofOneProduct, ofTwoProducts } from './evidence.ts';
import type { Printing } from './printing.ts';
import type { Unit } from './printings.ts';
import { areTwoRoles, nameTwoProducts } from './siblings.ts';

interface Similar {
  draft: Draft;
  index: number;
  /** Why it is another product all the same, or null. */
  otherBy: string | null;
}

const joinFrom = 0.8;

/**
 * Puts each unit without an override, in order, into the STIG with its title or rules, or into a new one (rule F2.4,
 * steps 3 to 5). A STIG with the operator's slug takes only units whose title gives that slug: a row speaks of its own
 * id. Gives slugs that a unit cannot join because of its other rules, with the version.
 */
export function putTogether(units: Unit[], drafts: Draft[]): Map<string, string> {
  const refused = new Map<string, string>();
  const having = { stig: new Map<number, Set<Draft>>(), srg: new Map<number, Set<Draft>>() };
  for (const unit of units) {
    const draft = choose(unit);
    const ofKind = having[unit.kind];
    for (const hash of firstHashes(unit)) ofKind.set(hash, (ofKind.get(hash) ?? new Set()).add(draft));
  }
  return refused;

  function choose(unit: Unit): Draft {
    let blocked: Draft['blocked'] = null;
    for (const draft of drafts) {
      if (!isNamedLike(unit, draft)) continue;
      if (holdsOtherProduct(unit, draft)) {
        blocked ??= 'product';
        continue;
      }
      const clash = clashOf(unit, draft);
      if (clash === null && !holdsOtherRole(unit, draft)) {
        const [mine, theirs] = nearest(unit, draft);
        const shared = `${percentOf(jaccard(mine.stigIds, theirs.stigIds))} of the STIG IDs shared with ${theirs.version}`;
        join(draft, unit, () => `joined ${draft.slug}: same title, other benchmark id; ${shared}`);
        return draft;
      }
      blocked ??= clash === null ? 'role' : 'clash';
      if (clash !== null && draft.given !== null) refused.set(draft.given, clash);
    }
    const similar = blocked === null ? similarTo(unit) : [];
    const renamed = similar.find(({ otherBy }) => otherBy === null);
    if (renamed) {
      const { draft, index } = renamed;
      const shared = `${percentOf(index)} of the STIG IDs shared`;
      join(draft, unit, () => `joined ${draft.slug}: other title and benchmark id, ${shared}`);
      return draft;
    }
    const draft = createDraft(unit.kind, { blocked });
    join(
      draft,
      unit,
      () => `${reasonOf(draft)}${similar[0] ? remarkOn(similar[0]) : ''}${siblingsOf(draft)}`,
    );
    drafts.push(draft);
    return draft;

    /** The other products with its benchmark id, which later units may be too. */
    function siblingsOf(own: Draft): string {
      const slugs = drafts
        .filter((each) => each !== own && holdsOtherProduct(unit, each))
        .map(({ slug }) => slug);
      if (slugs.length === 0) return '';
      return `; ${slugs.sort().join(', ')} has the same benchmark id, but names another product and shares no rule`;
    }
  }

  function similarTo(unit: Unit): Similar[] {
    const candidates = new Set<Draft>();
    for (const hash of firstHashes(unit))
      for (const draft of having[unit.kind].get(hash) ?? []) candidates.add(draft);
    return [...candidates]
      .map((draft) => ({ draft, pair: nearest(unit, draft) }))
      .map(({ draft, pair: [a, b] }) => ({ draft, a, b, index: jaccard(a.stigIds, b.stigIds) }))
      .filter(
        ({ draft, index }) =>
          draft.given === null &&
          index >= joinFrom &&
          clashOf(unit, draft) === null &&
          !holdsOtherProduct(unit, draft),
      )
      .sort((a, b) => b.index - a.index || drafts.indexOf(a.draft) - drafts.indexOf(b.draft))
      .map(({ draft, a, b, index }) => ({ draft, index, otherBy: otherBy(a, b) }));
  }
}

function reasonOf({ slug, titleSlug, blocked, takenBy }: Draft): string {
  if (slug === titleSlug) return `new slug from the title: ${slug}`;
  return `new slug ${slug}: ${whyNot()}`;

  function whyNot(): string {
    if (titleSlug === '') return 'the title does not give a slug';
    if (takenBy === null) return `${titleSlug} is reserved for a path of the API`;
    if (blocked === 'role') return `${titleSlug} is the other role of this server`;
    if (blocked === 'product') return `${titleSlug} is another product with this benchmark id`;
    if (blocked === 'clash') return `${titleSlug} has other rules in the same version`;
    return `${titleSlug} is another ${takenBy.kind === 'srg' ? 'SRG' : 'STIG'}`;
  }
}

function remarkOn({ draft, index, otherBy }: Similar): string {
  return `; shares ${percentOf(index)} of the STIG IDs with ${draft.slug}, but ${otherBy}`;
}

function percentOf(index: number): string {
  return `${Math.round(index * 100)} %`;
}

function isNamedLike({ kind, titles }: Unit, draft: Draft): boolean {
  if (draft.kind !== kind) return false;
  const [newest] = titles;
  if (draft.given !== null) return newest === draft.given;
  return [...titles].some((title) => title !== '' && draft.titles.has(title));
}

/** Units of one benchmark id are different products (rule D24.4). */
function holdsOtherProduct({ idKey }: Unit, { units }: Draft): boolean {
  return units.some((other) => other.idKey === idKey);
}

function holdsOtherRole({ idKey }: Unit, { units }: Draft): boolean {
  return units.some((other) => areTwoRoles(idKey, other.idKey));
}

/** Only new numbers prove one product; without them, the titles must not name two. */
function otherBy(a: Printing, b: Printing): string | null {
  const [mine, theirs] = [a.evidence(), b.evidence()];
  if (ofTwoProducts(mine, theirs)) return 'its rules have other SV-ids';
  if (ofOneProduct(mine, theirs)) return null;
  return nameTwoProducts(a.title, b.title) ? 'its title names another product' : null;
}

/**
 * Some hashes of its STIG IDs. Two lists with at least the share `joinFrom` in common lack at most the rest of each
 * other: of their smallest hashes, one more than that rest, they share one.
 */
function firstHashes({ printings }: Unit): Set<number> {
  const hashes = new Set<number>();
  for (const { stigIds } of printings) {
    const most = Math.ceil(joinFrom * stigIds.length);
    for (const hash of stigIds.subarray(0, stigIds.length - most + 1)) hashes.add(hash);
  }
  return hashes;
}

/** The pair of printings with the nearest dates; of equal ones the newest. */
function nearest(unit: Unit, draft: Draft): [Printing, Printing] {
  let best: { distance: number; key: string; pair: [Printing, Printing] } | null = null;
  for (const a of unit.printings) {
    for (const b of draft.units.flatMap(({ printings }) => printings)) {
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
