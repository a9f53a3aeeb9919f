import { badRequest } from '../base/errors.ts';
import { pointerTo } from '../http/schema.ts';
import { ImportError } from '../read/import-error.ts';
import { readXmlEvents, type XmlElement, type XmlHandler } from '../read/xml.ts';
import type { Leftover } from './schema.ts';

/** Elements of one tree: a rule has some hundred, and each takes some 200 bytes. */
export const largestTree = 100_000;

/** Reads XML of a caller: bytes, or decoded text. Messages begin with `name`. Returns warnings; throws a 400. */
export function readUploadedXml(
  given: string | Uint8Array,
  name: string,
  choose: (root: XmlElement) => XmlHandler,
): string[] {
  try {
    if (typeof given !== 'string') return readXmlEvents(given, {}, choose).warnings;
    if (!given.isWellFormed()) throw new ImportError('must not contain lone surrogates');
    // The text is decoded already: the encoding in its declaration no longer applies.
    const body = given.replace(/^\uFEFF?\s*<\?xml\s[^>]{0,1000}\?>/, '');
    return readXmlEvents(Buffer.from(body), { strict: true }, choose).warnings;
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    // Some messages contain names of the file: cut them (rule D2.2).
    const message = error.message.replace(/\S{65,}/g, (word) => word.slice(0, 64)).slice(0, 200);
    throw badRequest(`${name}: ${message}`, `/${name}`);
  }
}

export const targetTypes = ['Computing', 'Non-Computing'] as const;
const severities = ['high', 'medium', 'low'] as const;
const statuses = ['not_reviewed', 'not_applicable', 'open', 'not_a_finding'] as const;

/** The limits of a checklist (rule D28.4): far beyond any real one, and small enough for one request. */
export const checklistLimits = { stigs: 100, rules: 20_000, leftovers: 100_000, name: 1000 };

/** Characters of finding details or comments that STIG Manager stores; it cuts off the rest. */
export const longestText = 32_767;

/** Removes case, blanks, `_` and `-`, in which tools spell a word differently; empty for long text. */
const plain = (text: string) => (text.length > 64 ? '' : text.toLowerCase().replace(/[\s_-]+/g, ''));

/** A 400 about a place in the checklist, `stigs[0].uuid`. `shown` may contain keys of the file: it is cut. */
export function badChecklist(path: string, problem: string, shown = inWords(path)): Error {
  const steps = /^[\w.[\]]+(?= of |$)/.exec(path)?.[0].match(/\w+/g) ?? [];
  const message = `checklist: ${shown === '' ? '' : `${shown.slice(0, 64)} `}${problem}`;
  return badRequest(message, pointerTo(['checklist', ...steps]));
}

/** `comments of rule 2 of STIG 1` for `stigs[0].rules[1].comments`: people read it. */
function inWords(path: string): string {
  const [, stig, rule, field] = /^stigs\[(\d+)\](?:\.rules\[(\d+)\])?(?:\.(.+))?$/s.exec(path) ?? [];
  if (stig === undefined) return path;
  const words = [field, rule && `rule ${Number(rule) + 1}`, `STIG ${Number(stig) + 1}`];
  return words.filter((each) => each !== undefined).join(' of ');
}

/** Handles an invalid value: throws, or records it, and the reader continues with a default. */
export type OnFault = (code: FaultCode, path: string, problem: string) => void;
export type FaultCode = 'bad-status' | 'bad-severity' | 'no-rule-id' | 'repeated-rule';

/** Says V-id and STIG, which `path` ends with, and not the indexes before them: people read it. */
export const refuseFault: OnFault = (_, path, problem) => {
  throw badChecklist(path, problem, path.replace(/^stigs\[\d+\]\.rules\[\d+\](?:\.| of )/, ''));
};

/** A status in either vocabulary (`NotAFinding`, `not_a_finding`): not_reviewed for none, null for another text. */
export function statusOf(text: string): (typeof statuses)[number] | null {
  if (text.trim() === '') return 'not_reviewed';
  return statuses.find((each) => plain(each) === plain(text)) ?? null;
}

/** A severity by name or category, `low`, `CAT III`, `III` or `3` (rule D53.5), in any case; null for other text. */
export function severityOf(text: string): (typeof severities)[number] | null {
  const word = plain(text).replace(/^cat(?:egory)?[.:]?/, '');
  const at = ['i', 'ii', 'iii'].findIndex((each, index) => each === word || String(index + 1) === word);
  return severities[at] ?? severities.find((each) => each === plain(text)) ?? null;
}

/** The word of a list that matches a text, ignoring case and blanks. No match: the first word, and a leftover. */
export function readWord<const T extends string>(
  words: readonly [T, ...T[]],
  text: string,
  leftover: (value: string) => void,
): T {
  const word = words.find((each) => plain(each) === plain(text));
  if (word === undefined && text.trim() !== '') leftover(text);
  return word ?? words[0];
}

/** Collects the values of a checklist that a cklb has no field for. */
export function createLeftovers() {
  const list: Leftover[] = [];
  return {
    list,
    add(path: string, value: unknown, reason = 'a cklb has no field for this'): void {
      if (list.length >= checklistLimits.leftovers)
        throw badChecklist(
          '',
          `contains more than ${checklistLimits.leftovers} fields that a cklb does not have`,
        );
      list.push({ kind: 'field', reason, path, value });
    },
  };
}
