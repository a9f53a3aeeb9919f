import { fold, withoutDiacritics } from '../../base/text.ts';

/** A folded word as the index has it. */
export const indexed = (word: string): string => withoutDiacritics(word.normalize('NFC'));

/** A character of a word, as in the tokenizer of `rule_search`; it ignores marks, so they belong to words here. */
export const wordCharacter = '[\\p{L}\\p{Nd}\\p{Nl}\\p{M}_]';

/** Something to find in a text: parts in a row, bounded as `grep -w` bounds them. */
export interface Pattern {
  /** Folded; as the index has them where the gap is punctuation. */
  parts: string[];
  /** Between two parts: a run of blanks, or of characters that belong to no word. */
  gap: 'blanks' | 'punctuation';
  isPrefix: boolean;
}

/** A half-open range of UTF-16 code units. */
export interface Range {
  start: number;
  end: number;
}

const noWords = /[^\p{L}\p{Nd}\p{Nl}\p{M}_]+/gu;

/** A text with its case folded, each character at its place: `exact`, and `words` without diacritics, with blanks between. */
interface FoldedText {
  exact: string;
  words: string;
}

/** Folds a text in place: the one letter whose fold is longer is replaced first. */
export function foldInPlace(text: string): FoldedText {
  const folded = fold(text);
  const exact = folded.length === text.length ? folded : fold(text.replaceAll('İ', 'I'));
  return { exact, words: withoutDiacritics(exact).replace(noWords, (each) => ' '.repeat(each.length)) };
}

/** At most `max` places of a pattern in a text from `foldInPlace`. It finds words as the index does. */
export function findPlaces(
  { exact, words }: FoldedText,
  { parts, gap, isPrefix }: Pattern,
  max: number,
): Range[] {
  const folded = gap === 'blanks' ? exact : words;
  // Most texts do not have it: a search for a plain string finds that out faster.
  if (!folded.includes(parts[0]!)) return [];
  const inRow = parts.map((part) => part.replace(/\W/g, '\\$&')).join('\\s+');
  const isEnd = (at: number) => words[at] === undefined || words[at] === ' ';
  return [...folded.matchAll(new RegExp(isPrefix ? `${inRow}[^ ]*` : inRow, 'g'))]
    .map(({ index, 0: found }) => ({ start: index, end: index + found.length }))
    .filter(({ start, end }) => isEnd(start - 1) && isEnd(end))
    .slice(0, max);
}
