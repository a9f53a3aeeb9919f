import type { Ask } from '../../base/ask.ts';
import type { Access } from '../../http/access.ts';
import { answerMade, publicHeaders } from '../../http/answer.ts';
import { fileContent, sendFile } from '../../http/downloads.ts';
import { OscalDocument } from '../../http/oscal-document.ts';
import { createRoutes, type RequestContext } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import { cciList, controlFile, controlList, frameworkList } from './jobs.ts';
import type { ControlService } from './queries.ts';
import * as schemas from './schema.ts';

const published = [
  {
    framework: 'nist-800-53',
    operation: 'Nist80053Control',
    summaries: [
      'List the active controls and enhancements of NIST SP 800-53',
      'Get a control of NIST SP 800-53',
    ],
    noun: 'control',
    filters: schemas.query80053,
    list: schemas.ControlList80053,
    record: schemas.ControlRecord80053,
  },
  {
    framework: 'nist-800-171',
    operation: 'Nist800171Control',
    summaries: ['List the requirements of NIST SP 800-171', 'Get a requirement of NIST SP 800-171'],
    noun: 'requirement',
    filters: schemas.query800171,
    list: schemas.ControlList800171,
    record: schemas.ControlRecord800171,
  },
  {
    framework: 'dod-8500',
    operation: 'Dod8500Control',
    summaries: [
      'List the IA controls of DoD Instruction 8500.2',
      'Get an IA control of DoD Instruction 8500.2',
    ],
    noun: 'control',
    filters: schemas.queryDod8500,
    list: schemas.ControlListDod8500,
    record: schemas.ControlRecordDod8500,
  },
] as const;

/** The control catalogs (rule D6): public, a list and a record of each framework over one service. */
export function controlRoutes(access: Access, ask: Ask, controls: ControlService) {
  const { app, route } = createRoutes('Controls');

  route('GET /api/v1/controls', access.public, {
    operationId: 'listFrameworks',
    summary: 'List the frameworks with their imported versions and baselines',
    response: jsonContent(schemas.Frameworks, 'The frameworks: the published first, then imported ones.'),
    handle: () => ask(frameworkList),
  });

  route('GET /api/v1/controls/cci', access.public, {
    operationId: 'listCcis',
    summary: 'List the CCIs of a CCI list',
    query: schemas.cciQuery,
    response: jsonContent(schemas.CciList, 'A page of CCIs.'),
    notFound: true,
    handle: ({ query }) => ask(cciList, query),
  });

  route('GET /api/v1/controls/{framework}/baselines', access.public, {
    operationId: 'listBaselines',
    summary: 'List the baselines of a control catalog',
    params: schemas.frameworkParam,
    query: schemas.controlQuery,
    response: jsonContent(schemas.Baselines, "The baselines, NIST's first."),
    handle: ({ params, query }) => controls.baselines(params.framework, query.version),
  });

  route('GET /api/v1/controls/{framework}/export', access.with({ expensive: true }).public, {
    operationId: 'exportControls',
    summary: 'Download a control catalog or one of its baselines',
    params: schemas.frameworkParam,
    query: schemas.exportQuery,
    response: {
      ...fileContent(OscalDocument, ['text/csv']),
      description:
        'An OSCAL catalog with withdrawn controls, or with baseline= an OSCAL profile. The csv can be imported.',
    },
    handle: async ({ params, query }, c) => {
      const file = await ask(controlFile, params.framework, query, c.get('banner'));
      return sendFile(c, file, file.name, publicHeaders);
    },
  });

  const listed = async (c: RequestContext, framework: string, filter: schemas.ControlFilter) =>
    answerMade(c, await ask(controlList, framework, filter), publicHeaders);
  /** The fields of a record depend on its framework. */
  const record = (framework: string, controlId: string, version: string | undefined) =>
    controls.one(framework, controlId, version) as never;

  for (const { framework, operation, summaries, noun, filters, ...answers } of published) {
    route(`GET /api/v1/controls/${framework}`, access.public, {
      operationId: `list${operation}s`,
      summary: summaries[0],
      query: filters,
      response: jsonContent(answers.list, `The ${noun}s.`),
      notFound: true,
      handle: ({ query: { search, family, version, page, limit, ...words } }, c) => {
        const { baseline, ...others } = words as Record<string, Set<string> | undefined>;
        const groups = Object.values(others);
        return listed(c, framework, { search, family, version, page, limit, baseline, words: groups });
      },
    });

    route(`GET /api/v1/controls/${framework}/{controlId}`, access.public, {
      operationId: `get${operation}`,
      summary: summaries[1],
      params: schemas.controlParam,
      query: schemas.controlQuery,
      response: jsonContent(answers.record, `The ${noun}.`),
      handle: ({ params, query }) => record(framework, params.controlId, query.version),
    });
  }

  const { frameworkParam, controlParam } = schemas;
  /** A framework that the site imported; CCIs have routes of their own. */
  const ofSite = (framework: string): string => {
    if (framework === 'cci' || !controls.imported().includes(framework)) throw controls.whyNoPath(framework);
    return framework;
  };
  route('GET /api/v1/controls/cci/{cci}', access.public, {
    operationId: 'getCci',
    summary: 'Get a CCI with the controls that it refers to',
    params: schemas.cciParam,
    query: schemas.controlQuery,
    response: jsonContent(schemas.CciRecord, 'The CCI.'),
    handle: ({ params, query }) => {
      const { version, identifier } = controls.one('cci', params.cci, query.version);
      return controls.cci(version, identifier);
    },
  });

  route('GET /api/v1/controls/{framework}', access.public, {
    operationId: 'listControls',
    summary: 'List the active controls of a framework that the site imported',
    params: frameworkParam,
    query: schemas.query80053,
    response: jsonContent(schemas.SiteControlList, 'The controls.'),
    notFound: true,
    handle: ({ params, query }, c) => listed(c, ofSite(params.framework), { ...query, words: [] }),
  });

  route('GET /api/v1/controls/{framework}/{controlId}', access.public, {
    operationId: 'getControl',
    summary: 'Get a control of a framework that the site imported',
    params: frameworkParam.extend(controlParam.shape),
    query: schemas.controlQuery,
    response: jsonContent(schemas.SiteControlRecord, 'The control.'),
    handle: ({ params, query }) => record(ofSite(params.framework), params.controlId, query.version),
  });

  return app;
}
