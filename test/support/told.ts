/** Some fields of each item, as one text each: `['imported good', 'rejected null']`. */
export function told<T>(list: readonly T[], ...names: (keyof T)[]): string[] {
  return list.map((item) => names.map((name) => String(item[name])).join(' '));
}

/** The values of a text that has one in JSON on each line. */
// biome-ignore lint/suspicious/noExplicitAny: values of every shape
export function jsonLines(text: string): any[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
