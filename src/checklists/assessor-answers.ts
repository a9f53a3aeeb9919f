import { CommandError } from '../base/errors.ts';
import type { Cklb } from '../catalog/stigs/cklb-schema.ts';
import { readTable, type TableRow } from '../read/table.ts';

interface AssessorAnswer {
  status: 'not_a_finding' | 'not_applicable' | 'open' | 'not_reviewed';
  /** File names, separated by spaces; may be empty. */
  evidence: string;
  comment: string;
}

const columns = ['groupId', 'status', 'evidence', 'comment'];
const statuses = ['not_a_finding', 'not_applicable', 'open', 'not_reviewed'] as const;

/** Reads a table of groupId, status, evidence and comment. Throws a `CommandError` with `name` and the line. */
export function readAnswers(text: string, name: string): Map<string, AssessorAnswer> {
  let rows: TableRow[];
  try {
    rows = readTable(text);
  } catch (error) {
    throw new CommandError(`${name}: ${(error as Error).message.split('\n')[0]}`);
  }
  const [header, ...filled] = rows;
  const missing = columns.find((column) => !header?.cells.includes(column));
  if (missing !== undefined) throw new CommandError(`${name}: the column ${missing} is missing`);
  const answers = new Map<string, AssessorAnswer>();
  for (const { cells, line } of filled) {
    const refuse = (what: string) => new CommandError(`${name}, line ${line}: ${what}`);
    const cell = (column: string) => cells[header!.cells.indexOf(column)] ?? '';
    const groupId = cell('groupId');
    const status = statuses.find((each) => each === cell('status'));
    if (!/^V-\d+$/.test(groupId))
      throw refuse(`groupId must have the form V-222387, not "${groupId.slice(0, 64)}"`);
    if (!status) throw refuse(`status must be one of: ${statuses.join(', ')}`);
    if (answers.has(groupId)) throw refuse(`${groupId} is answered twice`);
    answers.set(groupId, { status, evidence: cell('evidence'), comment: cell('comment') });
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
