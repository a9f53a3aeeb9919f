import type { Access } from '../http/access.ts';
import { downloadStream, privateHeaders } from '../http/answer.ts';
import { createRoutes } from '../http/route.ts';
import { BinaryFile, downloadHeaders } from '../http/schema.ts';
import type { MakeListChecklists } from './list-checklists.ts';
import { checklistsBody, listParam } from './list-checklists-schema.ts';

/** Bytes of the header that names missing STIGs; a proxy refuses answers with long headers. */
const longestHeader = 2000;

/** The API of checklists of a list for hosts (rule D28.2). */
export function listChecklistRoutes(access: Access, make: MakeListChecklists) {
  const { app, route } = createRoutes('Checklists');

  route(
    'POST /api/v1/lists/{id}/checklists',
    access.with({ expensive: true }).audited('list.checklists').user,
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
        const { zip, name, gone, warnings } = await make(user, params.id, body, c.get('record'));
        const said = { 'X-Not-In-Catalog': gone, 'X-Warnings': warnings };
        const headers = Object.entries(said)
          .filter(([, texts]) => texts.length > 0)
          .map(([header, texts]) => [
            header,
            texts.map(encodeURIComponent).join(',').slice(0, longestHeader),
          ]);
        return downloadStream(c, zip, 'zip', name, { ...privateHeaders, ...Object.fromEntries(headers) });
      },
    },
  );

  return app;
}
