import { columnsOf } from '../../http/columns.ts';
import type { FlatFile } from '../../http/downloads.ts';
import { ChangeLine } from './changes-schema.ts';
import type { StigDiff } from './diff-schema.ts';

const columns = columnsOf(ChangeLine);

/** Lines of changes as a csv or xlsx file (rule D26). */
export function changesFile(rows: ChangeLine[]): FlatFile<ChangeLine> {
  return { json: rows, root: 'changes', element: 'rule', columns, rows };
}

/** The name of a file with the changes between two releases. */
export function diffName({ slug, from, to }: Pick<StigDiff, 'slug' | 'from' | 'to'>): string {
  return `${slug}_${from.version}_to_${to.version}_changes`;
}

/** Makes the function that makes the lines about two releases. */
export const lineOf =
  (head: Pick<ChangeLine, 'slug' | 'title' | 'from' | 'to'>) =>
  (
    { groupId, ruleVersion, ruleTitle }: Pick<ChangeLine, 'groupId' | 'ruleVersion' | 'ruleTitle'>,
    kind: ChangeLine['kind'],
    severityFrom: ChangeLine['severityFrom'],
    severityTo: ChangeLine['severityTo'],
    classes: ChangeLine['classes'] = [],
  ): ChangeLine => ({ ...head, kind, classes, groupId, ruleVersion, ruleTitle, severityFrom, severityTo });

/** A line for each rule that differs between two releases. */
export function diffLines({ slug, title, from, to, added, removed, changed }: StigDiff): ChangeLine[] {
  const line = lineOf({ slug, title, from: from.version, to: to.version });
  return [
    ...added.map((rule) => line(rule, 'added', null, rule.severity)),
    ...removed.map((rule) => line(rule, 'removed', rule.severity, null)),
    ...changed.map((each) => {
      const { ruleTitle, severity, classes } = each;
      return line({ ...each.new, ruleTitle }, 'changed', severityBefore(each), severity, classes);
    }),
  ];
}

/** The severity that a changed rule had. */
export function severityBefore({ fields, severity }: StigDiff['changed'][number]): typeof severity {
  const field = fields.find((each) => each.field === 'severity');
  return (field?.old as typeof severity | undefined) ?? severity;
}
