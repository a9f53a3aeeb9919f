import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../../http/access.ts';
import { answerText, publicHeaders } from '../../http/answer.ts';
import type { Env } from '../../http/env.ts';
import { errors, jsonContent } from '../../http/schema.ts';
import type { ControlService } from './queries.ts';
import * as schemas from './schema.ts';

/** The control catalogs (rule D6): public, three explicit pairs over one service. */
export function controlRoutes(access: Access, controls: ControlService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const tags = ['Controls'];

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/controls/nist-800-53',
      operationId: 'listNist80053Controls',
      summary: 'List the active controls and enhancements of NIST SP 800-53',
      tags,
      ...access.public,
      request: { query: schemas.query80053 },
      responses: { 200: jsonContent(schemas.ControlList80053, 'The controls.'), ...errors(400, 404) },
    }),
    (c) => {
      const { baseline, ...filter } = c.req.valid('query');
      return answerText(c, controls.list('nist-800-53', { ...filter, words: [baseline] }), publicHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/controls/nist-800-53/{controlId}',
      operationId: 'getNist80053Control',
      summary: 'Get a control of NIST SP 800-53',
      tags,
      ...access.public,
      request: { params: schemas.controlParam, query: schemas.controlQuery },
      responses: { 200: jsonContent(schemas.ControlRecord80053, 'The control.'), ...errors(400, 404) },
    }),
    (c) => {
      const record = controls.record(
        'nist-800-53',
        c.req.valid('param').controlId,
        c.req.valid('query').version,
      );
      return answerText(c, record, publicHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/controls/nist-800-171',
      operationId: 'listNist800171Controls',
      summary: 'List the requirements of NIST SP 800-171',
      tags,
      ...access.public,
      request: { query: schemas.query800171 },
      responses: { 200: jsonContent(schemas.ControlList800171, 'The requirements.'), ...errors(400, 404) },
    }),
    (c) => {
      const { type, ...filter } = c.req.valid('query');
      return answerText(c, controls.list('nist-800-171', { ...filter, words: [type] }), publicHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/controls/nist-800-171/{controlId}',
      operationId: 'getNist800171Control',
      summary: 'Get a requirement of NIST SP 800-171',
      tags,
      ...access.public,
      request: { params: schemas.controlParam, query: schemas.controlQuery },
      responses: { 200: jsonContent(schemas.ControlRecord800171, 'The requirement.'), ...errors(400, 404) },
    }),
    (c) => {
      const record = controls.record(
        'nist-800-171',
        c.req.valid('param').controlId,
        c.req.valid('query').version,
      );
      return answerText(c, record, publicHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/controls/dod-8500',
      operationId: 'listDod8500Controls',
      summary: 'List the IA controls of DoD Instruction 8500.2',
      tags,
      ...access.public,
      request: { query: schemas.queryDod8500 },
      responses: { 200: jsonContent(schemas.ControlListDod8500, 'The controls.'), ...errors(400, 404) },
    }),
    (c) => {
      const { mac, impact, ...filter } = c.req.valid('query');
      return answerText(c, controls.list('dod-8500', { ...filter, words: [mac, impact] }), publicHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/controls/dod-8500/{controlId}',
      operationId: 'getDod8500Control',
      summary: 'Get an IA control of DoD Instruction 8500.2',
      tags,
      ...access.public,
      request: { params: schemas.controlParam, query: schemas.controlQuery },
      responses: { 200: jsonContent(schemas.ControlRecordDod8500, 'The control.'), ...errors(400, 404) },
    }),
    (c) => {
      const record = controls.record(
        'dod-8500',
        c.req.valid('param').controlId,
        c.req.valid('query').version,
      );
      return answerText(c, record, publicHeaders);
    },
  );

  return app;
}
