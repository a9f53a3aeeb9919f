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

const word = '(revoked|rescinded|withdrawn|superseded)';
const inCapitals = /^[^\p{L}\p{N}]*(REVOKED|RESCINDED|WITHDRAWN|SUPERSEDED)\b/u;
// `[Revoked] Directive 7`, `Directive 7 (superseded by 9)`, `Withdrawn: Directive 7`, `Directive 7 - Withdrawn`
const inTitle = new RegExp(`[[(] {0,2}${word}\\b|^${word} ?[:–—-]|(?:: ?| [–—-] )${word}$`, 'i');
const asNotice = new RegExp(
  `^(?:[^\\p{L}]{0,9}status)?[^\\p{L}]{0,9}${word}(?: by\\b|[\\]).:;, –—-]{0,9}$|[\\].:])`,
  'iu',
);
const inSentence = new RegExp(
  `^(.{1,300}?) (?:ha(?:s|ve)(?: \\w+)? been|is|was|are)(?: (?:now|hereby|formally|officially|since))? ${word}\\b(?! (?:if|when|only|unless|or)\\b)`,
  'i',
);
const documentNoun =
  /\bthis\b.{0,80}\b(?:directive|document|publication|policy|guidance|guidelines?|standard|instruction|memorandum|manual|regulation|framework|order|bulletin|notice|circular|version|edition)\b/i;
const ofAnother = /\b(?:which|that|who|supersed\w+|replac\w+|revok\w+|rescind\w+)\b/i;

/** Longer texts say more than that a document was revoked. */
const longest = 2000;

/**
 * The status of a document by its title and its first paragraphs (rule D53.6): a mark such as `[REVOKED]`, or a sentence
 * whose subject is this document. A document that revokes another one is active.
 */
export function statusOf(title: string, paragraphs: string[], headings: string[] = []): DocumentStatus {
  for (const heading of [title, ...headings]) {
    const marked = wordIn(heading, inTitle) ?? wordIn(heading, inCapitals);
    if (marked !== null) return marked;
  }
  for (const paragraph of paragraphs.map((text) => text.slice(0, longest))) {
    const noticed = wordIn(paragraph, inCapitals) ?? wordIn(paragraph, asNotice);
    if (noticed !== null) return noticed;
    for (const sentence of sentencesOf(paragraph)) {
      const [, subject, status] = inSentence.exec(sentence) ?? [];
      if (subject !== undefined && isAbout(title, subject)) return statusOfWord[status!.toLowerCase()]!;
    }
  }
  return 'active';
}

function wordIn(text: string, pattern: RegExp): DocumentStatus | null {
  const found = pattern
    .exec(text.slice(0, longest))
    ?.slice(1)
    .find((each) => each !== undefined);
  return found === undefined ? null : statusOfWord[found.toLowerCase()]!;
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
