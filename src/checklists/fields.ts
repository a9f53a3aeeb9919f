import { badRequest } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import type { Leftover } from './schema.ts';

/** The parts of a cklb whose values come from a short list. */
export const targetTypes = ['Computing', 'Non-Computing'] as const;
const severities = ['high', 'medium', 'low'] as const;
const statuses = ['not_reviewed', 'not_applicable', 'open', 'not_a_finding'] as const;

/** How much a checklist may hold (rule D28.4): far beyond any real one, and little enough to be worked through at once. */
export const checklistLimits = { stigs: 100, rules: 20_000, leftovers: 100_000, name: 1000 };

/** Characters of finding details or comments that STIG Manager takes; the rest it cuts off. */
export const longestText = 32_767;

/** A text without what writers of one word differ in; what is too long for a word is none. */
const plain = (text: string) => (text.length > 64 ? '' : text.toLowerCase().replace(/[\s_-]+/g, ''));

/** A 400 about a place in the checklist. Keys of the file's own are cut, so that a message stays short. */
export function badChecklist(path: string, problem: string): Error {
  return badRequest(`checklist: ${path === '' ? '' : `${path.slice(0, 64)} `}${problem}`);
}

/** What is done about a value that no checklist may have: it is refused, or noted and read as the next best. */
export type OnFault = (code: FaultCode, path: string, problem: string) => void;
export type FaultCode = 'bad-status' | 'bad-severity' | 'no-rule-id' | 'repeated-rule';

/** Throws the 400 of a fault. */
export const refuseFault: OnFault = (_, path, problem) => {
  throw badChecklist(path, problem);
};

/** What stands in the place of one of some words, for a message. */
const instead = (text: string) => (text.trim() === '' ? '' : `, not "${cut(text.trim())}"`);

/** The status of a rule in either vocabulary (`NotAFinding`, `not_a_finding`); none is not_reviewed, as is a fault. */
export function readStatus(text: string, path: string, onFault: OnFault): (typeof statuses)[number] {
  if (text.trim() === '') return 'not_reviewed';
  const status = statuses.find((each) => plain(each) === plain(text));
  if (status) return status;
  onFault('bad-status', path, `must be Not_Reviewed, Not_Applicable, Open or NotAFinding${instead(text)}`);
  return 'not_reviewed';
}

/** A severity, whatever its case; medium for a fault. */
export function readSeverity(text: string, path: string, onFault: OnFault): (typeof severities)[number] {
  const severity = severities.find((each) => each === text.trim().toLowerCase());
  if (severity) return severity;
  onFault('bad-severity', path, `must be high, medium or low${instead(text)}`);
  return 'medium';
}

/** The word of a list that a text is, whatever its case and blanks; the first one, and a leftover, when it is none. */
export function readWord<const T extends string>(
  words: readonly [T, ...T[]],
  text: string,
  leftover: (value: string) => void,
): T {
  const word = words.find((each) => plain(each) === plain(text));
  if (word === undefined && text.trim() !== '') leftover(text);
  return word ?? words[0];
}

export type Leftovers = ReturnType<typeof createLeftovers>;

/** Collects what a checklist holds that a cklb has no place for. */
export function createLeftovers() {
  const list: Leftover[] = [];
  return {
    list,
    /** Keeps a value and where it was. Throws a 400 beyond the limit. */
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

/** Counts the rules of a checklist as they are read, and finds one that is there twice in a STIG. */
export function createRuleGuard(onFault: OnFault) {
  let rules = 0;
  let seen = new Set<string>();
  return {
    /** Begins another STIG. Throws a 400 beyond the limit. */
    stig(index: number): void {
      if (index >= checklistLimits.stigs)
        throw badChecklist('', `contains more than ${checklistLimits.stigs} STIGs`);
      seen = new Set();
    },
    /** Takes a rule by its id: none, and a second one of that id, are faults. Throws a 400 beyond the limit. */
    rule(ruleId: string, path: string): void {
      if (++rules > checklistLimits.rules)
        throw badChecklist('', `contains more than ${checklistLimits.rules} rules`);
      if (ruleId === '') onFault('no-rule-id', path, 'has no rule id');
      else if (seen.has(ruleId)) onFault('repeated-rule', path, `repeats the rule ${ruleId.slice(0, 64)}`);
      seen.add(ruleId);
    },
  };
}
