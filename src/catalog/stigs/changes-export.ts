import { type Column, joined } from '../../http/columns.ts';
import type { FlatFile } from '../../http/downloads.ts';
import { ChangeLine } from './changes-schema.ts';
import type { StigDiff } from './diff-schema.ts';

const columns = Object.keys(ChangeLine.shape).map((name): Column<ChangeLine> => {
  const key = name as keyof ChangeLine;
  return { name, value: (line) => (key === 'classes' ? joined(line.classes) : line[key]) };
});

/** Lines of what changed, as a file of csv or xlsx (rule D26). */
export function changesFile(rows: ChangeLine[]): FlatFile<ChangeLine> {
  return { json: rows, root: 'changes', element: 'rule', columns, rows };
}

/** The name of a file that tells two releases apart. */
export function diffName({ slug, from, to }: Pick<StigDiff, 'slug' | 'from' | 'to'>): string {
  return `${slug}_${from.version}_to_${to.version}_changes`;
}

/** A line for each rule that two releases differ in. */
export function diffLines({ slug, title, from, to, added, removed, changed }: StigDiff): ChangeLine[] {
  const head = { slug, title, from: from.version, to: to.version };
  return [
    ...added.map(({ groupId, ruleVersion, ruleTitle, severity }): ChangeLine => {
      const rule = { groupId, ruleVersion, ruleTitle };
      return { ...head, kind: 'added', classes: [], ...rule, severityFrom: null, severityTo: severity };
    }),
    ...removed.map(({ groupId, ruleVersion, ruleTitle, severity }): ChangeLine => {
      const rule = { groupId, ruleVersion, ruleTitle };
      return { ...head, kind: 'removed', classes: [], ...rule, severityFrom: severity, severityTo: null };
    }),
    ...changed.map((each): ChangeLine => {
      const { groupId, ruleVersion } = each.new;
      const { classes, ruleTitle, severity } = each;
      const rule = { groupId, ruleVersion, ruleTitle };
      const severities = { severityFrom: severityBefore(each), severityTo: severity };
      return { ...head, kind: 'changed', classes, ...rule, ...severities };
    }),
  ];
}

/** The severity that a changed rule had. */
export function severityBefore({ fields, severity }: StigDiff['changed'][number]): typeof severity {
  const field = fields.find((each) => each.field === 'severity');
  return (field?.old as typeof severity | undefined) ?? severity;
}
