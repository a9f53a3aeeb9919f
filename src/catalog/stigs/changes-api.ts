import type { Access } from '../../http/access.ts';
import { asksForFile, downloadFile, jsonOrFile } from '../../http/downloads.ts';
import { createRoutes } from '../../http/route.ts';
import type { StigChangesService } from './changes.ts';
import { changesFile } from './changes-export.ts';
import { ChangesSince, changesQuery } from './changes-schema.ts';

/** The response of a route for changes since a day: json, or a line for each rule. */
export const changesContent = jsonOrFile(
  ChangesSince,
  'What changed. csv and xlsx have a line for each rule that was added, removed or changed.',
);

/** What changed in the whole catalog since a day (rule D26). Precedes `{slug}`, which would match it. */
export function stigChangesRoutes(access: Access, changes: StigChangesService) {
  const { app, route } = createRoutes('STIG catalog');

  route('GET /api/v1/stigs/changes', access.with({ expensive: asksForFile }).user, {
    operationId: 'getCatalogChanges',
    summary: 'List what changed in every STIG since a day',
    query: changesQuery,
    response: changesContent,
    handle: async ({ query: { since, format, raw } }, c) => {
      if (format === 'json') return changes.ofCatalog(since);
      const lines = await changes.linesOfCatalog(since);
      return downloadFile(c, { format, raw }, `changes_since_${since}`, changesFile(lines));
    },
  });

  return app;
}
