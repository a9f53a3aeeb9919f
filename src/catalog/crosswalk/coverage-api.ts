import { z } from '@hono/zod-openapi';
import type { User } from '../../auth/viewer.ts';
import type { Access } from '../../http/access.ts';
import { downloadFile, fileContent, narrowedName } from '../../http/downloads.ts';
import { createRoutes } from '../../http/route.ts';
import type { NamedRelease, StigService } from '../stigs/queries.ts';
import { slugParam } from '../stigs/schema.ts';
import { type CoverageService, coverageFile } from './coverage.ts';
import { Coverage, coverageQuery, stigCoverageQuery } from './coverage-schema.ts';

/** Gives the name and the STIGs of a list. Throws NOT_FOUND for a list that the user may not see. */
export type ReleasesOfList = (user: User, id: string) => { name: string; stigs: NamedRelease[] };

/** The name of a file: which controls were asked for, and how they are counted, is in it; no column says so. */
const nameOf = (name: string, asked: { revision?: string | undefined }, coverage: Coverage) => {
  const { framework, revision, baseline, rollup } = coverage;
  return narrowedName(name, {
    framework: framework === 'nist-800-53' ? undefined : framework,
    revision: asked.revision === undefined ? undefined : revision,
    baseline,
    rollup: rollup || undefined,
  });
};

const described = {
  description:
    'A rule addresses the controls that its CCIs lead to. It is evidence for a part of a control: addressed does not mean satisfied.',
  response: fileContent(Coverage, ['text/csv']),
};

/** The coverage of a STIG and of a list (rule D25). */
export function coverageRoutes(
  access: Access,
  coverage: CoverageService,
  stigs: StigService,
  releasesOf: ReleasesOfList,
) {
  const ofStig = createRoutes('STIG catalog');
  const ofList = createRoutes('Lists');

  ofStig.route('GET /api/v1/stigs/{slug}/coverage', access.with({ expensive: true, kept: 'catalog' }).user, {
    operationId: 'getStigCoverage',
    summary: 'List the controls that the rules of a STIG address, and those that no rule addresses',
    ...described,
    params: slugParam,
    query: stigCoverageQuery,
    handle: async ({ params, query }, c) => {
      const json = await coverage.of(() => [stigs.named(params.slug, query.version)], query);
      const { slug, version } = json.stigs[0]!;
      return downloadFile(c, query, nameOf(`${slug}_${version}_coverage`, query, json), coverageFile(json));
    },
  });

  ofList.route('GET /api/v1/lists/{id}/coverage', access.with({ expensive: true, kept: 'users' }).user, {
    operationId: 'getListCoverage',
    summary: 'List the controls that the rules of a list address, and those that no rule addresses',
    ...described,
    params: z.object({ id: z.string().openapi({ format: 'uuid' }) }),
    query: coverageQuery,
    handle: async ({ user, params, query }, c) => {
      let name = '';
      const find = () => {
        const list = releasesOf(user, params.id);
        name = list.name;
        return list.stigs;
      };
      const json = await coverage.of(find, query);
      return downloadFile(c, query, nameOf(`${name} coverage`, query, json), coverageFile(json));
    },
  });

  return [ofStig.app, ofList.app];
}
