import type { Part } from './controls/parts.ts';
import type { OpenLine } from './ledger.ts';
import { excerpt } from './read/text.ts';
import { describeEmptied } from './stigs/emptied-slugs.ts';
import type { Identity } from './stigs/identity.ts';

/**
 * Puts into the ledger lines of a run what was decided about the releases that they brought; `targetOf` gives where the
 * stored source with some bytes belongs by now. Gives the lines whose release is stored.
 */
export function noteDecisions(
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
      const remark = behind ? `; ${describeEmptied(behind)}` : '';
      Object.assign(line, { reason: `operator override: moved from ${line.target}${remark}`, target });
    }
    if (first) line.target = first.target;
    if (first && first.outcome !== 'imported')
      Object.assign(line, { outcome: first.outcome, reason: first.reason });
  }
  return [...firstOf.values()].filter((line) => line.outcome === 'imported');
}

/**
 * Puts into the ledger lines of a run what was removed: a source of the run is rejected, once more under each name; of one that
 * was stored before, the source tells that shows it to be a part.
 */
export function noteParts(lines: OpenLine[], parts: Part[]): void {
  for (const { sourceId, source, reason, wholeId } of parts) {
    const own = lines.find((line) => line.sourceId === sourceId);
    for (const line of lines.filter((each) => own !== undefined && each.sha256 === own.sha256))
      Object.assign(line, { outcome: 'rejected', reason, target: null, counts: {}, sourceId: null });
    const teller =
      lines.find((line) => line.sourceId === wholeId) ?? lines.find((line) => line.sourceId !== null);
    if (own === undefined)
      teller?.warnings.push(`${excerpt(source, 200)}, imported before, is removed: ${reason}`);
  }
}
