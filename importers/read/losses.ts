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

const noContent = /^(?:xml|xsi)(?:ns)?(?::|$)|schemaLocation$/i;

/** The attributes that have content and are not stored; namespaces and `xml:` and `xsi:` attributes have none. */
export function unstoredAttributes(attributes: Record<string, string>, stored: string[]): string[] {
  const found: string[] = [];
  for (const name in attributes)
    if (!stored.includes(name) && attributes[name]!.trim() !== '' && !noContent.test(name)) found.push(name);
  return found;
}
