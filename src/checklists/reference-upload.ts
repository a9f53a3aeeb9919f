import { AppError, badRequest } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { check } from '../http/schema.ts';
import { keyOf, largestText, placesIn, referencesOf } from './reference-scan.ts';
import { type ReferenceFact, type References, referencesBody } from './reference-schema.ts';
import type { Vocabulary } from './reference-vocabulary.ts';
import { answerOf, type CatalogAnswer, parseBody, type Wanted, type Work } from './upload.ts';

/** The references of a body: JSON with `text`, or the text itself (rule D39.1). Throws a 400, 413. */
export function* referencesWork(bytes: Uint8Array, isText: boolean): Work {
  const body = utf8Body(bytes);
  const text = isText ? body : check(referencesBody, parseBody(body)).text;
  if (!text.isWellFormed()) throw badRequest('text must not contain lone surrogates', '/text');
  if (Buffer.byteLength(text) > largestText)
    throw new AppError('PAYLOAD_TOO_LARGE', `The text is larger than ${largestText} bytes`, {}, '/text');
  return answerOf(yield* referencesIn(text));
}

/** Ids in one question to the catalog: a long one holds the event loop while it is copied between threads. */
const atOnce = 500;

/** The references of a text, at most so many. Throws a 400 for more. */
export function* referencesIn(text: string, most?: number): Generator<Wanted, References, CatalogAnswer> {
  const vocabulary = (yield { vocabulary: true }) as Vocabulary;
  const places = placesIn(text, vocabulary, most);
  // In the order of the ids: those of a release lie together.
  const asked = [...new Map(places.map((place) => [keyOf(place), place])).values()].sort((a, b) =>
    a.id < b.id ? -1 : 1,
  );
  const facts = new Map<string, ReferenceFact>();
  for (let from = 0; from < asked.length; from += atOnce) {
    const part = (yield { references: asked.slice(from, from + atOnce) }) as Map<string, ReferenceFact>;
    for (const [key, fact] of part) facts.set(key, fact);
  }
  return referencesOf(places, facts, vocabulary);
}
