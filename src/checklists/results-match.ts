import { plainRuleId } from '../base/rule-ids.ts';
import type { IdentifiedRelease } from '../catalog/stigs/identify.ts';
import { matchRules } from '../catalog/stigs/match.ts';
import type { FindingRow } from '../catalog/stigs/queries.ts';
import { oneNumberFrom } from './stig-names.ts';

/** The rule of a release that matches a result, or a rule of a checklist. */
export interface FoundRule {
  row: FindingRow;
  matchedBy: 'ruleId' | 'groupId' | 'legacyId';
  /** Other rules of the release that fit equally well: the first in document order counts. */
  equals: FindingRow[];
}

const svNumber = (ruleId: string) => /^SV-(\d+)(?=R\d|$)/.exec(plainRuleId(ruleId))?.[1] ?? null;

/** The first of several candidates in document order. */
function firstOf([row, ...others]: FindingRow[], matchedBy: FoundRule['matchedBy']): FoundRule {
  const id = plainRuleId(row!.ruleId);
  return { row: row!, matchedBy, equals: others.filter((each) => plainRuleId(each.ruleId) !== id) };
}

/** Makes the look-up of rules of a release: by rule id, then V-id, then legacy ids (rule D29.2). */
export function createRuleFinder({ target, others }: IdentifiedRelease) {
  const { findings } = target;
  const byId = Map.groupBy(findings, (row) => plainRuleId(row.ruleId));
  const byNumber = Map.groupBy(findings, (row) => svNumber(row.ruleId) ?? plainRuleId(row.ruleId));
  const byGroup = Map.groupBy(findings, (row) => row.groupId.toUpperCase());
  const legacy = findings.flatMap((row) => row.legacyIds.map((id) => ({ id: id.trim().toUpperCase(), row })));
  const byLegacy = Map.groupBy(legacy, ({ id }) => id);
  const ofLegacy = (id: string) => byLegacy.get(id)?.map(({ row }) => row);
  /** The matching rule of the target for each rule id of another release. Filled on first use. */
  let successors: Map<string, { row: FindingRow; version: string }> | null = null;

  return {
    rule({ id, legacyIds }: { id: string; legacyIds: string[] }): FoundRule | null {
      const exact = byId.get(plainRuleId(id));
      if (exact) return firstOf(exact, 'ruleId');
      const number = svNumber(id);
      const group =
        number !== null && Number(number) >= oneNumberFrom ? byGroup.get(`V-${number}`) : undefined;
      const same = (number === null ? undefined : byNumber.get(number)) ?? group;
      if (same) return firstOf(same, 'groupId');
      // Some tools write the V-id.
      const former = [number === null ? id : `SV-${number}`, ...legacyIds];
      for (const each of former) {
        const rows = byGroup.get(each.toUpperCase()) ?? ofLegacy(each.toUpperCase());
        if (rows) return firstOf(rows, each === id ? 'groupId' : 'legacyId');
      }
      return null;
    },

    /** The successor in the target of a rule of another release: the rule with its STIG id or former number. */
    renamed({ id }: { id: string }): { row: FindingRow; version: string } | null {
      successors ??= new Map(
        others.flatMap(({ release, findings }) =>
          matchRules(findings, target.findings).pairs.map(
            (pair) => [plainRuleId(pair.old.ruleId), { row: pair.new, version: release.version }] as const,
          ),
        ),
      );
      return successors.get(plainRuleId(id)) ?? null;
    },
  };
}
