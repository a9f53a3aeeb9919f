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

/** Whether an object anywhere in a JSON text names one key twice, however it is escaped; the text must be valid JSON. */
export function hasRepeatedKeys(json: string): boolean {
  const open: (Set<string> | null)[] = [];
  for (const [token, text, isKey] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[[{\]}]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (isKey !== undefined) {
      const keys = open.at(-1)!;
      const key = JSON.parse(text!) as string;
      if (keys.has(key)) return true;
      keys.add(key);
    }
  }
  return false;
}
