import type { Ask } from '../base/ask.ts';
import { AppError, badRequest } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { check } from '../http/schema.ts';
import { uploadJobs } from './jobs.ts';
import { keyOf, largestText, placesIn, referencesOf } from './reference-scan.ts';
import { type References, referencesBody } from './reference-schema.ts';
import { answerOf, parseBody, type Upgraded } from './upload.ts';

/** The references of a body: JSON with `text`, or the text itself (rule D39.1). Throws a 400, 413. */
export async function referencesWork(ask: Ask, bytes: Uint8Array, isText: boolean): Promise<Upgraded> {
  const body = utf8Body(bytes);
  const text = isText ? body : check(referencesBody, parseBody(body)).text;
  if (!text.isWellFormed()) throw badRequest('text must not contain lone surrogates', '/text');
  if (Buffer.byteLength(text) > largestText)
    throw new AppError('PAYLOAD_TOO_LARGE', `The text is larger than ${largestText} bytes`, {}, '/text');
  return answerOf(await referencesIn(ask, text));
}

/** The references of a text, at most so many. Throws a 400 for more. */
export async function referencesIn(ask: Ask, text: string, most?: number): Promise<References> {
  const vocabulary = await ask(uploadJobs.vocabularyOfIds);
  const places = placesIn(text, vocabulary, most);
  const cited = [...new Map(places.map((place) => [keyOf(place), place])).values()];
  const facts = await ask(uploadJobs.factsOfReferences, cited);
  return referencesOf(places, facts, vocabulary);
}
