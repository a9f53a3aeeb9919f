import { fold, withoutDiacritics } from '../../base/text.ts';

/** The names that the publisher gave a STIG, in its current release and in former ones. */
interface PublishedNames {
  kind: 'stig' | 'srg';
  present: string[];
  former: string[];
}

/** Compares texts with the names of a STIG. */
export interface NameMatcher {
  /** How well a text names it, less being better; null where it does not. */
  match(asked: AskedName): number | null;
  /** What words of its names consist of: see `createNameTest`. */
  letters: string;
}

/** A name in words: letters and digits apart, as `rhel`, `9`. */
interface Name {
  words: string[];
  joined: string;
  starts: number[];
  ends: Set<number>;
  /** The first letters of its words, also without the small words, and with the numbers whole. */
  initials: string[];
  isFormer: boolean;
}

const smallWords = new Set(['a', 'an', 'and', 'for', 'in', 'of', 'on', 'or', 'the', 'to', 'with']);
const kinds = new Set(['stig', 'srg']);

/** The cost of each way to name a STIG; a word itself costs nothing. A whole name comes before a part of one. */
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

/** A text that may name a STIG, read once for all of them. */
export interface AskedName {
  words: Word[];
  glued: Word;
  kinds: Set<string>;
  hasNumber: boolean;
}

/** Reads a text; null where it has no word besides the kinds of guides, or more than a name has. */
export function readName(text: string): AskedName | null {
  const asked = plain(text)
    .replace(/^u (?=.)/, '')
    .replace(/ v\d+r\d+\b.*$/, '')
    .split(' ')
    .filter((word) => word !== '');
  const all = asked.filter((word) => !kinds.has(word));
  const words = [...new Set(all)];
  if (words.length === 0 || words.length > mostWords) return null;
  return {
    // The longest first: most names fail at it.
    words: words.sort((a, b) => b.length - a.length).map(wordOf),
    glued: wordOf(all.join('')),
    kinds: new Set(asked.filter((word) => kinds.has(word))),
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
  const begins = name.starts.some(
    (start) => name.joined.startsWith(text, start) && (word.mayBegin || name.ends.has(start + text.length)),
  );
  if (begins) return costs.beginning;
  const abbreviated = word.mayAbbreviate ? initialsCost(text, name, hasNumber) : Number.POSITIVE_INFINITY;
  if (abbreviated < Number.POSITIVE_INFINITY) return abbreviated;
  const isCounted = (each: string) =>
    each.length === counted!.length && each.startsWith(counted!.first) && each.endsWith(counted!.last);
  if (counted !== null && name.words.some(isCounted)) return costs.numeronym;
  return pieces.length === 0 ? Number.POSITIVE_INFINITY : sumOf(pieces, (piece) => costOf(piece, name, true));
}

/** Initials in a row. Two match part of them only beside a number: `is` would match too many. */
function initialsCost(text: string, { initials }: Name, hasNumber: boolean): number {
  if (initials.includes(text)) return costs.initials;
  const mayBePart = text.length >= 3 || hasNumber;
  const isPart = initials.some((each) => {
    const at = each.indexOf(text);
    return at >= 0 && !(/\p{N}$/u.test(text) && /^\p{N}/u.test(each.slice(at + text.length)));
  });
  return mayBePart && isPart ? costs.someInitials : Number.POSITIVE_INFINITY;
}

/**
 * Says how well texts name a STIG (rule S4.1). Each word of a text must be a word of its names, the beginning of one, words
 * without the blanks between them, or initials; numbers are whole. It ignores `U_`, and `V2R8` with what follows.
 */
export function createNameMatcher({ kind, present, former }: PublishedNames): NameMatcher {
  const all = [...present.map((name) => nameOf(name, false)), ...former.map((name) => nameOf(name, true))];
  // A slug and a title mostly have the same words; the present ones stand first.
  const names = [...new Map(all.toReversed().map((name) => [name.words.join(' '), name])).values()];
  const length = Math.min(...names.map((name) => name.words.length || 99)) / 1000;
  const letters = names.flatMap(({ joined, initials }) => [joined, ...initials]).join('\n');
  const mayName = testOf(letters);

  function match(asked: AskedName): number | null {
    if (!mayName(asked)) return null;
    const { words, glued, hasNumber } = asked;
    const ofName = (word: Word, name: Name) =>
      costOf(word, name, hasNumber) + (name.isFormer ? costs.former : 0);
    const isOtherKind = asked.kinds.size > 0 && !asked.kinds.has(kind);
    const more = (isOtherKind ? costs.kind : 0) + length;
    if (names.some((name) => name.joined === glued.text)) return more - mixedNames;
    const whole = names.map((name) => sumOf(words, (word) => ofName(word, name)));
    const inOneWord = names.map((name) => costs.glued + ofName(glued, name));
    const best = Math.min(...whole, ...(words.length > 1 ? inOneWord : []));
    if (best < Number.POSITIVE_INFINITY) return best + more;
    if (words.length === 1) return null;
    const mixed = sumOf(words, (word) => Math.min(...names.map((name) => ofName(word, name))));
    return mixed < Number.POSITIVE_INFINITY ? mixed + more + mixedNames : null;
  }

  return { match, letters };
}

/** Prepares the test whether a text may name one of some STIGs: of most questions some word is part of no name. */
export const createNameTest = (matchers: NameMatcher[]): ((asked: AskedName) => boolean) =>
  testOf(matchers.map((each) => each.letters).join('\n'));

function testOf(letters: string): (asked: AskedName) => boolean {
  const mayBe = ({ text, counted, pieces }: Word): boolean =>
    letters.includes(text) || counted !== null || (pieces.length > 0 && pieces.every(mayBe));
  return ({ words, glued }) => words.every(mayBe) || mayBe(glued);
}

function sumOf(words: Word[], costOfWord: (word: Word) => number): number {
  let sum = 0;
  for (const word of words) {
    sum += costOfWord(word);
    if (sum === Number.POSITIVE_INFINITY) break;
  }
  return sum;
}
