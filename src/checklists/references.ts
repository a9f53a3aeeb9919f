import type { Ask } from '../base/ask.ts';
import { AppError, badRequest } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import type { Access } from '../http/access.ts';
import { answer, privateHeaders } from '../http/answer.ts';
import { createRoutes } from '../http/route.ts';
import { check, jsonBody, jsonContent, TextFile } from '../http/schema.ts';
import type { WorkOnUpload } from './api.ts';
import { uploadJobs } from './jobs.ts';
import { keyOf, largestText, placesIn, referencesOf } from './reference-lookup.ts';
import { References, referencesBody } from './reference-schema.ts';
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

/** The most bytes of a body: a text of 8 MiB may be twice as long as JSON. */
const maxReferences = 16 * 1024 * 1024;

/** The route for a text that cites ids. A thread reads it; the service stores nothing. */
export function referenceRoutes(access: Access, work: WorkOnUpload) {
  const { app, route } = createRoutes('References');

  route(
    'POST /api/v1/references',
    access.with({ upload: true, expensive: true, maxBody: maxReferences }).user,
    {
      operationId: 'findReferences',
      summary:
        'Find every id of a rule, control, CCI or SRG requirement in a text, and say what became of it',
      description:
        'The body is JSON with `text`, or the text itself as `text/plain`: at most 8 MiB, with at most 50,000 ids.',
      rawBody: {
        required: true,
        content: { ...jsonBody(referencesBody).content, 'text/plain': { schema: TextFile } },
      },
      response: jsonContent(References, 'The ids in the order of the text.'),
      handle: async (_, c) => {
        const isText = /^text\/plain\b/i.test(c.req.header('Content-Type') ?? '');
        const task = { from: 'api', task: 'references', isText, bytes: c.get('upload') } as const;
        const { bytes } = await work(task, c.get('record'));
        return answer(c, bytes, privateHeaders);
      },
    },
  );

  return app;
}
