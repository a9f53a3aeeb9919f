import type { z } from '@hono/zod-openapi';
import { Cklb } from '../catalog/stigs/cklb-schema.ts';
import type { Access } from '../http/access.ts';
import { answer, fileHeaders, fileTypes, privateHeaders } from '../http/answer.ts';
import type { Presence } from '../http/limits.ts';
import { createRoutes, type RequestContext } from '../http/route.ts';
import { BinaryFile, downloadHeaders, jsonBody, jsonContent, TextFile } from '../http/schema.ts';
import { EmassRows, emassBody } from './emass.ts';
import { maxChecklist } from './read-checklist.ts';
import { maxResults } from './results.ts';
import {
  ChecklistFromResults,
  fromResultsBody,
  fromResultsQuery,
  Inspection,
  inspectBody,
} from './results-schema.ts';
import { ChecklistUpgrade, upgradeBody, upgradeQuery } from './schema.ts';
import type { ApiTask, Upgraded } from './upload.ts';

export type WorkOnUpload = (
  upload: ApiTask & { bytes: Uint8Array<ArrayBuffer> },
  caller: Presence,
) => Promise<Upgraded>;

/** The routes for checklists and scan results of a caller. A thread reads their bodies; the service stores nothing. */
export function checklistRoutes(access: Access, work: WorkOnUpload) {
  const { app, route } = createRoutes('Checklists');
  const upload = { upload: true, expensive: true };
  const large = access.with({ ...upload, maxBody: maxResults }).user;

  async function made(c: RequestContext, task: ApiTask): Promise<Response> {
    const { bytes, file } = await work({ ...task, bytes: c.get('upload') }, c.get('record'));
    if (file === null) return answer(c, bytes, privateHeaders);
    // The marking of the old checklist takes precedence over the banner of this server.
    const named = fileHeaders(file.marking || c.get('banner'), file.name);
    return answer(c, bytes, { 'Content-Type': fileTypes[file.type], ...privateHeaders, ...named });
  }

  route('POST /api/v1/checklists/upgrade', access.with({ ...upload, maxBody: maxChecklist }).user, {
    operationId: 'upgradeChecklist',
    summary: 'Upgrade a checklist (ckl or cklb) to a release in the catalog and carry over its answers',
    description:
      'The body is JSON with `checklist`, or the file itself; then the options are query parameters. At most 32 MiB. A gzip is unpacked, up to 64 MiB.',
    query: upgradeQuery,
    rawBody: jsonOrXml(upgradeBody),
    notFound: true,
    response: checklistContent(ChecklistUpgrade),
    handle: ({ query: { download = false, ...query } }, c) =>
      made(c, { from: 'api', task: 'upgrade', query: { ...query, download } }),
  });

  route('POST /api/v1/checklists/from-results', large, {
    operationId: 'checklistFromResults',
    summary: 'Make a checklist of the results of a scan (XCCDF or ARF), or merge them into a checklist',
    description:
      'The body is JSON, or the XML of the results itself; then the options are query parameters. At most 64 MiB. A gzip is unpacked, up to 64 MiB.',
    query: fromResultsQuery,
    rawBody: jsonOrXml(fromResultsBody),
    notFound: true,
    response: checklistContent(ChecklistFromResults),
    handle: ({ query: { download = false, ...query } }, c) => {
      const banner = c.get('banner');
      return made(c, { from: 'api', task: 'fromResults', query: { ...query, download, banner } });
    },
  });

  route('POST /api/v1/checklists/inspect', large, {
    operationId: 'inspectChecklist',
    summary:
      'Look at a checklist (ckl or cklb) or scan results: which releases they are of, and what is wrong',
    description:
      'The body is JSON with `checklist` or `results`, or the file itself. At most 64 MiB. A gzip is unpacked, up to 64 MiB.',
    rawBody: jsonOrXml(inspectBody),
    response: jsonContent(Inspection, 'What was found for each STIG, with what to do about it.'),
    handle: (_, c) => made(c, { from: 'api', task: 'inspect' }),
  });

  route('POST /api/v1/checklists/emass', large, {
    operationId: 'emassSheet',
    summary: 'Make a sheet for eMASS of checklists: test results, or a POA&M',
    description:
      'What only eMASS knows is left blank. With format=json the rows, and which rules have no place in them. At most 64 MiB. A gzip is unpacked, up to 64 MiB.',
    rawBody: jsonBody(emassBody),
    notFound: true,
    response: {
      description: 'The sheet.',
      headers: mayBeFile,
      content: { 'application/json': { schema: EmassRows }, [fileTypes.xlsx]: { schema: BinaryFile } },
    },
    handle: (_, c) => made(c, { from: 'api', task: 'emass', banner: c.get('banner') }),
  });

  return app;
}

const mayBeFile = {
  'Content-Disposition': { ...downloadHeaders['Content-Disposition'], required: false },
};

const jsonOrXml = (schema: z.ZodType) => ({
  required: true,
  content: { ...jsonBody(schema).content, 'application/xml': { schema: TextFile } },
});

const checklistContent = <T extends z.ZodType>(report: T) => ({
  description:
    'The new checklist and a report on each of its rules. With download=true, only the checklist, as a file.',
  headers: mayBeFile,
  content: { 'application/json': { schema: report.or(Cklb) }, 'application/xml': { schema: TextFile } },
});
