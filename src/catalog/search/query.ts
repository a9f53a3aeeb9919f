import { fold, strip } from '../../base/text.ts';
import { idsOf } from '../controls/id-grammar.ts';
import { canonicalIdentifier } from '../controls/identifier.ts';
import { indexed, type Pattern, wordCharacter } from './pattern.ts';

// The text between quotation marks, or a run of other characters; an open mark reaches to the end. A hyphen excludes a
// term that follows a blank: inside a word, and before a second hyphen (`--force`), it does not.
const termPattern = /((?<!\S)-(?!-))?(?:["“”]([^"“”]*)(?:["“”]|$)|[^\s"“”]+)/gu;
const wordPattern = new RegExp(`${wordCharacter}+`, 'gu');
// An SV-id with or without its revision and ending: only the number stays from release to release.
const ruleId = /^SV-(\d+)(r\d+(?:_rule)?)?$/i;
const punctuation = new RegExp(`(?!\\s|${wordCharacter}).`, 'su');

const groupId = /^V-\d+[,;]?$/i;
/** Of more V-ids each is looked for by its number, and then in the texts: every rule has the word `v`. */
const fewIds = 3;
const bareId = (text: string): string => text.replace(/[,;]$/, '');

/** Looking up a prefix costs milliseconds. Further prefixes of a question count as words. */
const maxPrefixes = 8;

/** A user's question: no character of it is syntax of the index. */
export type SearchQuery = ReturnType<typeof readSearchQuery>;

/** A word, phrase, prefix or id of a question. */
export interface Term {
  asked: string;
  /** The alternatives that a text may have. */
  patterns: Pattern[];
  isLiteral: boolean;
  /** Words that another form or a synonym may stand for: neither quoted, nor a prefix, nor an id. */
  isPlain: boolean;
}

/**
 * Reads a question: words are ANDed, punctuation in a word (`/etc/ssh/sshd_config`) makes it a phrase, `audit*` is a
 * prefix, and a quoted phrase with punctuation is literal (any blanks alike). `-` or `NOT ` before one of these excludes
 * it (rule D35.1). Ignores what has no letter, digit or `_`.
 */
export function readSearchQuery(question: string) {
  const terms = { included: new Map<string, Term>(), excluded: new Map<string, Term>() };
  const texts: string[] = [];
  let prefixes = 0;
  let isNot = false;
  const whole = hyphenated(question);
  const found = [...whole.matchAll(termPattern)];
  const hasManyIds = found.filter(([each]) => groupId.test(each)).length > fewIds;
  for (const [at, [each, hyphen = '', quoted]] of found.entries()) {
    if (each === 'NOT' && at < found.length - 1) {
      isNot = true;
      continue;
    }
    const text = each.slice(hyphen.length);
    const isLiteral = hasManyIds && groupId.test(text);
    const term =
      quoted === undefined && !isLiteral
        ? plainTerm(text, prefixes < maxPrefixes)
        : quotedTerm(quoted ?? bareId(text));
    if (term === null) continue;
    const kind = isNot || hyphen !== '' ? 'excluded' : 'included';
    isNot = false;
    if (kind === 'included') texts.push(each);
    const key = JSON.stringify(term.patterns);
    if (!terms[kind].has(key) && term.patterns.some((pattern) => pattern.isPrefix)) prefixes++;
    terms[kind].set(key, term);
  }
  const [includedTerms, excluded] = [[...terms.included.values()], [...terms.excluded.values()]];
  const includedText = excluded.length === 0 ? whole : texts.join(' ');
  const literalsOf = (some: Term[]) => some.flatMap((term) => (term.isLiteral ? term.patterns : []));
  const ids = idsOf(includedText) ?? [];
  const isOneId = ids.length === 1;
  return {
    /** What a rule must not have; the index knows no punctuation, so literal phrases are excluded by its texts alone. */
    excluded: excluded.filter((term) => !term.isLiteral),
    /** The terms that are not excluded, each once. */
    includedTerms,
    /** Quoted phrases that hold punctuation: a rule counts only if each is found in one of its texts. */
    literals: literalsOf(includedTerms),
    /** Quoted phrases that hold punctuation: a rule with one of them does not count. */
    excludedLiterals: literalsOf(excluded),
    /** The question without what it excludes. */
    includedText,
    /** The whole question as an id in each exact spelling, in lower case. */
    ids: idSpellings(includedText),
    /** The whole question as a control or CCI; null for another. */
    control: (isOneId && ids.find(({ kind }) => kind === 'control' || kind === 'cci')) || null,
    /** Whether the whole question has the form of an id. */
    isOneId,
    /** The whole question as an SV-id without its revision, in lower case; none for another text. */
    unrevised: unrevised(includedText),
  };
}

const families = 'AC AT AU CA CM CP IA IR MA MP PE PL PM PS PT RA SA SC SI SR'.replaceAll(' ', '|');
const loose = new RegExp(`^(S?V|CCI|${families})[\\s_]?(?=\\d)`, 'i');

/** A question that is one id without its hyphen (`V257777`, `cci 366`, `ac2`) with it; another one as it is. */
export function hyphenated(question: string): string {
  const text = question.trim().replace(loose, '$1-');
  return idsOf(text)?.length === 1 ? text : question;
}

function plainTerm(text: string, mayBePrefix: boolean): Term | null {
  const parts = wordsOf(text);
  const last = parts.at(-1);
  if (last === undefined) return null;
  const alternatives = idAlternatives(text);
  if (alternatives.length > 0)
    return { asked: text, patterns: alternatives, isLiteral: false, isPlain: false };
  const stem = strip(text, null, /\*/);
  const isPrefix = mayBePrefix && stem !== text && fold(stem).endsWith(last) && [...last].length > 1;
  const pattern = words(parts, isPrefix);
  return { asked: text, patterns: [pattern], isLiteral: false, isPlain: !isPrefix };
}

function quotedTerm(text: string): Term | null {
  const parts = wordsOf(text);
  if (parts.length === 0) return null;
  const term = { asked: text, isPlain: false };
  if (!punctuation.test(text)) return { ...term, patterns: [words(parts)], isLiteral: false };
  const literal: Pattern = { parts: fold(text).trim().split(/\s+/u), gap: 'blanks', isPrefix: false };
  return { ...term, patterns: [literal], isLiteral: true };
}

/** A CCI in any spelling stands for the published form too, and an SV-id for every revision of its number. */
function idAlternatives(text: string): Pattern[] {
  const cci = canonicalIdentifier('cci', text);
  if (cci !== null && cci !== text.toUpperCase()) return [text, cci].map((form) => words(wordsOf(form)));
  const number = ruleId.exec(text)?.[1];
  return number === undefined ? [] : [words(['sv', number]), words(['sv', `${number}r`], true)];
}

/** The exact spellings of an id; none for a question that cannot be an id. */
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

function bare(question: string): string {
  return fold(question.replace(/["“”]/gu, '').trim());
}

/** The words of a text, folded. */
export function wordsOf(text: string): string[] {
  return (fold(text).match(wordPattern) ?? []).filter((word) => /\P{M}/u.test(word));
}

/** Folded words in a row as something to find. */
export function words(parts: string[], isPrefix = false): Pattern {
  return { parts: parts.map(indexed), gap: 'punctuation', isPrefix };
}

/** A literal phrase as the index knows it: without its punctuation, and of a V-id the number alone. */
function inIndex(pattern: Pattern): Pattern {
  if (pattern.gap === 'punctuation') return pattern;
  const parts = wordsOf(pattern.parts.join(' '));
  return words(pattern.parts.length === 1 && groupId.test(pattern.parts[0]!) ? parts.slice(1) : parts);
}

/** Something to find, as FTS5 takes it. Between the quotation marks there are only word characters and blanks. */
export function matchOf(pattern: Pattern): string {
  const { parts, isPrefix } = inIndex(pattern);
  return `"${parts.join(' ')}"${isPrefix ? ' *' : ''}`;
}

/** The FTS5 query for rules that match one of some; an empty phrase, which none matches, for no query. */
export const anyOf = (matches: string[]): string => matches.join(' OR ') || '""';

/** The question to the index for rules that have all of some terms, each in one of its alternatives. */
export const allOf = (terms: Term[]): string =>
  terms.map(({ patterns }) => `(${anyOf(patterns.map(matchOf))})`).join(' AND ');
