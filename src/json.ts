/** JSON text, with the type of the value that it stands for. */
export type JsonText<T> = string & { readonly of?: T };

/** The text of an object with the given entries, in their order (objects would put number-like keys first). */
export function objectText<T>(entries: Iterable<[string, JsonText<T>]>): JsonText<Record<string, T>> {
  return `{${[...entries].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

/** The text of an array of the given texts. */
export function arrayText<T>(texts: JsonText<T>[]): JsonText<T[]> {
  return `[${texts.join(',')}]`;
}
