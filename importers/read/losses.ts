import { excerpt } from './source-text.ts';

/** Kinds of loss that are named; a hostile file may have any number of them. */
const mostKinds = 50;

/** What a reader found in a source and the catalog does not store, by kind, with its count (rule F1.6). */
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
const no = ['false', '0'];
const defaults = new Map([
  ['abstract', no],
  ['complexity', ['unknown']],
  ['disruption', ['unknown']],
  ['hidden', no],
  ['multi-check', no],
  ['multiple', no],
  ['negate', no],
  ['override', no],
  ['prohibitChanges', no],
  ['reboot', no],
  ['resolved', no],
  ['role', ['full']],
  ['selected', ['true', '1']],
  ['strategy', ['unknown']],
]);

/** The attributes of an XCCDF element that say something, but for those that are stored. */
export function attributesBeside(attributes: Record<string, string>, stored: string[]): string[] {
  return Object.keys(attributes).filter((name) => {
    const value = attributes[name]!.trim();
    if (stored.includes(name) || value === '' || defaults.get(name)?.includes(value)) return false;
    return !/^(?:xml|xsi)(?:ns)?(?::|$)|schemaLocation$/i.test(name);
  });
}
