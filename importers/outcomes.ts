// What is known only when all sources are read goes into the open lines of the ledger.
import type { SourceProblem } from '../src/read/import-error.ts';
import type { Part, Removed } from './controls/parts.ts';
import type { DocumentOutcome } from './guidance/documents.ts';
import { archivesAround, type OpenLine } from './ledger-lines.ts';
import { excerpt } from './read/source-text.ts';
import type { IdentityOutcomes } from './stigs/identity-outcomes.ts';

/** Adds warnings to the lines of their sources. */
export function noteProblems(lines: OpenLine[], problems: SourceProblem[]): void {
  for (const { sourceId, message } of problems) lineOf(lines, sourceId)?.warnings.push(message);
}

/** What deriving finds out of sources: warnings, and why nothing of some counts. */
interface SourceOutcomes {
  problems: SourceProblem[];
  superseded: Map<number, string>;
}

/** Notes what deriving found out in the lines of the sources of this run. */
export function noteOutcomes(lines: OpenLine[], { problems, superseded }: SourceOutcomes): void {
  noteProblems(lines, problems);
  for (const [sourceId, reason] of superseded) {
    const line = lineOf(lines, sourceId);
    if (line) Object.assign(line, { outcome: 'superseded', reason });
  }
}

const lineOf = (lines: OpenLine[], sourceId: number) => lines.find((line) => line.sourceId === sourceId);

/** Writes decisions into the lines, with warnings; `targetOf` gives the present target of a stored source. */
export function noteDecisions(
  lines: OpenLine[],
  { decisions, remarks }: IdentityOutcomes,
  targetOf: (sha256: string) => string | null,
): void {
  const firstOf = new Map<string, OpenLine>();
  for (const line of lines) {
    const decision = decisions.get(line.sourceId ?? -1);
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
    (about ?? firstStored(lines) ?? lines[0])?.warnings.push(text);
  }
}

const firstStored = (lines: OpenLine[]) => lines.find((line) => line.sourceId !== null);

/** Sets an opened archive of which nothing was new to `unchanged` (rule D44.2), at any depth. */
export function noteArchives(lines: OpenLine[]): void {
  const isNew = ({ kind, outcome }: OpenLine) =>
    kind !== 'archive' && (outcome === 'imported' || outcome === 'superseded');
  const withNews = new Set(lines.filter(isNew).flatMap(({ source }) => archivesAround(source)));
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

/** Rejects removed sources of this run, under each name; the line of the whole warns of earlier ones. */
export function noteRemoved(lines: OpenLine[], removed: (Removed & Partial<Part>)[]): void {
  for (const { sourceId, source, reason, wholeId } of removed) {
    const own = lineOf(lines, sourceId);
    if (own === undefined) {
      const informedLine = lines.find((line) => line.sourceId === wholeId) ?? firstStored(lines);
      informedLine?.warnings.push(`${excerpt(source, 200)}, imported before, is removed: ${reason}`);
    } else {
      for (const line of lines.filter(({ sha256 }) => sha256 === own.sha256))
        Object.assign(line, { outcome: 'rejected', reason, target: null, counts: {}, sourceId: null });
    }
  }
}
