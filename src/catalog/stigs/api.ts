import type { Ask } from '../../base/ask.ts';
import type { Access } from '../../http/access.ts';
import { answer, download, privateHeaders } from '../../http/answer.ts';
import { asksForFile, fileChoice, fileContent, jsonOrFile, sendFile } from '../../http/downloads.ts';
import { OscalDocument } from '../../http/oscal-document.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import { changesContent, changesQuery } from './changes-schema.ts';
import { Cklb } from './cklb-schema.ts';
import { diffDownloadQuery, StigDiff } from './diff-schema.ts';
import { RuleHistory, ruleIdParam } from './history-schema.ts';
import * as jobs from './jobs.ts';
import type { StigNewsService } from './news.ts';
import type { StigService } from './queries.ts';
import * as schemas from './schema.ts';

const downloadContent = {
  ...fileContent(schemas.RawStig.or(Cklb).or(OscalDocument)),
  description:
    'The file. json is the raw benchmark record; csv, xml and xlsx are flat exports of the findings; a ckl is application/xml; oscal is a component-definition.',
};

/** The STIG catalog (rule D4). Fixed paths precede `{slug}`, which would match them. */
export function stigRoutes(access: Access, ask: Ask, stigs: StigService, news: StigNewsService) {
  const { app, route } = createRoutes('STIG catalog');
  const costly = access.with({ expensive: true });
  const costlyFile = access.with({ expensive: asksForFile });

  route('GET /api/v1/stigs/changes', costlyFile.user, {
    operationId: 'getCatalogChanges',
    summary: 'List what changed in every STIG since a day',
    query: changesQuery,
    response: changesContent,
    handle: async ({ query: { since, format, raw } }, c) =>
      format === 'json'
        ? ask(jobs.changesSince, undefined, since)
        : sendFile(
            c,
            await ask(jobs.changesSinceFile, undefined, since, fileChoice(c, { format, raw })),
            `changes_since_${since}`,
          ),
  });

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
    handle: async ({ body }, c) => answer(c, (await ask(jobs.stigBatch, body.slugs)).bytes, privateHeaders),
  });

  route('GET /api/v1/stigs/stats', access.user, {
    operationId: 'getStigStatistics',
    summary: 'Count STIGs and findings in current releases',
    response: jsonContent(schemas.StigStats, 'Catalog statistics.'),
    handle: () => news.stats(),
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
    handle: async ({ params, query }, c) => {
      const { bytes, format, name } = await ask(jobs.stigFile, params.slug, query, c.get('banner'));
      return download(c, bytes, format, name);
    },
  });

  route('GET /api/v1/stigs/{slug}/diff', costlyFile.user, {
    operationId: 'getStigDiff',
    summary: 'List the rules added, removed and changed between two retained releases',
    description:
      'kind, class and severity narrow the lists of rules and the lines of a file; summary and groupIds are of all.',
    params: schemas.slugParam,
    query: diffDownloadQuery,
    response: jsonOrFile(
      StigDiff,
      'What changed. csv and xlsx have a line for each rule that was added, removed or changed.',
    ),
    handle: async ({ params: { slug }, query: { from, to, format, raw, ...filter } }, c) => {
      if (format === 'json') return ask(jobs.comparedReleases, slug, { from, to }, filter);
      const choice = fileChoice(c, { format, raw });
      const file = await ask(jobs.comparedReleasesFile, slug, { from, to }, filter, choice);
      return download(c, file.bytes, file.format, file.name);
    },
  });

  route('GET /api/v1/rules/{id}', access.user, {
    operationId: 'getRuleHistory',
    summary: 'Follow a rule through all retained releases',
    params: ruleIdParam,
    response: jsonContent(RuleHistory, 'The rule in each STIG that has it.'),
    handle: ({ params }) => ask(jobs.ruleHistory, params.id),
  });

  return app;
}
