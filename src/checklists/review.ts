import { pick } from '../base/objects.ts';
import type { Cklb, CklbRule } from '../catalog/stigs/cklb-schema.ts';
import type { OldChecklist } from './cklb-reader.ts';
import type { MadeChecklist } from './results-upload.ts';
import type { RuleAnswer, Upgrade, UpgradedRule } from './schema.ts';

/** What a person needs to decide on one rule of a made checklist. */
export interface ReviewRow {
  slug: string;
  version: string;
  /** The release before: that of the old checklist. */
  from: string;
  severity: CklbRule['severity'];
  groupId: string;
  ruleId: string;
  ruleVersion: string;
  title: string;
  /** The status in the old checklist; null for a rule that it does not have. */
  was: CklbRule['status'] | null;
  now: CklbRule['status'];
  /** The group of the row: an outcome of an upgrade, or the status that results gave. */
  kind: UpgradedRule['outcome'] | CklbRule['status'];
  reason: string;
  isAnswered: boolean;
  lost: RuleAnswer | null;
  changes: UpgradedRule['changes'];
}

/** The rules of an upgraded STIG, in the order of its checklist. */
export function reviewOfUpgrade({ checklist, report }: Upgrade): ReviewRow[] {
  const made = rulesById(checklist);
  const { slug, version } = report.to;
  const from = report.from.version ?? 'before';
  return report.rules.flatMap((each) => {
    const rule = made.get(each.ruleId);
    if (rule === undefined) return [];
    const { outcome, lost } = each;
    return {
      ...pick(each, 'groupId', 'ruleId', 'ruleVersion', 'reason', 'lost'),
      slug,
      version,
      from,
      severity: rule.severity,
      title: rule.rule_title,
      was: outcome === 'new' ? null : ((lost?.status as CklbRule['status'] | undefined) ?? rule.status),
      now: rule.status,
      kind: outcome,
      isAnswered: each.answered,
      changes: outcome === 'carried' ? [] : each.changes,
    };
  });
}

/** The rules of a checklist of scan results; `old` is the one that they were merged into. */
export function reviewOfResults({ checklist, report }: MadeChecklist, old: OldChecklist | null): ReviewRow[] {
  const made = rulesById(checklist);
  const before = new Map(
    (old?.checklist.stigs ?? []).flatMap(({ rules }) => rules.map((rule) => [rule.group_id, rule.status])),
  );
  const { slug, version } = report.release;
  return report.rules.flatMap((each) => {
    const rule = made.get(each.ruleId);
    if (rule === undefined) return [];
    // Some reasons begin with the result.
    const words = each.reason?.startsWith(each.result ?? ' ') ? [each.reason] : [each.result, each.reason];
    return {
      ...pick(each, 'groupId', 'ruleId'),
      slug,
      version,
      from: version,
      severity: rule.severity,
      ruleVersion: rule.rule_version,
      title: rule.rule_title,
      was: before.get(each.groupId) ?? null,
      now: each.status,
      kind: each.status,
      reason: words.filter((word) => word !== null).join(': '),
      isAnswered: each.kept,
      lost: null,
      changes: [],
    };
  });
}

const rulesById = ({ stigs }: Cklb) =>
  new Map(stigs.flatMap(({ rules }) => rules.map((rule) => [rule.rule_id_src, rule] as const)));
