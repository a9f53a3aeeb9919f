import { compareCodePoints } from './text.ts';

/** What a listing is sorted by: the name of a column, with `-` before it from the greatest on. */
export type Sort<T extends string> = T | `-${T}`;

/** The column and the direction that are meant. */
export function sortOf<T extends string>(sort: Sort<T>): { column: T; down: boolean } {
  const down = sort.startsWith('-');
  return { column: (down ? sort.slice(1) : sort) as T, down };
}

/** Rows by a column, what has none of it last; equal ones stay in the order in which they come. */
export function sortRows<T extends string, Row>(
  rows: Row[],
  sort: Sort<T> | undefined,
  values: Record<T, (row: Row) => string | number | null>,
): Row[] {
  if (sort === undefined) return rows;
  const { column, down } = sortOf(sort);
  const read = values[column];
  return rows.toSorted((one, other) => {
    const [a, b] = [read(one), read(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order =
      typeof a === 'number' && typeof b === 'number' ? a - b : compareCodePoints(String(a), String(b));
    return down ? -order : order;
  });
}
