import type { IdentifiedRelease } from '../catalog/stigs/identify.ts';
import { matchRules, plainId } from '../catalog/stigs/match.ts';
import type { FindingRow } from '../catalog/stigs/queries.ts';
import { oneNumberFrom } from './stig-names.ts';

/** The rule of a release that matches a result, or a rule of a checklist. */
export interface FoundRule {
  row: FindingRow;
  matchedBy: 'ruleId' | 'groupId' | 'legacyId';
}

const svNumber = (ruleId: string) => /^SV-(\d+)(?=R\d|$)/.exec(plainId(ruleId))?.[1] ?? null;

/** Makes the look-up of rules of a release: by rule id, then V-id, then legacy ids (rule D29.2). */
export function createRuleFinder({ target, others }: IdentifiedRelease) {
  const byId = new Map<string, FindingRow>();
  const byNumber = new Map<string, FindingRow>();
  const byGroup = new Map<string, FindingRow>();
  const byLegacy = new Map<string, FindingRow>();
  // Backwards: of several candidates, the first in document order wins.
  for (const row of target.findings.toReversed()) {
    byId.set(plainId(row.ruleId), row);
    byNumber.set(svNumber(row.ruleId) ?? plainId(row.ruleId), row);
    byGroup.set(row.groupId.toUpperCase(), row);
    for (const id of row.legacyIds) byLegacy.set(id.trim().toUpperCase(), row);
  }
  /** The matching rule of the target for each rule id of another release. Filled on first use. */
  let successors: Map<string, { row: FindingRow; version: string }> | null = null;

  return {
    rule({ id, legacyIds }: { id: string; legacyIds: string[] }): FoundRule | null {
      const exact = byId.get(plainId(id));
      if (exact) return { row: exact, matchedBy: 'ruleId' };
      const number = svNumber(id);
      const group =
        number !== null && Number(number) >= oneNumberFrom ? byGroup.get(`V-${number}`) : undefined;
      const same = (number === null ? undefined : byNumber.get(number)) ?? group;
      if (same) return { row: same, matchedBy: 'groupId' };
      // Some tools write the V-id.
      const former = [number === null ? id : `SV-${number}`, ...legacyIds];
      for (const each of former) {
        const row = byGroup.get(each.toUpperCase()) ?? byLegacy.get(each.toUpperCase());
        if (row) return { row, matchedBy: each === id ? 'groupId' : 'legacyId' };
      }
      return null;
    },

    /** The successor in the target of a rule of another release: the rule with its STIG id or former number. */
    renamed({ id }: { id: string }): { row: FindingRow; version: string } | null {
      successors ??= new Map(
        others.flatMap(({ release, findings }) =>
          matchRules(findings, target.findings).pairs.map(
            (pair) => [plainId(pair.old.ruleId), { row: pair.new, version: release.version }] as const,
          ),
        ),
      );
      return successors.get(plainId(id)) ?? null;
    },
  };
}
