import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { noSuchPath } from '../../base/errors.ts';
import { packageRoot } from '../../base/root.ts';
import type { Env } from '../../http/env.ts';
import type { OpenApi } from '../../http/openapi-types.ts';
import { requestOrigin } from '../../http/same-origin.ts';
import type { PageSupport } from '../parts/page.ts';
import { areaSlug, areasOf, docsAreaPage, docsPage } from './api-reference.tsx';
import { documentPage } from './markdown-page.tsx';

const documents: ReadonlyMap<string, string> = new Map([
  ['guide', 'A guide for assessors'],
  ['api', 'The API'],
  ['mcp', 'For programs'],
  ['operate', 'Running Gapstone'],
  ['container', 'Running it: the container'],
  ['rpm', 'Running it: the rpm'],
  ['rhel', 'Running it: RHEL 9 under its own STIG'],
  ['tar', 'Running it: the tar'],
  ['source', 'Running it: from source'],
  ['upkeep', 'Running it: upkeep'],
  ['content', 'Running it: content'],
  ['watching', 'Running it: watching'],
  ['security', 'Security: the annex'],
  ['rules', 'Rules: what exactly holds'],
  ['asking', 'Rules of questions and assessments'],
  ['running', 'Rules of running it'],
  ['files', 'Files: what Gapstone makes of them'],
]);

/** The API reference (rule D22), made from the OpenAPI document, and the documents of the package. */
export function docsPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { document }: { document(): OpenApi },
): void {
  app.get('/docs', guard.visitor, (c) => show(c, docsPage(document(), documents)));

  app.get('/docs/:area', guard.visitor, (c) => {
    const name = c.req.param('area');
    const title = documents.get(name);
    if (title !== undefined) return show(c, documentPage(title, textOf(name, requestOrigin(c)), hrefOf));
    const found = [...areasOf(document())].find(([area]) => areaSlug(area) === name);
    if (!found) throw noSuchPath();
    return show(c, docsAreaPage(document(), requestOrigin(c), ...found));
  });
}

/** Documents whose examples call this server, so that they use the address that the reader used. */
const withCalls = ['api', 'mcp', 'watching'];

function textOf(name: string, origin: string): string {
  const text = readFileSync(join(packageRoot, 'docs', `${name}.md`), 'utf8');
  return withCalls.includes(name) ? text.replaceAll('http://127.0.0.1:8080', origin) : text;
}

function hrefOf(target: string): string | null {
  const [, name, anchor = ''] = /^(?:(\w+)\.md)?(#[\w.-]+)?$/.exec(target) ?? [];
  if (name === undefined) return anchor || null;
  return documents.has(name) ? `/docs/${name}${anchor}` : null;
}
