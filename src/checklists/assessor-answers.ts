import { parse } from 'csv-parse/sync';
import { CommandError } from '../base/errors.ts';
import type { Cklb } from '../catalog/stigs/cklb-schema.ts';

export interface AssessorAnswer {
  status: 'not_a_finding' | 'not_applicable' | 'open' | 'not_reviewed';
  /** File names, separated by spaces; may be empty. */
  evidence: string;
  comment: string;
}

const columns = ['groupId', 'status', 'evidence', 'comment'];
const statuses = ['not_a_finding', 'not_applicable', 'open', 'not_reviewed'] as const;

/** Reads a CSV of groupId, status, evidence and comment. Throws a `CommandError` with `name` and the line. */
export function readAnswers(text: string, name: string): Map<string, AssessorAnswer> {
  let rows: { record: Record<string, string>; info: { lines: number } }[];
  try {
    rows = parse(text, { bom: true, columns: true, info: true, skip_empty_lines: true });
  } catch (error) {
    throw new CommandError(`${name}: ${(error as Error).message.split('\n')[0]}`);
  }
  const answers = new Map<string, AssessorAnswer>();
  for (const { record, info } of rows) {
    const refuse = (what: string) => new CommandError(`${name}, line ${info.lines}: ${what}`);
    for (const column of columns)
      if (record[column] === undefined) throw refuse(`the column ${column} is missing`);
    const { groupId = '', evidence = '', comment = '' } = record;
    const status = statuses.find((each) => each === record.status);
    if (!/^V-\d+$/.test(groupId))
      throw refuse(`groupId must have the form V-222387, not "${groupId.slice(0, 64)}"`);
    if (!status) throw refuse(`status must be one of: ${statuses.join(', ')}`);
    if (answers.has(groupId)) throw refuse(`${groupId} is answered twice`);
    answers.set(groupId, { status, evidence, comment });
  }
  return answers;
}

/** Fills a checklist in place. Returns the group ids of rules without an answer, and of answers without a rule. */
export function answerChecklist(
  checklist: Cklb,
  answers: ReadonlyMap<string, AssessorAnswer>,
): { unanswered: string[]; unknown: string[] } {
  const unknown = new Set(answers.keys());
  const unanswered: string[] = [];
  for (const rule of checklist.stigs.flatMap((stig) => stig.rules)) {
    const answer = answers.get(rule.group_id);
    unknown.delete(rule.group_id);
    if (!answer) {
      unanswered.push(rule.group_id);
      continue;
    }
    rule.status = answer.status;
    const evidence = answer.evidence === '' ? [] : [`Evidence: ${answer.evidence}`];
    rule.finding_details = [answer.comment, ...evidence].filter((text) => text !== '').join('\n');
  }
  return { unanswered, unknown: [...unknown] };
}
