import { fold } from '../../base/text.ts';
import { withoutDiacritics } from './pattern.ts';

/** What a STIG is called by its publisher, now and in former releases. */
export interface StigNames {
  kind: 'stig' | 'srg';
  present: string[];
  former: string[];
}

/** How well a text names a STIG, less being better; null where it does not. */
export type NameMatcher = (text: string) => number | null;

/** A name in words: letters and digits apart, as `rhel`, `9`. */
interface Name {
  words: string[];
  /** The words without a blank between them, and where each begins and ends. */
  joined: string;
  starts: number[];
  ends: Set<number>;
  /** The first letters of its words, also without the small words, and with the numbers whole. */
  initials: string[];
  isFormer: boolean;
}

const smallWords = new Set(['a', 'an', 'and', 'for', 'in', 'of', 'on', 'or', 'the', 'to', 'with']);
const kinds = new Set(['stig', 'srg']);

/** What each way of naming costs: a word itself nothing. A whole name in other words always comes before a part of one. */
const costs = { beginning: 1, initials: 1, someInitials: 2, numeronym: 2, glued: 2, former: 0.25, kind: 0.5 };
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

function nameOf(text: string, isFormer: boolean): Name {
  const words = piecesOf(plain(text)).filter((word) => !kinds.has(word));
  const ends = words.map((_, index) => words.slice(0, index + 1).join('').length);
  const letters = words.filter((word) => /^\p{L}/u.test(word));
  const firsts = (of: string[]) => of.map((word) => (/^\p{L}/u.test(word) ? [...word][0] : word)).join('');
  const large = (word: string) => !smallWords.has(word);
  return {
    words,
    joined: words.join(''),
    starts: [0, ...ends.slice(0, -1)],
    ends: new Set(ends),
    initials: [firsts(letters.filter(large)), firsts(letters), firsts(words.filter(large))],
    isFormer,
  };
}

/** What one word of a question costs by a name; infinity where the name does not have it. */
function costOf(word: string, name: Name, hasNumber: boolean): number {
  if (name.words.includes(word)) return 0;
  const isLetter = /\p{L}$/u.test(word);
  // Words in a row without blanks (`zos`, `2004`), or the beginning of a word: of letters, as 20 is not 2025.
  const begins = name.starts.some(
    (start) =>
      name.joined.startsWith(word, start) &&
      (name.ends.has(start + word.length) || (isLetter && word.length >= 3)),
  );
  if (begins) return costs.beginning;
  const abbreviated = initialsCost(word, name, hasNumber);
  if (abbreviated < Number.POSITIVE_INFINITY) return abbreviated;
  // As i18n: the letters between the first and the last are counted.
  const [, first, left, last] = /^(\p{L})(\d{1,2})(\p{L})$/u.exec(word) ?? [];
  const isCounted = name.words.some(
    (each) => each.length === Number(left) + 2 && each.startsWith(first!) && each.endsWith(last!),
  );
  if (isCounted) return costs.numeronym;
  const pieces = piecesOf(word);
  if (pieces.length < 2) return Number.POSITIVE_INFINITY;
  return pieces.reduce((sum, piece) => sum + costOf(piece, name, true), 0);
}

/** First letters of words in a row; two of them only where they are all, or stand beside a number: else `is` would be many. */
function initialsCost(word: string, { initials }: Name, hasNumber: boolean): number {
  if (word.length < 2 || !/\p{L}/u.test(word)) return Number.POSITIVE_INFINITY;
  if (initials.includes(word)) return costs.initials;
  const mayBePart = word.length >= 3 || hasNumber;
  const isPart = initials.some((each) => {
    const at = each.indexOf(word);
    return at >= 0 && !(/\p{N}$/u.test(word) && /^\p{N}/u.test(each.slice(at + word.length)));
  });
  return mayBePart && isPart ? costs.someInitials : Number.POSITIVE_INFINITY;
}

/**
 * Says how well texts name a STIG (rule S4.1). Each word of a text must be a word of its names, the beginning of one, words
 * without the blanks between them, or first letters of words in a row; numbers are whole. What a name of a file has
 * besides (`U_`, `V2R8` and what follows) counts for nothing.
 */
export function createNameMatcher({ kind, present, former }: StigNames): NameMatcher {
  const names = [...present.map((name) => nameOf(name, false)), ...former.map((name) => nameOf(name, true))];
  const length = Math.min(...names.map((name) => name.words.length || 99)) / 1000;

  return (text) => {
    const asked = plain(text)
      .replace(/^u (?=.)/, '')
      .replace(/ v\d+r\d+\b.*$/, '')
      .split(' ')
      .filter((word) => word !== '');
    const all = asked.filter((word) => !kinds.has(word));
    const words = [...new Set(all)];
    if (words.length === 0 || words.length > mostWords) return null;
    const glued = all.join('');
    const hasNumber = words.some((word) => /\p{N}/u.test(word));
    const ofName = (word: string, name: Name) =>
      costOf(word, name, hasNumber) + (name.isFormer ? costs.former : 0);
    const isOtherKind = asked.some((word) => kinds.has(word)) && !asked.includes(kind);
    const more = (isOtherKind ? costs.kind : 0) + length;
    if (names.some((name) => name.joined === glued)) return more - mixedNames;
    const whole = names.map((name) => sumOf(words, (word) => ofName(word, name)));
    const inOneWord = names.map((name) => costs.glued + ofName(glued, name));
    const best = Math.min(...whole, ...(words.length > 1 ? inOneWord : []));
    if (best < Number.POSITIVE_INFINITY) return best + more;
    const mixed = sumOf(words, (word) => Math.min(...names.map((name) => ofName(word, name))));
    return mixed < Number.POSITIVE_INFINITY ? mixed + more + mixedNames : null;
  };
}

/** The costs of some words together; infinite as soon as one is. */
function sumOf(words: string[], costOfWord: (word: string) => number): number {
  let sum = 0;
  for (const word of words) {
    sum += costOfWord(word);
    if (sum === Number.POSITIVE_INFINITY) break;
  }
  return sum;
}
