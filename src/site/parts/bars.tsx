import { count } from '../../base/text.ts';
import { Day } from './components.tsx';

/** The width of a bar in its own units; the page gives it the room that there is. */
const width = 240;
const height = 12;

/** How many rules there are of each severity, as one bar; `of` fills its whole width. The numbers stand beside it. */
export function SeverityBar({
  counts,
  of,
}: {
  counts: Record<'high' | 'medium' | 'low', number>;
  of: number;
}) {
  let at = 0;
  return (
    <svg class="bar-of" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {(['high', 'medium', 'low'] as const).map((level) => {
        const length = of === 0 ? 0 : (counts[level] / of) * width;
        const x = at;
        at += length;
        // A line is left between two of them, so that they are told apart without color.
        return length === 0 ? null : (
          <rect class={level} x={round(x)} y="0" width={round(Math.max(length - 1, 0.5))} height={height} />
        );
      })}
    </svg>
  );
}

/** How old something is, as a bar; `of` days fill its whole width. The days stand beside it. */
export function AgeBar({ days, of }: { days: number; of: number }) {
  const length = of === 0 ? 0 : (days / of) * width;
  return (
    <svg class="bar-of" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <rect class="age" x="0" y="0" width={round(Math.max(length, 0.5))} height={height} />
    </svg>
  );
}

/** The date so many days before a moment. */
export function daysBefore(now: Date, days: number): string {
  return new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 10);
}

/** A date with the days since. */
export function Aged({ date, now }: { date: string | null; now: Date }) {
  const days = daysSince(date, now);
  return (
    <>
      <Day date={date} /> {days === null ? null : <span class="quiet">{count(days, 'day')}</span>}
    </>
  );
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

/** The whole days from a date to a moment; 0 for one that is still to come, null without a date. */
export function daysSince(date: string | null, now: Date): number | null {
  if (date === null) return null;
  return Math.max(0, Math.floor((now.getTime() - Date.parse(date)) / 86_400_000));
}
