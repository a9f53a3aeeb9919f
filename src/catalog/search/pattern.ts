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

const wordTest = new RegExp(wordCharacter, 'u');
const runs = { blanks: /\s+/uy, punctuation: /[^\p{L}\p{Nd}\p{Nl}\p{M}_]+/uy };
const ascii = Array.from({ length: 128 }, (_, code) => wordTest.test(String.fromCharCode(code)));

/** A text with its case folded, each character at its place: `exact`, and `plain` without diacritics. */
export interface FoldedText {
  exact: string;
  plain: string;
}

/** Folds a text in place: the one letter whose fold is longer is replaced first. */
export function foldInPlace(text: string): FoldedText {
  const folded = fold(text);
  const exact = folded.length === text.length ? folded : fold(text.replaceAll('İ', 'I'));
  return { exact, plain: withoutDiacritics(exact) };
}

/** At most `max` places of a pattern in a text from `foldInPlace`. It finds words as the index does. */
export function findPlaces({ exact, plain }: FoldedText, pattern: Pattern, max: number): Range[] {
  const folded = pattern.gap === 'blanks' ? exact : plain;
  const [first] = pattern.parts;
  const places: Range[] = [];
  if (!first) return places;
  for (let at = folded.indexOf(first); at >= 0 && places.length < max; at = folded.indexOf(first, at + 1)) {
    if (isWordBefore(folded, at)) continue;
    const end = endOf(folded, at, pattern);
    if (end < 0) continue;
    places.push({ start: at, end });
    at = end - 1;
  }
  return places;
}

function endOf(folded: string, start: number, { parts, gap, isPrefix }: Pattern): number {
  let at = start;
  for (const [index, part] of parts.entries()) {
    if (index > 0) {
      const run = runs[gap];
      run.lastIndex = at;
      if (!run.test(folded)) return -1;
      at = run.lastIndex;
    }
    if (!folded.startsWith(part, at)) return -1;
    at += part.length;
  }
  if (!isPrefix) return isWordAt(folded, at) ? -1 : at;
  while (isWordAt(folded, at)) at += folded.codePointAt(at)! > 0xffff ? 2 : 1;
  return at;
}

function isWordAt(text: string, at: number): boolean {
  const code = text.codePointAt(at);
  if (code === undefined) return false;
  return code < 128 ? ascii[code]! : wordTest.test(String.fromCodePoint(code));
}

function isWordBefore(text: string, at: number): boolean {
  if (at === 0) return false;
  const code = text.charCodeAt(at - 1);
  return code < 128 ? ascii[code]! : isWordAt(text, code >= 0xdc00 && code <= 0xdfff ? at - 2 : at - 1);
}
