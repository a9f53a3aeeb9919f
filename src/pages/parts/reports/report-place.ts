import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { ReportScope } from '../../../catalog/crosswalk/reports.ts';
import { versionQuery } from '../../../catalog/stigs/schema.ts';
import type { Env } from '../../../http/env.ts';
import type { Services } from '../../../services.ts';
import { listView, partPath, shownList } from '../list-frame.tsx';
import { type PageSupport, readQuery } from '../page.ts';
import { pinnedOf, stigPath, stigView } from '../stig-frame.tsx';
import type { View } from '../view.ts';

/** Where a report stands: it has one page for a system, and one for a release of a STIG. */
export interface ReportPlace {
  scope: ReportScope;
  /** The address of the page. */
  home: string;
  /** The release of the STIG; empty for the latest, and for a system. */
  version: string;
  /** The filter of links to the rules of a control. */
  narrow: Record<string, string>;
  /** The page; `keep` is what its switch of releases retains of the address. */
  view(page: { actions: Child; keep: Record<string, string>; body: Child }): View;
}

/** Adds the page of a report for systems and for STIGs. */
export function reportPages(
  app: Hono<Env>,
  { guard }: PageSupport,
  { lists, stigs }: Pick<Services, 'lists' | 'stigs'>,
  part: 'coverage' | 'automation' | 'worksheet',
  answer: (c: Context<Env>, place: ReportPlace) => Promise<Response>,
): void {
  app.get(`/systems/:id/${part}`, guard.costly, (c) => {
    const shown = shownList(c, lists);
    const { id } = shown.list;
    return answer(c, {
      scope: { user: c.get('user'), list: id },
      home: partPath(id, part),
      version: '',
      narrow: { list: id },
      view: ({ actions, body }) => listView({ ...shown, part, actions, body }),
    });
  });

  app.get(`/stigs/:slug/${part}`, guard.costly, (c) => {
    const { slug, title, release } = stigs.named(c.req.param('slug'), readQuery(c, versionQuery).version);
    const stig = { slug, title, version: release!.version, versions: stigs.versions(slug).versions };
    return answer(c, {
      scope: { slug, version: stig.version },
      home: stigPath(slug, part),
      version: pinnedOf(stig),
      narrow: { stig: slug },
      view: (page) => stigView({ stig, part, ...page }),
    });
  });
}
