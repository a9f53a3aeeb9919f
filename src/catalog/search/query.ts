import { fold } from '../../base/text.ts';
import { canonicalIdentifier } from '../controls/identifier.ts';
import { type Pattern, wordCharacter } from './pattern.ts';

// What stands between quotation marks, or a run of other characters; a mark that is not closed holds to the end.
const termPattern = /["“”]([^"“”]*)(?:["“”]|$)|[^\s"“”]+/gu;
const wordPattern = new RegExp(`${wordCharacter}+`, 'gu');
// An SV-id with or without its revision and ending: the number is what stays from release to release.
const ruleId = /^SV-(\d+)(r\d+(?:_rule)?)?$/i;
const punctuation = new RegExp(`(?!\\s|${wordCharacter}).`, 'su');

/** Looking up a prefix costs milliseconds, so a question may have so many; what is beyond is taken as a word. */
const maxPrefixes = 8;

/** A question of a user, made safe for FTS5: every word is quoted, and no sign of the question is syntax. */
export interface SearchQuery {
  /** The MATCH expression; null when the question has no word in it. */
  match: string | null;
  /** What to mark in a text: for each term its alternatives. */
  terms: Pattern[][];
  /** Quoted phrases that hold punctuation: a rule counts only if each is found in one of its texts. */
  literals: Pattern[];
  /** The whole question as an id, in the spellings that count as exact, lower case. */
  ids: string[];
  /** The whole question as an SV-id without the revision that it gives, lower case; none where it is no such id. */
  unrevised: string[];
}

interface Term {
  match: string;
  patterns: Pattern[];
  isLiteral: boolean;
}

/**
 * Reads a question. Words are ANDed; one with punctuation inside (`/etc/ssh/sshd_config`) is its words in a row; a
 * word of two characters and more before `*` is a prefix; a quoted phrase is its words in a row, and taken literally
 * (any blanks alike) where it holds punctuation. What has no letter, digit or `_` is passed over.
 */
export function readSearchQuery(question: string): SearchQuery {
  const terms = new Map<string, Term>();
  let prefixes = 0;
  for (const [whole, quoted] of question.matchAll(termPattern)) {
    const term = quoted === undefined ? plainTerm(whole, prefixes < maxPrefixes) : quotedTerm(quoted);
    if (term === null) continue;
    const key = JSON.stringify(term.patterns);
    if (!terms.has(key) && term.patterns.some((pattern) => pattern.isPrefix)) prefixes++;
    terms.set(key, term);
  }
  const list = [...terms.values()];
  return {
    match: list.length === 0 ? null : list.map((term) => term.match).join(' AND '),
    terms: list.map((term) => term.patterns),
    literals: list.flatMap((term) => (term.isLiteral ? term.patterns : [])),
    ids: idSpellings(question),
    unrevised: unrevised(question),
  };
}

function plainTerm(text: string, mayBePrefix: boolean): Term | null {
  const parts = wordsOf(text);
  const last = parts.at(-1);
  if (last === undefined) return null;
  const alternatives = idAlternatives(text);
  if (alternatives.length > 0) {
    const match = `(${alternatives.map(matchOf).join(' OR ')})`;
    return { match, patterns: alternatives, isLiteral: false };
  }
  const stem = text.replace(/\*+$/u, '');
  const isPrefix = mayBePrefix && stem !== text && fold(stem).endsWith(last) && [...last].length > 1;
  const pattern = words(parts, isPrefix);
  return { match: matchOf(pattern), patterns: [pattern], isLiteral: false };
}

function quotedTerm(text: string): Term | null {
  const parts = wordsOf(text);
  if (parts.length === 0) return null;
  const match = matchOf(words(parts));
  if (!punctuation.test(text)) return { match, patterns: [words(parts)], isLiteral: false };
  const literal: Pattern = { parts: fold(text).trim().split(/\s+/u), gap: 'blanks', isPrefix: false };
  return { match, patterns: [literal], isLiteral: true };
}

/** A CCI in any spelling stands for the published form too, and an SV-id for every revision of its number. */
function idAlternatives(text: string): Pattern[] {
  const cci = canonicalIdentifier('cci', text);
  if (cci !== null && cci !== text.toUpperCase()) return [text, cci].map((form) => words(wordsOf(form)));
  const number = ruleId.exec(text)?.[1];
  return number === undefined ? [] : [words(['sv', number]), words(['sv', `${number}r`], true)];
}

/** The spellings of a whole question that an id may have to be exact; none where it can be no id. */
function idSpellings(question: string): string[] {
  const text = bare(question);
  if (/\s/u.test(text) || !/[a-z]/.test(text) || !/\d/.test(text)) return [];
  const cci = canonicalIdentifier('cci', text);
  return [...new Set([text, `${text}_rule`, ...(cci === null ? [] : [fold(cci)])])];
}

function unrevised(question: string): string[] {
  const [, number, revision] = ruleId.exec(bare(question)) ?? [];
  return revision === undefined ? [] : [`sv-${number}`];
}

/** The whole question without quotation marks and the blanks around it, lower case. */
function bare(question: string): string {
  return fold(question.replace(/["“”]/gu, '').trim());
}

function wordsOf(text: string): string[] {
  return (fold(text).match(wordPattern) ?? []).filter((word) => /\P{M}/u.test(word));
}

function words(parts: string[], isPrefix = false): Pattern {
  return { parts, gap: 'punctuation', isPrefix };
}

/** Words in a row for FTS5: nothing but word characters and blanks is between the quotation marks. */
function matchOf({ parts, isPrefix }: Pattern): string {
  return `"${parts.join(' ')}"${isPrefix ? ' *' : ''}`;
}
