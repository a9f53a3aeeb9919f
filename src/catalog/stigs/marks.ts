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
  /** The hashes of its texts, joined. */
  hashes: string;
}

/** 48 bits are enough: only two printings of one rule are ever compared. */
const hashLength = 8;
const eachHash = /.{8}/g;

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
      const hashed = [
        `${row.ruleTitle}\0${row.vulnDiscussion}`,
        collapse(row.checkContent),
        collapse(row.fixText),
        row.checkContent,
        row.fixText,
        [...new Set(row.ccis)].sort().join(' '),
      ];
      const hashes = hashed.map((text) => hash('sha256', text, 'base64').slice(0, hashLength)).join('');
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
  const hashes = now.hashes.match(eachHash)!;
  const [wording, check, fix, exactCheck, exactFix, mapping] = old.hashes
    .match(eachHash)!
    .map((each, at) => each !== hashes[at]);
  const differs = {
    check,
    fix,
    severity: old.severity !== now.severity,
    mapping,
    cosmetic: wording || (exactCheck && !check) || (exactFix && !fix),
  };
  return changeClasses.filter((each) => differs[each]);
}
