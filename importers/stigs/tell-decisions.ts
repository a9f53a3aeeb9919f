import type { OpenLine } from '../ledger.ts';
import type { Identity } from './identity.ts';
import { tellLeftBehind } from './left-behind.ts';

/**
 * Puts into the ledger lines of a run what was decided about the releases that they brought; `targetOf` gives where the
 * stored source with some bytes belongs by now. Gives the lines whose release is stored.
 */
export function tellDecisions(
  lines: OpenLine[],
  { decisions, moved, left }: Identity,
  targetOf: (sha256: string) => string | null,
): OpenLine[] {
  const firstOf = new Map<string, OpenLine>();
  for (const line of lines) {
    const decision = line.releaseId === null ? undefined : decisions.get(line.releaseId);
    if (!decision) continue;
    Object.assign(line, { outcome: decision.outcome, reason: decision.reason, target: decision.slug });
    if (decision.outcome === 'rejected') line.counts = {};
    firstOf.set(line.sha256!, line);
  }
  // The same bytes once more in this run share the fate of the first.
  for (const line of lines.filter((each) => each.outcome === 'unchanged')) {
    const first = firstOf.get(line.sha256!);
    const target = moved > 0 ? targetOf(line.sha256!) : null;
    if (target !== null && target !== line.target) {
      const behind = left.find(({ slug }) => slug === line.target);
      const remark = behind ? `; ${tellLeftBehind(behind)}` : '';
      Object.assign(line, { reason: `operator override: moved from ${line.target}${remark}`, target });
    }
    if (first) line.target = first.target;
    if (first && first.outcome !== 'imported')
      Object.assign(line, { outcome: first.outcome, reason: first.reason });
  }
  return [...firstOf.values()].filter((line) => line.outcome === 'imported');
}
