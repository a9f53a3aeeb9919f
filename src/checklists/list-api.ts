import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Ask } from '../base/ask.ts';
import { streamFromWorker } from '../base/worker-messages.ts';
import type { Access } from '../http/access.ts';
import { downloadStream, privateHeaders } from '../http/answer.ts';
import type { Env } from '../http/env.ts';
import { createRoutes } from '../http/route.ts';
import { BinaryFile, downloadHeaders } from '../http/schema.ts';
import { type ChecklistZip, checklistsBody, type ListChecklists } from './host-zip.ts';
import { listChecklists } from './jobs.ts';

/** Bytes of a header that names missing STIGs or warns; a proxy refuses answers with long headers. */
const longestHeader = 2000;

/** The id in a path, without validation: every id that matches no list gets the same 404. */
const listParam = z.object({ id: z.string().openapi({ format: 'uuid' }) });

/** The API of checklists of a list for hosts (rule D28.2). */
export function listChecklistRoutes(access: Access, ask: Ask) {
  const { app, route } = createRoutes('Checklists');

  route(
    'POST /api/v1/lists/{id}/checklists',
    access.with({ expensive: true, made: true }).audited('list.checklists').user,
    {
      operationId: 'makeListChecklists',
      summary:
        'Make checklists (cklb or ckl) of the STIGs in a list for up to 500 hosts, named or kept with it, as one zip',
      description:
        'One file for each host and STIG, or one for each host. At most 5,000 files. STIGs that are no longer in the catalog are left out and named in `X-Not-In-Catalog`.',
      params: listParam,
      body: checklistsBody,
      response: {
        description: 'The zip. It is streamed.',
        headers: {
          ...downloadHeaders,
          'X-Not-In-Catalog': {
            description:
              'The slugs of the STIGs that were left out, separated by commas. Absent when there is none.',
            schema: { type: 'string' },
          },
          'X-Warnings': {
            description:
              'Words about hosts whose names are no names of RFC 1123, percent-encoded, separated by commas. Absent when there is none.',
            schema: { type: 'string' },
          },
        },
        content: { 'application/zip': { schema: BinaryFile } },
      },
      async handle({ user, params, body }, c) {
        return answerZip(c, await ask(listChecklists, user, params.id, body));
      },
    },
  );

  return app;
}

/** Answers the zip, with headers that name the STIGs that it lacks and the warnings. */
export function answerZip(
  c: Context<Env>,
  { zip, name, gone, warnings }: ListChecklists,
  headers: Record<string, string> = privateHeaders,
): Response {
  const hostHeaders = Object.entries({ 'X-Not-In-Catalog': gone, 'X-Warnings': warnings })
    .filter(([, texts]) => texts.length > 0)
    .map(([header, texts]) => [header, texts.map(encodeURIComponent).join(',').slice(0, longestHeader)]);
  const record = c.get('record');
  const failed = (error: Error) => {
    record.fault = error;
  };
  const file = { held: zip.held, stream: () => streamOfZip(zip, failed) };
  return downloadStream(c, file, 'zip', name, { ...headers, ...Object.fromEntries(hostHeaders) });
}

/** The bytes of a zip, which a worker makes while they are read; `failed` is called with the error of a worker that fails. */
export const streamOfZip = (zip: ChecklistZip, failed?: (error: Error) => void) =>
  streamFromWorker('checklists/zip-worker', zip, failed);
