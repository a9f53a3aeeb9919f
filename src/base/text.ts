/** Folds case for comparing and searching; SQLite's own functions fold ASCII only. */
export function fold(text: string): string {
  return text.toLowerCase();
}

/** Removes diacritics from Latin letters one by one, as the tokenizer of `rule_search` does. */
export function withoutDiacritics(folded: string): string {
  return folded.replace(/[\u00c0-\u024f\u1e00-\u1eff]/g, (letter) => {
    const base = letter.normalize('NFD')[0]!;
    return /[a-z]/.test(base) ? base : letter;
  });
}

/** The words of a text as `rule_search` has them: lower case, without diacritics. */
export function indexedWords(text: string): string[] {
  const folded = withoutDiacritics(fold(text).normalize('NFC')).replace(/[\u0300-\u036f]/g, '');
  return folded.match(/[\p{L}\p{Nd}\p{Nl}\p{M}_]+/gu) ?? [];
}

/** Compares by code point, as SQLite's BINARY collation does on UTF-8 (`<` compares UTF-16 units). */
export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Cuts a text of a request to 64 characters (or `length`), for messages (D2.2). */
export function cut(text: string, length = 64): string {
  // A character has at most two UTF-16 units.
  return [...text.slice(0, 2 * length)].slice(0, length).join('');
}

/** Whether a text has at most so many characters, without splitting a much longer one. */
export function hasAtMost(text: string, characters: number): boolean {
  return text.length <= characters || (text.length <= 2 * characters && [...text].length <= characters);
}

/**
 * Removes the characters that `start` matches from the beginning of a text, and those that `end` matches from its end.
 * In a loop: an expression such as `x+$` takes the square of the length of a text.
 */
export function strip(text: string, start: RegExp | null, end = start): string {
  let from = 0;
  let to = text.length;
  while (start !== null && from < to && start.test(text[from]!)) from++;
  while (end !== null && from < to && end.test(text[to - 1]!)) to--;
  return text.slice(from, to);
}

/** The texts between separators, trimmed, without empty ones. */
export function items(text: string, separator: string | RegExp): string[] {
  return text
    .split(separator)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** A foreign text for logs and messages: cut, on one line, U+FFFD for invisible characters. */
export function printable(text: string, length: number): string {
  return text.slice(0, length).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}

/**
 * A text for a terminal or a file (rule S3.5): each character that controls one or cannot be seen, but for the end of a
 * line, as JSON writes it (`\\u001b`), so that JSON stays the same JSON.
 */
export function escaped(text: string): string {
  return text.replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, (each) =>
    each
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** The same on one line. */
export const escapedLine = (text: string): string => escaped(text).replaceAll('\n', '\\u000a');

/** A number with its noun in the right form: `1 rule`, `1,446 rules`. */
export function count(number: number, word: string, plural = `${word}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? word : plural}`;
}

/** The same for counters of the ledger: `rules`, `categories`, `workRoles`; `high` and `education` stay. */
export function countOf(number: number, counted: string): string {
  const plural =
    counted === 'ccis' ? 'CCIs' : counted.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return count(number, plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.replace(/s$/, ''), plural);
}

/** The beginning of a CSV cell whose apostrophe only keeps a spreadsheet from running it (rule D5.4). */
export const guardedCell = /^'+[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/** Whether a text has a character that can be seen. U+2800 is a blank, though Unicode does not say so. */
export function isVisible(text: string): boolean {
  return /[^\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{DI}\u2800]/u.test(text);
}

/** Whether a text can be a name: one line, and visible. */
export function isVisibleLine(text: string): boolean {
  return isVisible(text) && !/[\n\v\f\r\u0085\u2028\u2029]/.test(text);
}

/** Whether a text can be stored and returned unchanged: no NUL and no lone surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The first twelve digits of a hash in groups, for reading aloud. */
export function formatDigest(hash: string): string {
  return hash.slice(0, 12).replace(/(.{4})(?=.)/g, '$1 ');
}

/** A text of at most so many characters, with an ellipsis where it was longer. */
export function brief(text: string, length = 300): string {
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The characters of a value as JSON. */
export const jsonLength = (value: unknown): number => JSON.stringify(value).length;

/** The longest beginning of a text that has so many characters as JSON, without half a character. */
export function jsonBeginning(text: string, most: number): string {
  if (jsonLength(text) - 2 <= most) return text;
  let [end, size] = [0, 0];
  for (const character of text) {
    size += jsonLength(character) - 2;
    if (size > most) break;
    end += character.length;
  }
  return text.slice(0, end);
}
