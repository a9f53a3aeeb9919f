import type { Access } from '../../http/access.ts';
import { download } from '../../http/answer.ts';
import { downloadFile, fileContent, narrowedName } from '../../http/downloads.ts';
import { OscalDocument } from '../../http/oscal-document.ts';
import { createRoutes, type RequestContext } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import { toCkl } from './ckl-writer.ts';
import { Cklb } from './cklb-schema.ts';
import { checklistName, toCklb } from './cklb-writer.ts';
import { type AddressedControls, toComponentDefinition } from './component.ts';
import { findingColumns, toRawStig } from './export.ts';
import type { StigNewsService } from './news.ts';
import { type FullRelease, narrowed, type StigService } from './queries.ts';
import * as schemas from './schema.ts';

const downloadContent = {
  ...fileContent(schemas.RawStig.or(Cklb).or(OscalDocument)),
  description:
    'The file. json is the raw benchmark record; csv, xml and xlsx are flat exports of the findings; a ckl is application/xml; oscal is a component-definition.',
};

/** The STIG catalog (rule D4). Fixed paths precede `{slug}`, which would match them. */
export function stigRoutes(
  access: Access,
  stigs: StigService,
  news: StigNewsService,
  addressed: AddressedControls,
  cciOf: (typed?: string) => string | undefined,
  now: () => Date,
) {
  const { app, route } = createRoutes('STIG catalog');
  const costly = access.with({ expensive: true });

  route('GET /api/v1/stigs', access.user, {
    operationId: 'listStigs',
    summary: 'List STIGs by title',
    query: schemas.listQuery,
    response: jsonContent(schemas.StigList, 'A page of STIGs.'),
    handle: ({ query }) => stigs.list(query),
  });

  route('POST /api/v1/stigs/batch', costly.user, {
    operationId: 'getStigBatch',
    summary: 'Get up to 50 STIGs with their findings',
    body: schemas.batchBody,
    response: jsonContent(schemas.StigBatch, 'The STIGs that were found.'),
    handle: ({ body }) => stigs.batch(body.slugs),
  });

  route('GET /api/v1/stigs/stats', access.with({ kept: null }).user, {
    operationId: 'getStigStatistics',
    summary: 'Count STIGs and findings in current releases',
    response: jsonContent(schemas.StigStats, 'Catalog statistics.'),
    handle: () => news.stats(now()),
  });

  route('GET /api/v1/stigs/changelog', access.user, {
    operationId: 'getStigChangelog',
    summary: 'List every retained release, newest first',
    query: schemas.changelogQuery,
    response: jsonContent(schemas.StigChangelog, 'A page of releases.'),
    handle: ({ query }) => news.changelog(query),
  });

  route('GET /api/v1/stigs/{slug}', access.user, {
    operationId: 'getStig',
    summary: 'Get a STIG with its findings',
    params: schemas.slugParam,
    query: schemas.versionQuery,
    response: jsonContent(schemas.StigRecord, 'The STIG.'),
    handle: ({ params, query }) => stigs.record(params.slug, query.version),
  });

  route('GET /api/v1/stigs/{slug}/controls', access.user, {
    operationId: 'listStigFindings',
    summary: 'List the findings of a STIG, paged and filtered',
    params: schemas.slugParam,
    query: schemas.controlsQuery,
    response: jsonContent(schemas.StigControls, 'A page of findings.'),
    handle: ({ params, query }) => stigs.controls(params.slug, query),
  });

  route('GET /api/v1/stigs/{slug}/versions', access.user, {
    operationId: 'listStigVersions',
    summary: 'List the retained releases of a STIG, newest first',
    params: schemas.slugParam,
    response: jsonContent(schemas.StigVersions, 'The releases.'),
    handle: ({ params }) => stigs.versions(params.slug),
  });

  route('GET /api/v1/stigs/{slug}/download', costly.user, {
    operationId: 'downloadStig',
    summary: 'Download a STIG as a checklist (cklb, ckl), json, csv, xml, xlsx or OSCAL',
    params: schemas.slugParam,
    query: schemas.downloadQuery,
    response: downloadContent,
    handle: ({ params, query }, c) =>
      downloadOf(c, stigs.full(params.slug, query.version), { ...query, cci: cciOf(query.cci) }, addressed),
  });

  return app;
}

function downloadOf(
  c: RequestContext,
  full: FullRelease,
  { format, raw, search, severity, cci, version: _, ...target }: schemas.DownloadQuery,
  addressed: AddressedControls,
): Response | Promise<Response> {
  const { release } = full;
  if (format === 'cklb' || format === 'ckl') {
    const cklb = toCklb(full, target, c.get('banner'));
    const name = `${checklistName(release, target)}.${format}`;
    return download(c, format === 'cklb' ? JSON.stringify(cklb) : toCkl(cklb, [release]), format, name);
  }
  const name = `U_${release.benchmarkId}_${release.version}`;
  if (format === 'oscal') {
    const text = JSON.stringify(toComponentDefinition(full, addressed));
    return download(c, text, format, `${name}_component-definition.json`);
  }
  const filter = { severity, cci, search };
  const rows = narrowed(full.findings, filter);
  const file = { json: toRawStig(full), root: 'stig', element: 'finding', columns: findingColumns, rows };
  return downloadFile(c, { format, raw }, narrowedName(name, filter), file);
}
