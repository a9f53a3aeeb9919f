import { monthOf } from '../read/months.ts';

/** The date of a line that is a date alone: `May 21, 2015`, `21 May 2015` or `2015-05-21`; null for any other line. */
export function dateAlone(line: string): string | null {
  const text = line
    .trim()
    .replace(/^#+\s+/, '')
    .replace(/^([*_]{1,3})([^*_]+)\1$/, '$2')
    .trim();
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (iso) return checked(iso[1]!, Number(iso[2]), Number(iso[3]));
  const american = /^([A-Za-z]{3,9}) (\d{1,2}), (\d{4})$/.exec(text);
  if (american) return checked(american[3]!, monthOf(american[1]!), Number(american[2]));
  const dayFirst = /^(\d{1,2}) ([A-Za-z]{3,9}) (\d{4})$/.exec(text);
  return dayFirst ? checked(dayFirst[3]!, monthOf(dayFirst[2]!), Number(dayFirst[1])) : null;
}

function checked(year: string, month: number, day: number): string | null {
  const date = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  const time = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date) ? date : null;
}
