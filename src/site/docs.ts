import type { Hono } from 'hono';
import { noSuchPath } from '../base/errors.ts';
import type { Env } from '../http/env.ts';
import { areaSlug, areasOf, docsAreaPage, docsPage } from './html/docs.tsx';
import type { OpenApi } from './html/openapi-types.ts';
import type { PageSupport } from './page.ts';

/** The API's reference (DECISIONS D22), made from the text of `/openapi.json`. */
export function docsPages(app: Hono<Env>, { guard, show }: PageSupport, document: () => string): void {
  let parsed: OpenApi | null = null;
  const openApi = () => {
    parsed ??= JSON.parse(document()) as OpenApi;
    return parsed;
  };

  app.get('/docs', guard.visitor, (c) => show(c, docsPage(openApi())));

  app.get('/docs/:area', guard.visitor, (c) => {
    const found = [...areasOf(openApi())].find(([area]) => areaSlug(area) === c.req.param('area'));
    if (!found) throw noSuchPath();
    return show(c, docsAreaPage(openApi(), ...found));
  });
}
