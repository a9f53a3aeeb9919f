import type { Access } from '../../http/access.ts';
import { download } from '../../http/answer.ts';
import { toCsv, toXml } from '../../http/columns.ts';
import { createRoutes } from '../../http/routes.ts';
import { downloadHeaders, jsonContent, TextFile } from '../../http/schema.ts';
import { toCklb } from './cklb.ts';
import { Cklb } from './cklb-schema.ts';
import { findingColumns, toRawStig } from './export.ts';
import type { StigNewsService } from './news.ts';
import type { FullRelease, StigService } from './queries.ts';
import * as schemas from './schema.ts';

/** The STIG catalog (rule D4). Fixed paths come before `{slug}`, which would swallow them. */
export function stigRoutes(access: Access, stigs: StigService, news: StigNewsService) {
  const { app, route } = createRoutes('STIG catalog');
  const costly = access.with({ expensive: true });

  route('GET /api/v1/stigs', access.user, {
    operationId: 'listStigs',
    summary: 'The STIGs of the catalog, by title',
    query: schemas.listQuery,
    response: jsonContent(schemas.StigList, 'A page of STIGs.'),
    handle: ({ query }) => stigs.list(query),
  });

  route('POST /api/v1/stigs/batch', costly.user, {
    operationId: 'getStigBatch',
    summary: 'Up to 50 STIGs with their findings',
    body: schemas.batchBody,
    response: jsonContent(schemas.StigBatch, 'The STIGs that were found.'),
    handle: ({ body }) => stigs.batch(body.slugs),
  });

  route('GET /api/v1/stigs/stats', access.with({ kept: null }).user, {
    operationId: 'getStigStatistics',
    summary: 'Counts over the current releases',
    response: jsonContent(schemas.StigStats, 'Catalog statistics.'),
    handle: () => news.stats(),
  });

  route('GET /api/v1/stigs/changelog', access.user, {
    operationId: 'getStigChangelog',
    summary: 'Every retained release, newest first',
    query: schemas.changelogQuery,
    response: jsonContent(schemas.StigChangelog, 'A page of releases.'),
    handle: ({ query }) => news.changelog(query),
  });

  route('GET /api/v1/stigs/{slug}', access.user, {
    operationId: 'getStig',
    summary: 'One STIG with its findings',
    params: schemas.slugParam,
    query: schemas.versionQuery,
    response: jsonContent(schemas.StigRecord, 'The STIG.'),
    handle: ({ params, query }) => stigs.record(params.slug, query.version),
  });

  route('GET /api/v1/stigs/{slug}/controls', access.user, {
    operationId: 'listStigFindings',
    summary: 'The findings of one STIG, paged and filtered',
    params: schemas.slugParam,
    query: schemas.controlsQuery,
    response: jsonContent(schemas.StigControls, 'A page of findings.'),
    handle: ({ params, query }) => stigs.controls(params.slug, query),
  });

  route('GET /api/v1/stigs/{slug}/versions', access.user, {
    operationId: 'listStigVersions',
    summary: 'The retained releases of one STIG, newest first',
    params: schemas.slugParam,
    response: jsonContent(schemas.StigVersions, 'The releases.'),
    handle: ({ params }) => stigs.versions(params.slug),
  });

  route('GET /api/v1/stigs/{slug}/download', costly.user, {
    operationId: 'downloadStig',
    summary: 'One STIG as a checklist (cklb), json, csv or xml',
    params: schemas.slugParam,
    query: schemas.downloadQuery,
    response: {
      description:
        'The file. json is the raw benchmark record; csv and xml are flat exports of the findings.',
      headers: downloadHeaders,
      content: {
        'application/json': { schema: schemas.RawStig.or(Cklb) },
        'text/csv': { schema: TextFile },
        'application/xml': { schema: TextFile },
      },
    },
    handle: ({ params, query }, c) => {
      const { format, version, raw, hostName } = query;
      const full = stigs.full(params.slug, version);
      return download(
        c,
        render(full, format, { raw, hostName, banner: c.get('banner') }),
        format === 'cklb' ? 'json' : format,
        fileName(full, format),
      );
    },
  });

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
