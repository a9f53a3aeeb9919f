import { fold, withoutDiacritics } from '../../base/text.ts';

/** The names that the publisher gave a STIG, in its current release and in former ones. */
interface PublishedNames {
  kind: 'stig' | 'srg';
  title: string;
  slug: string;
  benchmarkId: string;
  /** Those of former releases, too. */
  aliases: string[];
  benchmarkIds: string[];
}

/** What a word of a question costs with a name: less is better, infinite for no match. */
type CostOf = (name: Name) => number;

const smallWords = new Set(['a', 'an', 'and', 'for', 'in', 'of', 'on', 'or', 'the', 'to', 'with']);
const kinds = ['stig', 'srg'];

/** The cost of each way to name a STIG; a word itself costs nothing. A whole name comes before a part of one. */
const costs = { beginning: 1, initials: 1, someInitials: 2, numeronym: 2, glued: 2, former: 0.25, kind: 0.5 };
const noMatch = Number.POSITIVE_INFINITY;
const mixedNames = 100;
/** The longest real title has 14. */
const mostWords = 24;

/** A text in lower case without diacritics and punctuation; the long names of both kinds of guides are one word. */
function plain(text: string): string {
  return withoutDiacritics(fold(text))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/security technical implementation guides?/g, 'stig')
    .replace(/security requirements guides?/g, 'srg')
    .trim();
}

const piecesOf = (text: string) => text.match(/\p{L}+|\p{N}+/gu) ?? [];

type Name = ReturnType<typeof nameOf>;

/** A name in words: letters and digits apart, as `rhel 9`. */
function nameOf(text: string, cost: number) {
  const words = piecesOf(plain(text)).filter((word) => !kinds.includes(word));
  const isLetters = (word: string) => /^\p{L}/u.test(word);
  const large = words.filter((word) => !smallWords.has(word));
  const initials = [large.filter(isLetters), words.filter(isLetters), large];
  return {
    cost,
    length: words.length,
    // With a blank before and after each.
    words: ` ${words.join(' ')} `,
    /** The words, and all that stand in a row, without the blanks between them. */
    runs: ` ${words.flatMap((_, from) => words.slice(from).map((_, more) => words.slice(from, from + more + 1).join(''))).join(' ')} `,
    joined: words.join(''),
    /** The first letters of its words, also with the small words, and with the numbers whole. */
    initials: initials
      .map((of) => ` ${of.map((word) => (isLetters(word) ? [...word][0] : word)).join('')} `)
      .join(''),
  };
}

/** Reads a text that may name a STIG, once for all of them; null where it has no word besides the kinds of guides, or more than a name has. */
export function readName(text: string) {
  const asked = plain(text)
    .replace(/^u (?=.)/, '')
    .replace(/ v\d+r\d+\b.*$/, '')
    .split(' ')
    .filter((word) => word !== '');
  const all = asked.filter((word) => !kinds.includes(word));
  const words = [...new Set(all)];
  if (words.length === 0 || words.length > mostWords) return null;
  const hasNumber = words.some((word) => /\p{N}/u.test(word));
  return {
    words: words.map((word) => costOf(word, hasNumber)),
    joined: all.join(''),
    glued: costOf(all.join(''), hasNumber),
    kinds: asked.filter((word) => kinds.includes(word)),
  };
}

/** Two initials match part of those of a name only beside a number: `is` would match too many. */
function costOf(text: string, besideNumber: boolean): CostOf {
  const whole = ` ${text} `;
  const [, first, left, last] = /^(\p{L})(\d{1,2})(\p{L})$/u.exec(text) ?? [];
  const numeronym = first === undefined ? null : new RegExp(` ${first}[^ ]{${left}}${last} `);
  // Words without the blanks between them (`zos`, `2004`), or a beginning: not of a number, as 20 is not 2025.
  const beginning = /\p{L}$/u.test(text) && text.length >= 3 ? ` ${text}` : whole;
  const mayAbbreviate = /\p{L}/u.test(text) && text.length >= 2;
  const someInitials = new RegExp(/\d$/.test(text) ? `${text}(?!\\d)` : text);
  const pieces = piecesOf(text);
  const costsOfPieces = pieces.length < 2 ? [] : pieces.map((piece) => costOf(piece, true));
  return (name) => {
    const { words, runs, initials } = name;
    if (words.includes(whole)) return 0;
    if (runs.includes(beginning)) return costs.beginning;
    if (mayAbbreviate && initials.includes(whole)) return costs.initials;
    if (mayAbbreviate && (text.length >= 3 || besideNumber) && someInitials.test(initials))
      return costs.someInitials;
    if (numeronym?.test(words)) return costs.numeronym;
    return costsOfPieces.length === 0 ? noMatch : costsOfPieces.reduce((sum, of) => sum + of(name), 0);
  };
}

const sumOf = (costsOf: CostOf[], ...names: Name[]): number =>
  costsOf.reduce((sum, of) => sum + Math.min(...names.map((name) => of(name) + name.cost)), 0);

/**
 * Makes the function that says how well a text names a STIG (rule S4.1), less being better; null where it does not. Each
 * word of a text must be a word of its names, the beginning of one, words without the blanks between them, or initials;
 * numbers are whole. It ignores `U_`, and `V2R8` with what follows.
 */
export function createNameMatcher(stig: PublishedNames) {
  const former = [...stig.aliases, ...stig.benchmarkIds].map((name) => nameOf(name, costs.former));
  const present = [stig.title, stig.slug, stig.benchmarkId].map((name) => nameOf(name, 0));
  // Most are the same in words; of equals a present one counts.
  const names = [...new Map([...former, ...present].map((name) => [name.words, name])).values()];
  const length = Math.min(...names.map((name) => name.length || 99)) / 1000;

  return ({ words, joined, glued, kinds }: NonNullable<ReturnType<typeof readName>>): number | null => {
    const isOtherKind = kinds.length > 0 && !kinds.includes(stig.kind);
    const more = (isOtherKind ? costs.kind : 0) + length;
    if (names.some((name) => name.joined === joined)) return more - mixedNames;
    const whole = names.map((name) => sumOf(words, name));
    const inOneWord = words.length === 1 ? [] : names.map((name) => costs.glued + sumOf([glued], name));
    const best = Math.min(...whole, ...inOneWord);
    if (best < noMatch) return best + more;
    const mixed = sumOf(words, ...names);
    return words.length > 1 && mixed < noMatch ? mixed + more + mixedNames : null;
  };
}
