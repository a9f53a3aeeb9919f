/** The sort order of a list: a column name, with `-` before it for descending order. */
export type Sort<T extends string> = T | `-${T}`;

export function sortOf<T extends string>(sort: Sort<T>): { column: T; down: boolean } {
  const down = sort.startsWith('-');
  return { column: (down ? sort.slice(1) : sort) as T, down };
}
