import { plainRuleId } from '../base/rule-ids.ts';
import type { CklbRule } from '../catalog/stigs/cklb-schema.ts';
import { classesOf, fieldChanges } from '../catalog/stigs/compare.ts';
import type { IdentifiedRelease } from '../catalog/stigs/identify.ts';
import type { FindingRow } from '../catalog/stigs/queries.ts';
import type { FoundRule } from './results-match.ts';
import type { RuleResult } from './results-reader.ts';
import { shortList } from './stig-names.ts';

type Status = CklbRule['status'];

export type MatchedResult = FoundRule & { result: RuleResult };

const decided: Record<string, Status> = {
  fail: 'open',
  pass: 'not_a_finding',
  fixed: 'not_a_finding',
  notapplicable: 'not_applicable',
};

/** The status for a result word of XCCDF (rule D29.2). */
export function statusOf(result: string): Status {
  return Object.hasOwn(decided, result) ? decided[result]! : 'not_reviewed';
}

/** The first of these wins when a rule has several results: an open finding must not hide. */
const ranks: Status[] = ['open', 'not_reviewed', 'not_a_finding', 'not_applicable'];

const whyNot: Record<string, string> = {
  notchecked: 'the tool did not check it',
  error: 'its check ended with an error',
  unknown: 'its check came to no result',
  notselected: 'the profile of the scan leaves it out',
  informational: 'its result only informs',
};

/** The message of OpenSCAP for a rule without a check; it does not help an assessor. */
const noCheck = 'No candidate or applicable check found.';

/** The combined results of a rule: one, or several of one status. */
export interface Outcome {
  status: Status;
  result: string;
  finding_details: string;
  comments: string;
  reasons: string[];
}

/** The rules of the other releases of a STIG by `plainRuleId`; the first of several. */
export function testedRules({ others }: IdentifiedRelease): ReadonlyMap<string, FindingRow> {
  const rows = others.flatMap(({ findings }) => findings);
  return new Map(rows.reverse().map((row) => [plainRuleId(row.ruleId), row]));
}

/** Combines the results of one rule; null for none. `tested` are the rules of other releases. */
export function outcomeOf(
  all: MatchedResult[],
  tool: string | null,
  tested: ReadonlyMap<string, FindingRow>,
): Outcome | null {
  if (all.length === 0) return null;
  const status = ranks.find((rank) => all.some(({ result }) => statusOf(result.result) === rank))!;
  const winners = all.filter(({ result }) => statusOf(result.result) === status);
  const { result } = winners[0]!.result;
  const reasons: string[] = [];
  if (all.length > 1)
    reasons.push(`${all.length} results: ${all.map((each) => each.result.result || 'none').join(', ')}`);
  if (status === 'not_reviewed') {
    const why = Object.hasOwn(whyNot, result) ? whyNot[result] : 'no result that XCCDF knows';
    reasons.push(result === '' ? 'its result is empty' : `${result.slice(0, 64)}: ${why}`);
  }
  const other = all.find((each) => each.matchedBy !== 'ruleId');
  if (other) reasons.push(revisionReason(other, tested.get(plainRuleId(other.result.id))));
  const tied = all.find(({ equals }) => equals.length > 0);
  if (tied)
    reasons.push(
      `${tied.result.id.slice(0, 64)} fits other rules as well: ${shortList(tied.equals.map((row) => row.groupId))}`,
    );
  const wasFixed = winners.some((each) => each.result.result === 'fixed');
  return {
    status,
    result,
    finding_details: winners.map((each) => detailsOf(each.result, tool)).join('\n'),
    comments: [
      ...winners.map((each) => each.result.comment.trim()),
      wasFixed ? 'The tool fixed this during the scan (result: fixed).' : '',
    ]
      .filter((text) => text !== '')
      .join('\n'),
    reasons,
  };
}

/** The finding details: the texts of the file, then a line with a result that decides the status. */
export function detailsOf(
  { detail, messages, overrides, result, time, check }: RuleResult,
  tool: string | null,
) {
  const said = messages.map((text) => text.trim()).filter((text) => text !== '' && text !== noCheck);
  const text = detail.trim() === '' ? said.join('\n') : detail.trim();
  const source = [tool, time, check].filter((each) => each !== null).join(', ');
  const line = `Result: ${result}${source === '' ? '' : ` (${source})`}`;
  return [
    text,
    ...overrides.map((each) => `Override: ${each}`),
    ...(statusOf(result) === 'not_reviewed' ? [] : [line]),
  ]
    .filter((each) => each !== '')
    .join('\n');
}

function revisionReason({ result, row }: MatchedResult, tested: FindingRow | undefined) {
  const classes = tested ? classesOf(fieldChanges(tested, row)) : [];
  const changed = !tested
    ? ''
    : classes.length === 0
      ? ' (nothing changed)'
      : ` (changed: ${classes.join(', ')})`;
  return `tested as ${result.id.slice(0, 64)}, the release has ${row.ruleId}${changed}`;
}
