import { count } from '../src/base/text.ts';
import type { Kind } from '../src/read/import-error.ts';

/** One line of the ledger (rule D20). */
export interface LedgerLine {
  source: string;
  kind: Kind;
  sha256: string | null;
  outcome: Outcome;
  reason: string | null;
  warnings: string[];
  target: string | null;
  counts: Record<string, number>;
  ms: number;
}

/** A ledger line of an unfinished run, with the id of the source that it stored. */
export interface OpenLine extends LedgerLine {
  sourceId: number | null;
}

/** The archives around a source, the outermost first. */
export function archivesAround(source: string): string[] {
  const steps = source.split('!/').slice(0, -1);
  return steps.map((_, index) => steps.slice(0, index + 1).join('!/'));
}

const outcomes = ['imported', 'unchanged', 'superseded', 'skipped', 'rejected'] as const;
type Outcome = (typeof outcomes)[number];

/** Totals of a run; milliseconds in all and by phase. */
export interface LedgerSummary extends Record<Outcome, number> {
  sources: number;
  warnings: number;
  ms: number;
  phases: Record<string, number>;
}

/** The lines of a run that `--strict` refused for `bad` sources: what it would have stored becomes `skipped`. */
export function refusedByStrict(lines: LedgerLine[], bad: number): LedgerLine[] {
  const isMade = ({ outcome }: LedgerLine) => outcome === 'imported' || outcome === 'superseded';
  const made = new Set(lines.filter(isMade).map((line) => line.sha256));
  const reason = `nothing was stored: --strict was given, and ${count(bad, 'source')} cannot be imported`;
  return lines.map((line) =>
    made.has(line.sha256) ? { ...line, outcome: 'skipped', reason, target: null, counts: {} } : line,
  );
}

/** The result of a run, in the words of its exit codes (rule D44.2). */
export type Result = 'done' | 'done in part' | 'failed';

/** `failed` if `--strict` refused the run or no file was good, `done in part` if some were rejected. */
export function resultOf(lines: LedgerLine[], refusedByStrict: boolean): Result {
  const isUsed = ({ kind, outcome }: LedgerLine) =>
    kind !== 'archive' && outcome !== 'skipped' && outcome !== 'rejected';
  if (refusedByStrict || !lines.some(isUsed)) return 'failed';
  return lines.some(({ outcome }) => outcome === 'rejected') ? 'done in part' : 'done';
}

/** Totals of the lines of a run. */
export function summarize(lines: LedgerLine[], phases: Record<string, number>, ms: number): LedgerSummary {
  const counts = outcomes.map((outcome) => [
    outcome,
    lines.filter((line) => line.outcome === outcome).length,
  ]);
  return {
    sources: lines.length,
    ...(Object.fromEntries(counts) as Record<Outcome, number>),
    warnings: lines.reduce((sum, line) => sum + line.warnings.length, 0),
    ms: roundMs(ms),
    phases: Object.fromEntries(Object.entries(phases).map(([phase, time]) => [phase, roundMs(time)])),
  };
}

export function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}
