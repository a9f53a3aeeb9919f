/** What a listing is sorted by: the name of a column, with `-` before it from the greatest on. */
export type Sort<T extends string> = T | `-${T}`;

/** The column and the direction that are meant. */
export function sortOf<T extends string>(sort: Sort<T>): { column: T; down: boolean } {
  const down = sort.startsWith('-');
  return { column: (down ? sort.slice(1) : sort) as T, down };
}
