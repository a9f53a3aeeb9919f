import type { ChangeClass, DiffFilter, StigDiff } from './diff-schema.ts';

type Filtered = Pick<StigDiff, 'added' | 'removed' | 'changed' | 'renumbered'>;

/** Removes rules of other kinds, classes and severities (of the newer release) from a comparison; its counts stay whole. */
export function filterDiff(diff: StigDiff, filter: DiffFilter): StigDiff {
  const isWanted = (kind: keyof Filtered) => (rule: { severity: StigDiff['added'][number]['severity'] }) =>
    (filter.kind?.has(kind) ?? true) &&
    (filter.severity?.has(rule.severity) ?? true) &&
    (filter.class === undefined || kind === 'changed');
  const hasClass = ({ classes }: { classes: ChangeClass[] }) =>
    classes.some((each) => filter.class?.has(each) ?? true);
  return {
    ...diff,
    added: diff.added.filter(isWanted('added')),
    removed: diff.removed.filter(isWanted('removed')),
    changed: diff.changed.filter(isWanted('changed')).filter(hasClass),
    renumbered: diff.renumbered.filter(isWanted('renumbered')),
  };
}
