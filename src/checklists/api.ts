import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { Cklb } from '../catalog/stigs/cklb-schema.ts';
import type { Access } from '../http/access.ts';
import { answer, fileHeaders, fileTypes, privateHeaders } from '../http/answer.ts';
import type { Env, Presence } from '../http/env.ts';
import { BinaryFile, downloadHeaders, jsonBody, problem, TextFile } from '../http/schema.ts';
import { EmassRows, emassBody } from './emass-schema.ts';
import { maxChecklist } from './read-checklist.ts';
import {
  ChecklistFromResults,
  fromResultsBody,
  fromResultsQuery,
  Inspection,
  inspectBody,
} from './results-schema.ts';
import { maxResults } from './results-upload.ts';
import { ChecklistUpgrade, upgradeBody, upgradeQuery } from './schema.ts';
import type { ApiTask, Upgraded } from './upload.ts';

/** Works on the raw body of a request, off the main thread. */
type WorkOnUpload = (
  upload: ApiTask & { bytes: Uint8Array<ArrayBuffer> },
  caller: Presence,
) => Promise<Upgraded>;

/** The routes for checklists and scan results that a caller sends. The service stores nothing of them. */
export function checklistRoutes(access: Access, work: WorkOnUpload): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const upload = { upload: true, expensive: true };
  const checklists = access.with({ ...upload, maxBody: maxChecklist });
  const results = access.with({ ...upload, maxBody: maxResults });
  const mayBeFile = {
    'Content-Disposition': { ...downloadHeaders['Content-Disposition'], required: false },
  };

  function send(c: Parameters<typeof answer>[0], { bytes, file }: Upgraded): never {
    if (file === null) return answer(c, bytes, privateHeaders) as never;
    // The marking of the old checklist takes precedence over the banner of this server.
    const named = fileHeaders(file.marking || c.get('banner'), file.name);
    return answer(c, bytes, { 'Content-Type': fileTypes[file.type], ...privateHeaders, ...named }) as never;
  }

  const { middleware, ...upgrade } = createRoute({
    method: 'post',
    path: '/api/v1/checklists/upgrade',
    operationId: 'upgradeChecklist',
    summary: 'Upgrade a checklist (ckl or cklb) to a release in the catalog and carry over its answers',
    tags: ['Checklists'],
    ...checklists.user,
    request: { query: upgradeQuery, body: jsonBody(upgradeBody) },
    responses: {
      200: {
        description:
          'The new checklist and a report on each of its rules. With download=true, only the checklist, as a file.',
        headers: mayBeFile,
        content: {
          'application/json': { schema: ChecklistUpgrade.or(Cklb) },
          'application/xml': { schema: TextFile },
        },
      },
      404: problem(404),
    },
  });
  app.openAPIRegistry.registerPath(upgrade);
  // A thread reads and validates the body, here and in the routes below.
  app.openapi({ ...upgrade, middleware, request: { query: upgradeQuery }, hide: true }, async (c) => {
    const { download = false } = c.req.valid('query');
    const task = { from: 'api', task: 'upgrade', bytes: c.get('upload'), download } as const;
    return send(c, await work(task, c.get('record')));
  });

  const { middleware: guard, ...fromResults } = createRoute({
    method: 'post',
    path: '/api/v1/checklists/from-results',
    operationId: 'checklistFromResults',
    summary: 'Make a checklist of the results of a scan (XCCDF or ARF), or merge them into a checklist',
    description:
      'The body is JSON, or the XML of the results itself; then the options are query parameters. At most 64 MiB.',
    tags: ['Checklists'],
    ...results.user,
    request: {
      query: fromResultsQuery,
      body: { required: true, content: { ...jsonBody(fromResultsBody).content, ...xmlBody } },
    },
    responses: {
      200: {
        description:
          'The checklist and a report on each of its rules. With download=true, only the checklist, as a file.',
        headers: mayBeFile,
        content: {
          'application/json': { schema: ChecklistFromResults.or(Cklb) },
          'application/xml': { schema: TextFile },
        },
      },
      404: problem(404),
    },
  });
  app.openAPIRegistry.registerPath(fromResults);
  app.openapi(
    { ...fromResults, middleware: guard, request: { query: fromResultsQuery }, hide: true },
    async (c) => {
      const { download = false, ...query } = c.req.valid('query');
      const task = {
        from: 'api',
        task: 'fromResults',
        bytes: c.get('upload'),
        query: { ...query, download, banner: c.get('banner') },
      } as const;
      return send(c, await work(task, c.get('record')));
    },
  );

  const { middleware: large, ...inspect } = createRoute({
    method: 'post',
    path: '/api/v1/checklists/inspect',
    operationId: 'inspectChecklist',
    summary:
      'Look at a checklist (ckl or cklb) or scan results: which releases they are of, and what is wrong',
    description: 'The body is JSON with `checklist` or `results`, or the file itself. At most 64 MiB.',
    tags: ['Checklists'],
    ...results.user,
    request: { body: { required: true, content: { ...jsonBody(inspectBody).content, ...xmlBody } } },
    responses: {
      200: {
        description: 'What was found for each STIG, with what to do about it.',
        content: { 'application/json': { schema: Inspection } },
      },
    },
  });
  app.openAPIRegistry.registerPath(inspect);
  app.openapi({ ...inspect, middleware: large, request: {}, hide: true }, async (c) =>
    send(c, await work({ from: 'api', task: 'inspect', bytes: c.get('upload') }, c.get('record'))),
  );

  const { middleware: sheets, ...emass } = createRoute({
    method: 'post',
    path: '/api/v1/checklists/emass',
    operationId: 'emassSheet',
    summary: 'Make a sheet for eMASS of checklists: test results, or a POA&M',
    description:
      'What only eMASS knows is left blank. With format=json the rows, and which rules have no place in them. At most 64 MiB.',
    tags: ['Checklists'],
    ...results.user,
    request: { body: jsonBody(emassBody) },
    responses: {
      200: {
        description: 'The sheet.',
        headers: mayBeFile,
        content: {
          'application/json': { schema: EmassRows },
          [fileTypes.xlsx]: { schema: BinaryFile },
        },
      },
      404: problem(404),
    },
  });
  app.openAPIRegistry.registerPath(emass);
  app.openapi({ ...emass, middleware: sheets, request: {}, hide: true }, async (c) => {
    const task = { from: 'api', task: 'emass', bytes: c.get('upload'), banner: c.get('banner') } as const;
    return send(c, await work(task, c.get('record')));
  });

  return app;
}

const xmlBody = { 'application/xml': { schema: TextFile } };
