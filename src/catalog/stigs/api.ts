import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../../http/access.ts';
import { answer, download } from '../../http/answer.ts';
import { toCsv, toXml } from '../../http/columns.ts';
import type { Env } from '../../http/env.ts';
import { downloadHeaders, errors, jsonContent, TextFile } from '../../http/schema.ts';
import { toCklb } from './cklb.ts';
import { Cklb } from './cklb-schema.ts';
import { findingColumns, toRawStig } from './export.ts';
import type { StigNewsService } from './news.ts';
import type { FullRelease, StigService } from './queries.ts';
import * as schemas from './schema.ts';

/** The STIG catalog (rule D4). Fixed paths come before `{slug}`, which would swallow them. */
export function stigRoutes(access: Access, stigs: StigService, news: StigNewsService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const costly = access.with({ expensive: true });
  const tags = ['STIG catalog'];

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/stigs',
      operationId: 'listStigs',
      summary: 'List STIGs by title',
      tags,
      ...access.user,
      request: { query: schemas.listQuery },
      responses: { 200: jsonContent(schemas.StigList, 'A page of STIGs.'), ...errors(400, 401, 403) },
    }),
    (c) => answer(c, stigs.list(c.req.valid('query'))),
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/stigs/batch',
      operationId: 'getStigBatch',
      summary: 'Get up to 50 STIGs with their findings',
      tags,
      ...costly.user,
      request: { body: { required: true, content: { 'application/json': { schema: schemas.batchBody } } } },
      responses: {
        200: jsonContent(schemas.StigBatch, 'The STIGs that were found.'),
        ...errors(400, 401, 403, 413),
      },
    }),
    (c) => answer(c, stigs.batch(c.req.valid('json').slugs)),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/stigs/stats',
      operationId: 'getStigStatistics',
      summary: 'Count STIGs and findings in current releases',
      tags,
      ...access.with({ kept: null }).user,
      responses: { 200: jsonContent(schemas.StigStats, 'Catalog statistics.'), ...errors(400, 401, 403) },
    }),
    (c) => answer(c, news.stats()),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/stigs/changelog',
      operationId: 'getStigChangelog',
      summary: 'List every retained release, newest first',
      tags,
      ...access.user,
      request: { query: schemas.changelogQuery },
      responses: { 200: jsonContent(schemas.StigChangelog, 'A page of releases.'), ...errors(400, 401, 403) },
    }),
    (c) => answer(c, news.changelog(c.req.valid('query'))),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/stigs/{slug}',
      operationId: 'getStig',
      summary: 'Get a STIG with its findings',
      tags,
      ...access.user,
      request: { params: schemas.slugParam, query: schemas.versionQuery },
      responses: { 200: jsonContent(schemas.StigRecord, 'The STIG.'), ...errors(400, 401, 403, 404) },
    }),
    (c) => answer(c, stigs.record(c.req.valid('param').slug, c.req.valid('query').version)),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/stigs/{slug}/controls',
      operationId: 'listStigFindings',
      summary: 'List the findings of a STIG, paged and filtered',
      tags,
      ...access.user,
      request: { params: schemas.slugParam, query: schemas.controlsQuery },
      responses: {
        200: jsonContent(schemas.StigControls, 'A page of findings.'),
        ...errors(400, 401, 403, 404),
      },
    }),
    (c) => answer(c, stigs.controls(c.req.valid('param').slug, c.req.valid('query'))),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/stigs/{slug}/versions',
      operationId: 'listStigVersions',
      summary: 'List the retained releases of a STIG, newest first',
      tags,
      ...access.user,
      request: { params: schemas.slugParam },
      responses: { 200: jsonContent(schemas.StigVersions, 'The releases.'), ...errors(400, 401, 403, 404) },
    }),
    (c) => answer(c, stigs.versions(c.req.valid('param').slug)),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/stigs/{slug}/download',
      operationId: 'downloadStig',
      summary: 'Download a STIG as a checklist (cklb), json, csv or xml',
      tags,
      ...costly.user,
      request: { params: schemas.slugParam, query: schemas.downloadQuery },
      responses: {
        200: {
          description:
            'The file. json is the raw benchmark record; csv and xml are flat exports of the findings.',
          headers: downloadHeaders,
          content: {
            'application/json': { schema: schemas.RawStig.or(Cklb) },
            'text/csv': { schema: TextFile },
            'application/xml': { schema: TextFile },
          },
        },
        ...errors(400, 401, 403, 404),
      },
    }),
    (c) => {
      const { format, version, raw, hostName } = c.req.valid('query');
      const full = stigs.full(c.req.valid('param').slug, version);
      return download(
        c,
        render(full, format, { raw, hostName, banner: c.get('banner') }),
        format === 'cklb' ? 'json' : format,
        fileName(full, format),
      );
    },
  );

  return app;
}

type Format = (typeof schemas.downloadFormats)[number];

function render(
  full: FullRelease,
  format: Format,
  options: { raw?: boolean | undefined; hostName?: string | undefined; banner: string | null },
): string {
  switch (format) {
    case 'cklb':
      return JSON.stringify(toCklb(full, options.hostName, options.banner));
    case 'json':
      return JSON.stringify(toRawStig(full));
    case 'csv':
      return toCsv(findingColumns, full.findings, options.raw);
    case 'xml':
      return toXml('stig', 'finding', findingColumns, full.findings);
  }
}

function fileName({ release }: FullRelease, format: Format): string {
  return `U_${release.benchmarkId}_${release.version}.${format}`;
}
