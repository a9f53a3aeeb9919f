import type { Part, Removed } from './controls/parts.ts';
import type { DocumentOutcome } from './guidance/documents.ts';
import type { OpenLine } from './ledger-lines.ts';
import { excerpt } from './read/source-text.ts';
import type { ScapOutcome } from './stigs/derive-scap.ts';
import type { IdentityOutcomes } from './stigs/identity-outcomes.ts';

/** Writes decisions into the lines, with warnings; `targetOf` gives the present target of a stored source. */
export function noteDecisions(
  lines: OpenLine[],
  { decisions, remarks }: IdentityOutcomes,
  targetOf: (sha256: string) => string | null,
): void {
  const firstOf = new Map<string, OpenLine>();
  for (const line of lines) {
    const decision = line.releaseId === null ? undefined : decisions.get(line.releaseId);
    if (!decision) continue;
    Object.assign(line, { outcome: decision.outcome, reason: decision.reason, target: decision.slug });
    line.warnings.push(...decision.warnings);
    firstOf.set(line.sha256!, line);
  }
  for (const line of lines.filter((each) => each.outcome === 'unchanged' && each.kind === 'xccdf')) {
    const target = targetOf(line.sha256!);
    if (line.target !== null && line.target !== target) line.reason = `moved from ${line.target}`;
    line.target = target;
    // The same bytes again in this run have the result of the first.
    const first = firstOf.get(line.sha256!);
    if (first && first.outcome !== 'imported')
      Object.assign(line, { outcome: first.outcome, reason: first.reason });
  }
  for (const { slug, text } of remarks) {
    const about = lines.find((line) => line.target === slug && line.sourceId !== null);
    (about ?? lines.find((line) => line.sourceId !== null) ?? lines[0])?.warnings.push(text);
  }
}

/** Sets an opened archive of which nothing was new to `unchanged` (rule D44.2), at any depth. */
export function noteArchives(lines: OpenLine[]): void {
  const withNews = new Set<string>();
  for (const { source, kind, outcome } of lines)
    if (kind !== 'archive' && (outcome === 'imported' || outcome === 'superseded'))
      for (let at = source.lastIndexOf('!/'); at > 0; at = source.lastIndexOf('!/', at - 1))
        withNews.add(source.slice(0, at));
  for (const line of lines)
    if (line.kind === 'archive' && line.outcome === 'imported' && !withNews.has(line.source))
      line.outcome = 'unchanged';
}

/** Writes what became of documents into the lines of their sources, also where one came twice or before. */
export function noteDocuments(lines: OpenLine[], outcomes: DocumentOutcome[]): void {
  const bySource = new Map(outcomes.map((outcome) => [outcome.sha256, outcome]));
  for (const line of lines) {
    const outcome = bySource.get(line.sha256 ?? '');
    if (outcome === undefined || line.outcome === 'rejected') continue;
    const { target = null, counts = {}, reason, warnings } = outcome;
    if (reason !== null) Object.assign(line, { outcome: 'superseded', reason });
    else if (line.outcome === 'unchanged') line.target = target;
    else Object.assign(line, { target, counts, warnings: [...line.warnings, ...warnings] });
  }
}

/** Writes what became of the SCAP contents of this run into the lines of their sources. */
export function noteScap(lines: OpenLine[], outcomes: ScapOutcome[]): void {
  for (const { sourceId, reason, warnings } of outcomes) {
    const line = lines.find((each) => each.sourceId === sourceId);
    if (line === undefined) continue;
    line.warnings.push(...warnings);
    if (reason !== null) Object.assign(line, { outcome: 'superseded', reason });
  }
}

/** Rejects removed sources of this run, under each name; the line of the whole warns of earlier ones. */
export function noteRemoved(lines: OpenLine[], removed: (Removed & Partial<Part>)[]): void {
  for (const { sourceId, source, reason, wholeId } of removed) {
    const own = lines.find((line) => line.sourceId === sourceId);
    for (const line of lines.filter((each) => own !== undefined && each.sha256 === own.sha256))
      Object.assign(line, { outcome: 'rejected', reason, target: null, counts: {}, sourceId: null });
    const teller =
      lines.find((line) => line.sourceId === wholeId) ?? lines.find((line) => line.sourceId !== null);
    if (own === undefined)
      teller?.warnings.push(`${excerpt(source, 200)}, imported before, is removed: ${reason}`);
  }
}
