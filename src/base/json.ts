import { badRequest } from './errors.ts';

/** JSON text, typed with its value. */
export type JsonText<T> = string & { readonly of?: T };

/** Whether a JSON value is an object: not null, not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Decodes a request body; `name` is for the message. Throws 400 for invalid UTF-8. */
export function utf8Body(bytes: Uint8Array, name = 'The request body'): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest(`${name} is not valid UTF-8`);
  }
}

/** JSON of an object with the entries in this order (JavaScript objects put number-like keys first). */
export function objectText<T>(entries: Iterable<[string, JsonText<T>]>): JsonText<Record<string, T>> {
  return `{${[...entries].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

/** The bounds of JSON in a large request: beyond any real checklist, within the memory of a small server. */
export const jsonLimits = { depth: 32, values: 1_000_000 };

/**
 * Throws 400 for JSON text that is nested too deep or has too many values, before parsing makes objects of many times
 * its size. `name` is for the message. Does not check that the text is JSON.
 */
export function refuseHeavyJson(text: string, name: string, limits = jsonLimits): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfText(text, at);
        if (at < 0) return;
        break;
      case 0x5b:
      case 0x7b:
        values++;
        if (++depth > limits.depth) throw badRequest(`${name} is nested deeper than ${limits.depth} levels`);
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
      case 0x2c:
        values++;
        break;
    }
    if (values > limits.values) throw badRequest(`${name} contains more than ${limits.values} values`);
  }
}

/** The index of the closing quotation mark; -1 where there is none. */
function endOfText(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at > 0; at = json.indexOf('"', at + 1)) {
    let slash = at;
    while (json.charCodeAt(slash - 1) === 0x5c) slash--;
    if ((at - slash) % 2 === 0) return at;
  }
  return -1;
}

/** Whether any object in a JSON value has a member `__proto__`, which libraries drop without a word. */
export function hasPrototypeMember(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasPrototypeMember);
}

/** The path to the first repeated member of an object in valid JSON, escaped or not; null where none repeats. */
export function repeatedMember(json: string): (string | number)[] | null {
  // The open objects and arrays, each with its current member or item.
  const open: { keys: Set<string> | null; step: string | number }[] = [];
  let start = 0;
  let end = 0;
  for (let at = 0; at < json.length; at++) {
    const inner = open[open.length - 1];
    switch (json.charCodeAt(at)) {
      case 0x22:
        start = at;
        at = endOfText(json, at);
        if (at < 0) return null;
        end = at + 1;
        break;
      case 0x3a: {
        const key = JSON.parse(json.slice(start, end)) as string;
        inner!.step = key;
        if (inner!.keys!.has(key)) return open.map(({ step }) => step);
        inner!.keys!.add(key);
        break;
      }
      case 0x2c:
        if (inner!.keys === null) inner!.step = (inner!.step as number) + 1;
        break;
      case 0x7b:
        open.push({ keys: new Set(), step: '' });
        break;
      case 0x5b:
        open.push({ keys: null, step: 0 });
        break;
      case 0x5d:
      case 0x7d:
        open.pop();
        break;
    }
  }
  return null;
}
