import { fold } from '../../src/base/text.ts';
import type { DocumentStatus } from '../../src/catalog/guidance/document-schema.ts';
import { sentencesOf } from './sentences.ts';

const statusOfWord: Record<string, DocumentStatus> = {
  active: 'active',
  revoked: 'revoked',
  rescinded: 'revoked',
  withdrawn: 'revoked',
  superseded: 'superseded',
};

/** The values of a field `status`, in any case. */
export const statusWords = Object.keys(statusOfWord);

/** The status that a field states; null for a text that is none of `statusWords`. */
export const statedStatus = (text: string): DocumentStatus | null =>
  statusOfWord[text.trim().toLowerCase()] ?? null;

const word = '(?<word>revoked|rescinded|withdrawn|superseded)';
const inCapitals = /^[^\p{L}\p{N}]*(?<word>REVOKED|RESCINDED|WITHDRAWN|SUPERSEDED)\b/u;
/** `[Revoked] Directive 7`, `Directive 7 (superseded by 9)`; `Withdrawn: Directive 7`; `Directive 7 - Withdrawn`. */
const inTitle = [
  inCapitals,
  new RegExp(`[[(] {0,2}${word}\\b`, 'i'),
  new RegExp(`^${word} ?[:–—-]`, 'i'),
  new RegExp(`(?:: ?| [–—-] )${word}$`, 'i'),
];
/** `Status: Revoked`, `[RESCINDED]`, `Superseded by 9`. */
const inNotice = [
  inCapitals,
  new RegExp(`^(?:[^\\p{L}]{0,9}status)?[^\\p{L}]{0,9}${word}(?: by\\b|[\\]).:;, –—-]{0,9}$|[\\].:])`, 'iu'),
];
const inSentence = new RegExp(
  `^(?<subject>.{1,300}?) (?:ha(?:s|ve)(?: \\w+)? been|is|was|are)(?: (?:now|hereby|formally|officially|since))? ${word}\\b(?! (?:if|when|only|unless|or)\\b)`,
  'i',
);
const documentNoun =
  /\bthis\b.{0,80}\b(?:directive|document|publication|policy|guidance|guidelines?|standard|instruction|memorandum|manual|regulation|framework|order|bulletin|notice|circular|version|edition)\b/i;
const ofAnother = /\b(?:which|that|who|supersed\w+|replac\w+|revok\w+|rescind\w+)\b/i;

/**
 * The status of a document by its title and its first paragraphs (rule D53.6): a mark such as `[REVOKED]`, or a sentence
 * whose subject is this document. A document that revokes another one is active.
 */
export function statusOf(title: string, paragraphs: string[], headings: string[] = []): DocumentStatus {
  const marks = [title, ...headings].map((heading) => wordIn(heading, inTitle));
  const notices = paragraphs.map(
    (paragraph) => wordIn(paragraph, inNotice) ?? wordInSentence(paragraph, title),
  );
  const found = [...marks, ...notices].find((each) => each !== undefined);
  return statedStatus(found ?? 'active')!;
}

/** Longer texts say more than that a document was revoked. */
const longest = 2000;

function wordIn(text: string, patterns: RegExp[]): string | undefined {
  const beginning = text.slice(0, longest);
  return patterns.map((pattern) => pattern.exec(beginning)?.groups?.word).find(Boolean);
}

function wordInSentence(paragraph: string, title: string): string | undefined {
  return sentencesOf(paragraph.slice(0, longest))
    .map((sentence) => inSentence.exec(sentence)?.groups)
    .find((groups) => groups !== undefined && isAbout(title, groups.subject!))?.word;
}

/** Whether the subject of a sentence is the document with a title: "this directive", its title, or its number. */
function isAbout(title: string, subject: string): boolean {
  if (ofAnother.test(subject)) return false;
  const [number] = /(?<!\d)\d+(?:[-.]\d+)+/.exec(title) ?? [];
  return (
    documentNoun.test(subject) ||
    fold(subject).includes(fold(title)) ||
    (number !== undefined && subject.split(/[\s,()]+/).includes(number))
  );
}
