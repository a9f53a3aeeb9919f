import { hash } from 'node:crypto';
import { collapse } from './compare.ts';
import { type ChangeClass, changeClasses } from './diff-schema.ts';
import { type RuleIds, ruleNumber } from './match.ts';
import type { FindingRow } from './queries.ts';

/** What two printings of a rule are compared by without their texts: a hash is another one where a text is. */
export interface RuleMarks extends RuleIds {
  severity: FindingRow['severity'];
  /** Of title and discussion. */
  wording: string;
  /** Of the words of check and fix, blanks and line ends counted as one blank; then of every character. */
  check: string;
  fix: string;
  exactCheck: string;
  exactFix: string;
  /** Of the set of CCIs. */
  ccis: string;
}

type MarkedRow = Pick<
  FindingRow,
  | 'groupId'
  | 'ruleId'
  | 'ruleVersion'
  | 'legacyIds'
  | 'severity'
  | 'ruleTitle'
  | 'vulnDiscussion'
  | 'checkContent'
  | 'fixText'
  | 'ccis'
>;

/** 48 bits: only two printings of one rule are ever compared, so chance has one try at each. */
const hashLength = 8;
const hashNames = ['wording', 'check', 'fix', 'exactCheck', 'exactFix', 'ccis'] as const;
const mark = (text: string) => hash('sha256', text, 'base64').slice(0, hashLength);

type Stored = [
  groupId: string,
  ruleId: string,
  ruleVersion: string,
  legacyIds: string[],
  severity: FindingRow['severity'],
  hashes: string,
];

/** The marks of a release's rules in document order, as they are stored. */
export function writeMarks(rows: MarkedRow[]): string {
  return JSON.stringify(
    rows.map((row): Stored => {
      const hashed = {
        wording: mark(JSON.stringify([row.ruleTitle, row.vulnDiscussion])),
        check: mark(collapse(row.checkContent)),
        fix: mark(collapse(row.fixText)),
        exactCheck: mark(row.checkContent),
        exactFix: mark(row.fixText),
        ccis: mark([...new Set(row.ccis)].sort().join(' ')),
      };
      const hashes = hashNames.map((name) => hashed[name]).join('');
      return [row.groupId, row.ruleId, row.ruleVersion, row.legacyIds, row.severity, hashes];
    }),
  );
}

/** The stored marks of a release. */
export function readMarks(stored: string): RuleMarks[] {
  return (JSON.parse(stored) as Stored[]).map(
    ([groupId, ruleId, ruleVersion, legacyIds, severity, hashes]) => {
      const at = (index: number) => hashes.slice(index * hashLength, (index + 1) * hashLength);
      const [wording, check, fix, exactCheck, exactFix, ccis] = [at(0), at(1), at(2), at(3), at(4), at(5)];
      const hashed = { wording, check, fix, exactCheck, exactFix, ccis };
      return { groupId, ruleId, ruleVersion, legacyIds, severity, ...hashed };
    },
  );
}

/** The classes in which two printings of a rule differ, the primary one first: those that `fieldChanges` gives of their texts. */
export function markedClasses(old: RuleMarks, now: RuleMarks): ChangeClass[] {
  const isBlank = (words: 'check' | 'fix', exact: 'exactCheck' | 'exactFix') =>
    old[exact] !== now[exact] && old[words] === now[words];
  const differs = {
    check: old.check !== now.check,
    fix: old.fix !== now.fix,
    severity: old.severity !== now.severity,
    mapping: old.ccis !== now.ccis,
    cosmetic: old.wording !== now.wording || isBlank('check', 'exactCheck') || isBlank('fix', 'exactFix'),
  };
  return changeClasses.filter((each) => differs[each]);
}

/** Every identifier by which a rule is found, in upper case: V-id, SV-id without its revision, STIG id, legacy ones. */
export function idsOf(rule: RuleIds): string[] {
  const numbers = [rule.groupId, rule.ruleId, ...rule.legacyIds].map((ruleId) => ruleNumber({ ruleId }));
  const ids = [...numbers, rule.ruleVersion.trim()].map((id) => id.toUpperCase());
  return ids.filter((id) => id !== '');
}

/** The identifiers that a caller may mean: what was written, and the id of a rule without its revision. */
export function wantedIds(text: string): string[] {
  const id = text.trim().toUpperCase();
  return [...new Set([id, ...(/^SV-|_RULE$/.test(id) ? [ruleNumber({ ruleId: id })] : [])])];
}
