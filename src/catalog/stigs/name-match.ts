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

/** A word of a question, and what else may match it. */
interface Word {
  text: string;
  /** Whether it may be the beginning of a word. Numbers may not: 20 is not 2025. */
  mayBegin: boolean;
  mayAbbreviate: boolean;
  /** Of a word such as i18n: the first and last letter, and the length. */
  counted: { first: string; last: string; length: number } | null;
  pieces: Word[];
}

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
const isLetters = (word: string) => /^\p{L}/u.test(word);

type Name = ReturnType<typeof nameOf>;

/** A name in words: letters and digits apart, as `rhel`, `9`. */
function nameOf(text: string, isFormer: boolean) {
  const words = piecesOf(plain(text)).filter((word) => !kinds.includes(word));
  const ends = words.map((_, index) => words.slice(0, index + 1).join('').length);
  const large = words.filter((word) => !smallWords.has(word));
  const firsts = (of: string[]) => of.map((word) => (isLetters(word) ? [...word][0] : word)).join('');
  return {
    words,
    joined: words.join(''),
    /** Where words begin and end in `joined`. */
    starts: [0, ...ends.slice(0, -1)],
    ends,
    /** The first letters of its words, also without the small words, and with the numbers whole. */
    initials: [firsts(large.filter(isLetters)), firsts(words.filter(isLetters)), firsts(large)],
    isFormer,
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
  return {
    words: words.map(wordOf),
    glued: wordOf(all.join('')),
    kinds: asked.filter((word) => kinds.includes(word)),
    hasNumber: words.some((word) => /\p{N}/u.test(word)),
  };
}

function wordOf(text: string): Word {
  const [, first, left, last] = /^(\p{L})(\d{1,2})(\p{L})$/u.exec(text) ?? [];
  const pieces = piecesOf(text);
  return {
    text,
    mayBegin: /\p{L}$/u.test(text) && text.length >= 3,
    mayAbbreviate: /\p{L}/u.test(text) && text.length >= 2,
    counted: first === undefined ? null : { first, last: last!, length: Number(left) + 2 },
    pieces: pieces.length < 2 ? [] : pieces.map(wordOf),
  };
}

/** The cost of one word of a question by a name; infinite for no match. */
function costOf(word: Word, name: Name, hasNumber: boolean): number {
  const { text, counted, pieces } = word;
  if (name.words.includes(text)) return 0;
  // Words in a row without blanks (`zos`, `2004`), or the beginning of a word.
  const isBeginning = name.starts.some(
    (start) =>
      name.joined.startsWith(text, start) && (word.mayBegin || name.ends.includes(start + text.length)),
  );
  if (isBeginning) return costs.beginning;
  const abbreviated = word.mayAbbreviate ? initialsCost(text, name, hasNumber) : noMatch;
  if (abbreviated < noMatch) return abbreviated;
  if (counted !== null && name.words.some((each) => isCounted(each, counted))) return costs.numeronym;
  return pieces.length === 0 ? noMatch : sumOf(pieces, (piece) => costOf(piece, name, true));
}

const isCounted = (word: string, { first, last, length }: NonNullable<Word['counted']>): boolean =>
  word.length === length && word.startsWith(first) && word.endsWith(last);

/** Initials in a row. Two match part of them only beside a number: `is` would match too many. */
function initialsCost(text: string, { initials }: Name, hasNumber: boolean): number {
  if (initials.includes(text)) return costs.initials;
  const isPart = initials.some((each) => {
    const at = each.indexOf(text);
    return at >= 0 && !(/\p{N}$/u.test(text) && /^\p{N}/u.test(each.slice(at + text.length)));
  });
  return isPart && (text.length >= 3 || hasNumber) ? costs.someInitials : noMatch;
}

/**
 * Makes the function that says how well a text names a STIG (rule S4.1), less being better; null where it does not. Each
 * word of a text must be a word of its names, the beginning of one, words without the blanks between them, or initials;
 * numbers are whole. It ignores `U_`, and `V2R8` with what follows.
 */
export function createNameMatcher(stig: PublishedNames) {
  const present = [stig.title, stig.slug, stig.benchmarkId];
  const former = [...stig.aliases, ...stig.benchmarkIds].filter((name) => !present.includes(name));
  const names = [...present.map((name) => nameOf(name, false)), ...former.map((name) => nameOf(name, true))];
  const length = Math.min(...names.map((name) => name.words.length || 99)) / 1000;
  const letters = names.flatMap(({ joined, initials }) => [joined, ...initials]).join('\n');

  /** Whether a word may match: of most questions some word is part of no name. */
  const mayMatch = ({ text, counted, pieces }: Word): boolean =>
    letters.includes(text) || counted !== null || (pieces.length > 0 && pieces.every(mayMatch));

  return ({ words, glued, kinds, hasNumber }: NonNullable<ReturnType<typeof readName>>): number | null => {
    if (!words.every(mayMatch) && !mayMatch(glued)) return null;
    const ofName = (word: Word, name: Name) =>
      costOf(word, name, hasNumber) + (name.isFormer ? costs.former : 0);
    const isOtherKind = kinds.length > 0 && !kinds.includes(stig.kind);
    const more = (isOtherKind ? costs.kind : 0) + length;
    if (names.some((name) => name.joined === glued.text)) return more - mixedNames;
    const whole = names.map((name) => sumOf(words, (word) => ofName(word, name)));
    const inOneWord = words.length === 1 ? [] : names.map((name) => costs.glued + ofName(glued, name));
    const best = Math.min(...whole, ...inOneWord);
    if (best < noMatch) return best + more;
    const mixed = sumOf(words, (word) => Math.min(...names.map((name) => ofName(word, name))));
    return words.length > 1 && mixed < noMatch ? mixed + more + mixedNames : null;
  };
}

const sumOf = (words: Word[], costOfWord: (word: Word) => number): number =>
  words.reduce((sum, word) => sum + costOfWord(word), 0);
