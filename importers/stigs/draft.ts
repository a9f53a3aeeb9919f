import { isOneRelease } from './evidence.ts';
import type { Printing } from './printing.ts';
import type { Unit } from './printings.ts';

/** A STIG during the decision, with its units so far. */
export interface Draft {
  kind: 'stig' | 'srg';
  slug: string;
  given: string | null;
  /** Its printings that were set apart because of other rules, each with the other one of its version. */
  apartFrom: Map<Printing, Printing>;
  /** Why it did not join the STIG with its title; null if there is none. */
  blocked: 'clash' | 'role' | 'product' | null;
  /** The slug of its newest title, and the STIG that already has it. */
  titleSlug: string;
  takenBy: Draft | null;
  units: Unit[];
  titles: Set<string>;
  versions: Map<string, Printing[]>;
  /** Why a benchmark id belongs here. Call it after `giveSlugs`. */
  why: Map<string, () => string>;
}

/** A draft without units. */
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

/** Adds a unit to a draft. */
export function join(draft: Draft, unit: Unit, why: () => string): void {
  draft.units.push(unit);
  draft.why.set(unit.idKey, why);
  for (const title of unit.titles) draft.titles.add(title);
  for (const printing of unit.printings) {
    const known = draft.versions.get(printing.version) ?? [];
    known.push(printing);
    draft.versions.set(printing.version, known);
  }
}

/** A version with other rules in the unit than in the draft, so that they cannot be one STIG (rule F2.4); or null. */
export function clashOf({ printings }: Unit, { versions }: Draft): string | null {
  const clash = printings.find((mine) =>
    (versions.get(mine.version) ?? []).some((theirs) => !isOneRelease(mine, theirs)),
  );
  return clash?.version ?? null;
}
