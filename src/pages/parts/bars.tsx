import { count } from '../../base/text.ts';
import { Day } from './components.tsx';

/** In SVG units; the page scales it. */
const width = 240;
const height = 12;

/** Numbers as parts of one bar, by the class of each; `of` is the number that fills it. */
export function Bar(props: {
  parts: [name: string, number: number][];
  of: number;
  class?: string;
  width?: number;
}) {
  const { parts, of, class: name = 'bar-of', width: whole = width } = props;
  let at = 0;
  return (
    <svg class={name} width={whole} height={height} viewBox={`0 0 ${whole} ${height}`} aria-hidden="true">
      {parts.map(([part, number]) => {
        const length = of === 0 ? 0 : (number / of) * whole;
        const x = at;
        at += length;
        // A gap between two parts: they must be distinct without color.
        return length === 0 ? null : (
          <rect class={part} x={round(x)} y="0" width={round(Math.max(length - 1, 0.5))} height={height} />
        );
      })}
    </svg>
  );
}

/** The numbers of rules by severity as one bar. */
export function SeverityBar({
  counts,
  of,
}: {
  counts: Record<'high' | 'medium' | 'low', number>;
  of: number;
}) {
  return <Bar parts={(['high', 'medium', 'low'] as const).map((level) => [level, counts[level]])} of={of} />;
}

/** An age as a bar; `of` is the number of days that fills it. The page shows the days beside it. */
export function AgeBar({ days, of }: { days: number; of: number }) {
  const length = of === 0 ? 0 : (days / of) * width;
  return (
    <svg class="bar-of" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <rect class="age" x="0" y="0" width={round(Math.max(length, 0.5))} height={height} />
    </svg>
  );
}

/** The date some days before a moment. */
export function daysBefore(now: Date, days: number): string {
  return new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 10);
}

/** An age in the unit that people use for it: days up to two months, months up to two years, years after. */
export function age(days: number): string {
  if (days < 61) return count(days, 'day');
  const months = Math.floor(days / (365.25 / 12));
  return months < 24 ? count(months, 'month') : count(Math.floor(days / 365.25), 'year');
}

/** A date with its age. */
export function Aged({ date, now }: { date: string | null; now: Date }) {
  const days = daysSince(date, now);
  return (
    <>
      <Day date={date} /> {days === null ? null : <span class="quiet">{age(days)}</span>}
    </>
  );
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

/** Whole days from a date to a moment; 0 for a future date, null without one. */
export function daysSince(date: string | null, now: Date): number | null {
  if (date === null) return null;
  return Math.max(0, Math.floor((now.getTime() - Date.parse(date)) / 86_400_000));
}
