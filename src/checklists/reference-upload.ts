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

/** The references of a text, at most so many. Throws a 400 for more. */
export function* referencesIn(text: string, most?: number): Generator<Wanted, References, CatalogAnswer> {
  const vocabulary = (yield { vocabulary: true }) as Vocabulary;
  const places = placesIn(text, vocabulary, most);
  const cited = [...new Map(places.map((place) => [keyOf(place), place])).values()];
  const facts = (yield { references: cited }) as Map<string, ReferenceFact>;
  return referencesOf(places, facts, vocabulary);
}
