import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { noSuchPath } from '../../base/errors.ts';
import { packageRoot } from '../../base/root.ts';
import type { Env } from '../../http/env.ts';
import type { OpenApi } from '../../http/openapi-types.ts';
import type { PageDeps, PageSupport } from '../parts/page.ts';
import { areaSlug, areasOf, docsAreaPage, docsPage } from './docs.tsx';
import { documentPage } from './markdown-page.tsx';

/** The documents that are served beside the reference, by the last part of their address. */
const documents: ReadonlyMap<string, string> = new Map([
  ['guide', 'A guide for assessors'],
  ['api', 'The API'],
  ['operate', 'Running Gapstone'],
  ['rules', 'Rules: what exactly holds'],
]);

/** The API's reference (rule D22), made from the text of `/openapi.json`, and the documents of the package. */
export function docsPages(app: Hono<Env>, { guard, show }: PageSupport, { document }: PageDeps): void {
  let parsed: OpenApi | null = null;
  const openApi = () => {
    parsed ??= JSON.parse(document()) as OpenApi;
    return parsed;
  };

  app.get('/docs', guard.visitor, (c) => show(c, docsPage(openApi(), documents)));

  app.get('/docs/:area', guard.visitor, (c) => {
    const name = c.req.param('area');
    const title = documents.get(name);
    if (title !== undefined) return show(c, documentPage(title, textOf(name), hrefOf));
    const found = [...areasOf(openApi())].find(([area]) => areaSlug(area) === name);
    if (!found) throw noSuchPath();
    return show(c, docsAreaPage(openApi(), ...found));
  });
}

function textOf(name: string): string {
  return readFileSync(join(packageRoot, 'docs', `${name}.md`), 'utf8');
}

/** Where a link of a document leads here; null for a document that is not served. */
function hrefOf(target: string): string | null {
  const [, name, anchor = ''] = /^(?:(\w+)\.md)?(#[\w.-]+)?$/.exec(target) ?? [];
  if (name === undefined) return anchor || null;
  return documents.has(name) ? `/docs/${name}${anchor}` : null;
}
