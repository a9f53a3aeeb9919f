/** How the reference of a CCI relates to an objective: it names the same part, says less, or says more. */
export const relations = ['equal', 'broader', 'narrower'] as const;
export type Relation = (typeof relations)[number];

const control = /^([A-Z]{2})-(\d+)(?:\((\d+)\))?$/;
const words = /^(?:[\s.()]*(?:[a-z]{1,2}(?![a-z])|\d{1,4}(?!\d)))*[\s.()]*$/i;

/**
 * The part that a label of SP 800-53A or the reference of a CCI names after its control (rule D37.2): words with a
 * blank between, `AC-02d.03[01]` is `d 3`. `""` for the whole control, and for what cannot be read; `other` for a text
 * that names another control or none.
 */
export function partOf(identifier: string, text: string): string;
export function partOf<T>(identifier: string, text: string, other: T): string | T;
export function partOf(identifier: string, text: string, other: unknown = ''): unknown {
  const [, letters, number, enhancement] = control.exec(identifier) ?? [];
  const named =
    /^\s*([a-z]{2})\s{0,4}-\s{0,4}0*(\d{1,4})(?!\d)(?:\s{0,4}\(\s{0,4}0*(\d{1,4})\s{0,4}\))?(.*)$/is.exec(
      text,
    );
  if (letters === undefined || !named) return other;
  const [, namedLetters, namedNumber, namedEnhancement, rest] = named;
  if (namedLetters!.toUpperCase() !== letters || namedNumber !== number || namedEnhancement !== enhancement)
    return other;
  const unbracketed = rest!.replace(/\[[^[\]]*\]/g, ' ');
  if (unbracketed.length > 200 || !words.test(unbracketed)) return '';
  return (unbracketed.toLowerCase().match(/[a-z]+|\d+/g) ?? [])
    .map((word) => word.replace(/^0+(?=\d)/, ''))
    .join(' ');
}

/** How a reference relates to an objective, word by word of their parts; null for different parts. */
export function relationOf(objective: string, reference: string): Relation | null {
  if (objective === reference) return 'equal';
  if (beginsWith(objective, reference)) return 'broader';
  return beginsWith(reference, objective) ? 'narrower' : null;
}

const beginsWith = (part: string, beginning: string) => beginning === '' || part.startsWith(`${beginning} `);
