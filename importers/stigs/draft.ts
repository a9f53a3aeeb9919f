import { isWithin, jaccard } from './evidence.ts';
import type { Printing, Unit } from './printings.ts';

/** A STIG in the making: the units that were put together so far. */
export interface Draft {
  kind: 'stig' | 'srg';
  /** Empty until all drafts are made. */
  slug: string;
  /** The slug that the operator gave it; null for none. */
  given: string | null;
  /** The printings of the same versions from which its own were set apart, for their other rules. */
  apartFrom: Map<Printing, Printing>;
  /** Why it is none of the STIGs with its title; null where there is none. */
  blocked: 'clash' | 'role' | null;
  /** The slug of its newest title, and the STIG that has it instead. */
  titleSlug: string;
  takenBy: Draft | null;
  units: Unit[];
  titles: Set<string>;
  versions: Map<string, Printing[]>;
  /** Why a benchmark id belongs here; to be asked once all slugs are known. */
  why: Map<string, () => string>;
}

/** From this share of common rules on, two printings of one version are of one product whatever each has of its own. */
const sameReleaseFrom = 0.95;

/** A draft without a unit yet. */
export function createDraft(kind: Draft['kind'], more: Partial<Draft> = {}): Draft {
  const empty = {
    apartFrom: new Map(),
    units: [],
    titles: new Set<string>(),
    versions: new Map(),
    why: new Map(),
  };
  return { kind, slug: '', given: null, blocked: null, titleSlug: '', takenBy: null, ...empty, ...more };
}

/** Puts a unit to a draft. */
export function join(draft: Draft, unit: Unit, why: () => string): void {
  draft.units.push(unit);
  draft.why.set(unit.idKey, why);
  for (const title of unit.titles) draft.titles.add(title);
  for (const printing of unit.printings) {
    const others = draft.versions.get(printing.version);
    if (others) others.push(printing);
    else draft.versions.set(printing.version, [printing]);
  }
}

/** A version as which a unit holds other rules than a draft, so that they cannot be one STIG (rule F2.4); or null. */
export function clashOf({ printings }: Unit, { versions }: Draft): string | null {
  const clash = printings.find((mine) =>
    (versions.get(mine.version) ?? []).some((theirs) => !isOneRelease(mine, theirs)),
  );
  return clash?.version ?? null;
}

function isOneRelease(a: Printing, b: Printing): boolean {
  const [mine, theirs] = [a.evidence().rules, b.evidence().rules];
  return isWithin(mine, theirs) || isWithin(theirs, mine) || jaccard(mine, theirs) >= sameReleaseFrom;
}
