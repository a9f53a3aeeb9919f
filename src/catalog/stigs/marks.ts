import { hash } from 'node:crypto';
import { type ComparableRule, collapse } from './compare.ts';
import type { ChangeClass } from './diff-schema.ts';
import type { RuleIds } from './ids.ts';
import { changeClasses } from './match.ts';
import type { RuleHead } from './rule-head.ts';

/** The data to compare two printings of a rule without their texts. */
export interface RuleMarks extends RuleIds {
  /** Its place in the release, from 1. */
  ordinal: number;
  severity: RuleHead['severity'];
  /** A hash for each of `hashNames`, joined. */
  hashes: string;
}

/** `wording`: title and discussion. `check`, `fix`: with each run of blanks as one; `exact...`: as they are. */
const hashNames = ['wording', 'check', 'fix', 'exactCheck', 'exactFix', 'ccis'] as const;
/** 48 bits are enough: only two printings of one rule are ever compared. */
const hashLength = 8;
const mark = (text: string) => hash('sha256', text, 'base64').slice(0, hashLength);

type Stored = [
  groupId: string,
  ruleId: string,
  ruleVersion: string,
  legacyIds: string[],
  severity: RuleHead['severity'],
  hashes: string,
];

/** The marks of a release's rules in document order, as the database stores them. */
export function writeMarks(rows: ComparableRule[]): string {
  return JSON.stringify(
    rows.map((row): Stored => {
      const hashed = {
        wording: mark(`${row.ruleTitle}\0${row.vulnDiscussion}`),
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
    ([groupId, ruleId, ruleVersion, legacyIds, severity, hashes], place) => {
      return { ordinal: place + 1, groupId, ruleId, ruleVersion, legacyIds, severity, hashes };
    },
  );
}

/** The classes in which two printings of a rule differ, the primary one first, as `fieldChanges` gives them. */
export function markedClasses(old: RuleMarks, now: RuleMarks): ChangeClass[] {
  if (old.hashes === now.hashes && old.severity === now.severity) return [];
  const isOther = (name: (typeof hashNames)[number]) => {
    const from = hashNames.indexOf(name) * hashLength;
    return old.hashes.slice(from, from + hashLength) !== now.hashes.slice(from, from + hashLength);
  };
  const [check, fix] = [isOther('check'), isOther('fix')];
  const areBlanks = (isOther('exactCheck') && !check) || (isOther('exactFix') && !fix);
  const differs = {
    check,
    fix,
    severity: old.severity !== now.severity,
    mapping: isOther('ccis'),
    cosmetic: isOther('wording') || areBlanks,
  };
  return changeClasses.filter((each) => differs[each]);
}
