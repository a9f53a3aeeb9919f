import { z } from '@hono/zod-openapi';
import { fold } from '../base/text.ts';
import { requestText } from './schema.ts';

/** An array of at most `most` items in a body (rule D2.6); zod alone would first check and report every item. */
export function boundedArray<T extends z.ZodType>(
  item: T,
  name: string,
  things: string,
  { least = 0, most }: { least?: 0 | 1; most: number },
) {
  const atMost = most.toLocaleString('en-US');
  const wrongNumber =
    least === 0
      ? `${name} must contain at most ${atMost} ${things}`
      : `${name} must contain 1 to ${atMost} ${things}`;
  const wrongType = { error: `${name} must be an array of ${things}` };
  const array = z.array(item, wrongType).max(most);
  return z.preprocess(
    (value, context) => {
      if (!Array.isArray(value) || value.length <= most) return value;
      context.addIssue({ code: 'custom', message: wrongNumber });
      return z.NEVER;
    },
    least === 0 ? array : array.min(1, { error: wrongNumber }),
  );
}

/** A bounded array of texts of at most `characters` characters. */
export function textList(
  name: string,
  things: string,
  { characters, ...items }: { characters: number; least?: 0 | 1; most: number },
) {
  const text = z
    .string({ error: `${name} must be an array of ${things}` })
    .pipe(requestText(name, characters))
    .openapi({ maxLength: characters });
  return boundedArray(text, name, things, items);
}

/** The most values of a query parameter (rule D2.6). */
export const mostValues = 1000;

/** The values of a parameter that may be repeated and, with a separator, hold several. */
function severalValues<T extends z.ZodType>(name: string, value: T, separator?: ',') {
  const valuesIn = (text: unknown) =>
    separator === undefined || typeof text !== 'string' ? [text] : text.split(separator);
  return z.preprocess(
    (given) => (given === undefined ? undefined : [given].flat().flatMap(valuesIn)),
    z.array(value).max(mostValues, { error: `${name} must have at most ${mostValues} values` }),
  );
}

/** How OpenAPI describes a parameter with several values: repeated, as generated clients send arrays. */
const repeated = {
  param: { style: 'form' as const, explode: true },
  type: 'array' as const,
  items: { type: 'string' as const },
  maxItems: mostValues,
};

/** One or more texts of a query parameter, as an array. */
export function textOrTexts(name: string, characters: number) {
  return severalValues(name, requestText(name, characters)).openapi(repeated);
}

/**
 * A list of known words, comma-separated or repeated, compared case-insensitively unless `read` finds the word of a text;
 * an unknown word is a 400 (D3.2).
 */
export function wordList<const T extends string>(
  name: string,
  words: readonly T[],
  read = (text: string) => words.find((word) => word.toLowerCase() === text.trim().toLowerCase()),
) {
  return severalValues(name, z.string(), ',')
    .transform((given, context) => {
      const known = given.map(read);
      if (known.includes(undefined)) {
        context.addIssue({ code: 'custom', message: `${name} must be one or more of: ${words.join(', ')}` });
        return z.NEVER;
      }
      return new Set(known as T[]);
    })
    .optional()
    .openapi(arrayOf(words));
}

/** A list of names of the catalog, comma-separated or repeated; folded, but not checked. */
export function nameList(name: string, characters: number) {
  return severalValues(name, requestText(name, characters), ',')
    .transform((names) => new Set(names.map((each) => fold(each.trim()))))
    .optional()
    .openapi(repeated);
}

/** How OpenAPI describes a parameter that takes several of some words. */
function arrayOf(words: readonly string[]) {
  return {
    ...repeated,
    items: { type: 'string' as const, enum: [...words] },
    description: 'One or more of these, repeated or separated by commas. Case is ignored.',
    example: [words[0]],
  };
}
