import type { Access } from '../../http/access.ts';
import { asksForFile, downloadFile, jsonOrFile, narrowedName } from '../../http/downloads.ts';
import { createRoutes } from '../../http/route.ts';
import { changesFile, diffLines, diffName } from './changes-export.ts';
import type { StigDiffService } from './diff.ts';
import { filterDiff } from './diff-filter.ts';
import { diffDownloadQuery, StigDiff } from './diff-schema.ts';
import { slugParam } from './schema.ts';

/** What changed between two releases of a STIG. */
export function stigDiffRoutes(access: Access, diffs: StigDiffService) {
  const { app, route } = createRoutes('STIG catalog');

  route('GET /api/v1/stigs/{slug}/diff', access.with({ expensive: asksForFile }).user, {
    operationId: 'getStigDiff',
    summary: 'List the rules added, removed and changed between two retained releases',
    description:
      'kind, class and severity narrow the lists of rules and the lines of a file; summary and groupIds are of all.',
    params: slugParam,
    query: diffDownloadQuery,
    response: jsonOrFile(
      StigDiff,
      'What changed. csv and xlsx have a line for each rule that was added, removed or changed.',
    ),
    handle: ({ params, query: { from, to, format, raw, ...filter } }, c) => {
      const diff = filterDiff(diffs.diff(params.slug, { from, to }), filter);
      return format === 'json'
        ? diff
        : downloadFile(
            c,
            { format, raw },
            narrowedName(diffName(diff), filter),
            changesFile(diffLines(diff)),
          );
    },
  });

  return app;
}
