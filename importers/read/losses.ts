import { excerpt } from './source-text.ts';

/** Kinds of loss that are named; a hostile file may have any number of them. */
const mostKinds = 50;

/** What a reader found in a source and the catalog does not store, by kind, with its count (rule D53.1). */
export type Losses = ReturnType<typeof createLosses>;

/** Counts what is not stored: elements (`Rule/rationale`), attributes (`Rule@role`) and other content. */
export function createLosses() {
  const counts = new Map<string, number>();
  return {
    add(kind: string): void {
      const known = counts.has(kind) || counts.size < mostKinds ? kind : 'other elements and attributes';
      counts.set(known, (counts.get(known) ?? 0) + 1);
    },

    /** One warning for each kind. */
    warnings: (): string[] =>
      [...counts].map(([kind, times]) => `not stored: ${excerpt(kind, 120)} (${times})`),
  };
}

/** Values that XCCDF takes for granted: an attribute that states one says nothing. */
const defaults: Record<string, string[]> = {
  abstract: ['false', '0'],
  complexity: ['unknown'],
  disruption: ['unknown'],
  hidden: ['false', '0'],
  'multi-check': ['false', '0'],
  multiple: ['false', '0'],
  negate: ['false', '0'],
  override: ['false', '0'],
  prohibitChanges: ['false', '0'],
  reboot: ['false', '0'],
  resolved: ['false', '0'],
  role: ['full'],
  selected: ['true', '1'],
  strategy: ['unknown'],
};

/** The attributes of an XCCDF element that say something, but for those that are stored. */
export function attributesBeside(attributes: Record<string, string>, stored: string[]): string[] {
  return Object.keys(attributes).filter((name) => {
    const value = attributes[name]!.trim();
    const isMarkup = /^(?:xml|xsi)(?:ns)?(?::|$)|schemaLocation$/i.test(name);
    return !isMarkup && value !== '' && !stored.includes(name) && !defaults[name]?.includes(value);
  });
}
