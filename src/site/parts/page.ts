import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { every } from 'hono/combine';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Sessions } from '../../auth/sessions.ts';
import type { Entitlement } from '../../auth/viewer.ts';
import type { AppError } from '../../base/errors.ts';
import type { ControlService } from '../../catalog/controls/queries.ts';
import type { RuleChain } from '../../catalog/crosswalk/chain.ts';
import type { ControlRulesService } from '../../catalog/crosswalk/control-rules.ts';
import type { CoverageService } from '../../catalog/crosswalk/coverage.ts';
import type { CrosswalkService } from '../../catalog/crosswalk/queries.ts';
import type { RegdocService } from '../../catalog/guidance/document-queries.ts';
import type { RoleMappingService } from '../../catalog/guidance/role-mapping.ts';
import type { RoleService } from '../../catalog/guidance/role-queries.ts';
import type { LedgerService } from '../../catalog/ledger.ts';
import type { SearchService } from '../../catalog/search/queries.ts';
import type { StigFinder } from '../../catalog/search/stig-finder.ts';
import type { createStigsCalled } from '../../catalog/stigs/called.ts';
import type { StigChangesService } from '../../catalog/stigs/changes.ts';
import type { StigDiffService } from '../../catalog/stigs/diff.ts';
import type { RuleHistoryService } from '../../catalog/stigs/history.ts';
import type { StigNewsService } from '../../catalog/stigs/news.ts';
import type { StigService } from '../../catalog/stigs/queries.ts';
import type { ReadingService } from '../../catalog/stigs/reading.ts';
import type { CatalogSummaryService } from '../../catalog/summary.ts';
import type { MakeListChecklists } from '../../checklists/list-checklists.ts';
import type {
  DocumentCollectionService,
  RoleCollectionService,
} from '../../collections/catalog-collections.ts';
import type { ControlCollectionService } from '../../collections/control-collections.ts';
import type { FavoriteService } from '../../collections/favorites.ts';
import type { ListChangesService } from '../../collections/list-changes-api.ts';
import type { ListEntryService } from '../../collections/list-entries.ts';
import type { ListOverviewService } from '../../collections/list-overview.ts';
import type { ListService } from '../../collections/lists.ts';
import type { Access } from '../../http/access.ts';
import type { Env } from '../../http/env.ts';
import type { Rule } from '../../http/rule.ts';
import { check } from '../../http/schema.ts';
import type { SessionCookie } from '../../http/session-cookie.ts';
import type { Assets } from './assets.ts';
import { renderPage } from './layout.tsx';
import { notices } from './notices.ts';
import { themeOf } from './theme.ts';
import type { PageFrame, View } from './view.ts';

/** What the pages are made of: the services of the API, and who is asked about callers. */
export interface PageDeps {
  access: Access;
  assets: Assets;
  banner: string | null;
  sessions: Sessions;
  cookie: SessionCookie;
  stigs: StigService;
  stigsCalled: ReturnType<typeof createStigsCalled>;
  stigDiff: StigDiffService;
  ruleHistory: RuleHistoryService;
  changes: StigChangesService;
  listChanges: ListChangesService;
  reading: ReadingService;
  ruleChain: RuleChain;
  news: StigNewsService;
  controls: ControlService;
  crosswalk: CrosswalkService;
  controlRules: ControlRulesService;
  coverage: CoverageService;
  search: SearchService;
  finder: StigFinder;
  ledger: LedgerService;
  summary: CatalogSummaryService;
  documents: RegdocService;
  documentCollections: DocumentCollectionService;
  roles: RoleService;
  roleCollections: RoleCollectionService;
  roleMapping: RoleMappingService;
  lists: ListService;
  listStigs: ListEntryService;
  listChecklists: MakeListChecklists;
  listOverview: ListOverviewService;
  collections: ControlCollectionService;
  favorites: FavoriteService;
  /** Whether no publisher's STIG was imported yet. */
  onlySamples: () => boolean;
  /** The folder whose files are imported (rule D33). */
  inbox: string | null;
  /** The text of `/openapi.json`. */
  document(): string;
  /** What an error is to the caller, and what the log says of it: as for the API. */
  refuse(error: Error, requestId: string): AppError;
  /** Ages are counted to today. */
  now(): Date;
}

/** What pages are made with. */
export type PageSupport = ReturnType<typeof createPageSupport>;

/** Files of as much as `mostUploaded`, also as base64, with what goes around them. */
const maxUpload = 65 * 1024 * 1024;

/** The most that is kept of a form while its sender signs in: more than a thousand STIGs are by their titles. */
const maxKept = 256 * 1024;

/** The most bytes of a form (rule D2.6): of most, of one with notes or check boxes, of one to paste into. Encoded, a character takes up to 12. */
const formSizes = { small: 16 * 1024, notes: 64 * 1024, pasted: 1024 * 1024 };

/** The sign-in form carries the kept form along, encoded a second time. */
const maxSignIn = 3 * maxKept + formSizes.small;

/** What a form that does what is audited needs otherwise than most. */
interface FormOptions {
  /** The field that names the object where the path does not. */
  field?: string;
  size?: keyof typeof formSizes;
  /** Its answer is much work. */
  expensive?: boolean;
}

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

/** Makes what pages share. */
export function createPageSupport({ access, assets, banner }: PageDeps) {
  const guarded = (rule: Rule) => every(...rule.middleware);
  const small = access.with({ maxBody: formSizes.small });
  const { find: _, ...addresses } = assets;

  /** The rules of access as one handler each: they check the caller, then read the form. */
  const guard = {
    user: guarded(small.user),
    /** As `user`, for a page that is much work. */
    costly: guarded(small.with({ expensive: true }).user),
    /** As `user`, for a form that does what is audited, as `list.create`. */
    audited: (action: string, { field, size = 'small', expensive = false }: FormOptions = {}) =>
      guarded(
        access
          .with({ maxBody: formSizes[size], expensive })
          .audited(action, (c) => (field === undefined ? undefined : c.get('form')?.get(field))).user,
      ),
    /** As `user`, for a form that brings a file. */
    upload: guarded(access.with({ maxBody: maxUpload, upload: true, expensive: true }).user),
    visitor: guarded(small.visitor),
    /** Reads a form again that came without a session; not counted twice. */
    kept: guarded(access.with({ maxBody: maxKept, unlimited: true }).public),
    signIn: guarded(access.with({ maxBody: maxSignIn }).audited('session.create').visitor),
    signOut: guarded(small.audited('session.end').session),
    entitled: (product: Entitlement) => guarded(small.entitled(product)),
  };

  /** What a page has around its body, for one that is made elsewhere. */
  function frame(c: Context<Env>): PageFrame {
    const user = c.get('visitor') ?? null;
    const url = new URL(c.req.url);
    return {
      assets: addresses,
      banner,
      theme: themeOf(c),
      visitor: user === null ? null : { name: user.email ?? user.subject, entitlements: user.entitlements },
      query: url.pathname === '/search' ? (c.req.query('q') ?? '') : '',
      notice: notices(c.req.query('done'), c.req.query('count')),
      // A form's address is no page to come back to.
      here: c.req.method !== 'GET' || url.pathname === '/signin' ? '/' : `${url.pathname}${url.search}`,
    };
  }

  /** Answers a page that was made elsewhere. */
  function send(
    c: Context<Env>,
    page: string | Uint8Array<ArrayBuffer>,
    tryIt = false,
    status: ContentfulStatusCode = 200,
  ): Response {
    return c.body(page, status, {
      'Content-Type': 'text/html; charset=UTF-8',
      // What is large enough for a thread is counted until it is taken.
      ...(typeof page === 'string' ? {} : { 'Content-Length': String(page.byteLength) }),
      'Content-Security-Policy': [...policy, ...(tryIt ? ["connect-src 'self'"] : [])].join('; '),
      // Without a referrer a browser would not say where a form comes from, and no write would be taken.
      'Referrer-Policy': 'same-origin',
      // What one reader saw is not for who sits down next.
      'Cache-Control': 'private, no-store',
    });
  }

  /** Answers a page. */
  const show = (c: Context<Env>, view: View, status?: ContentfulStatusCode): Response =>
    send(c, renderPage(view, frame(c)), view.tryIt, status);

  return { guard, signIn: access.signIn, show, frame, send };
}

/** A page's query, check by the schema of the API; fields that a form leaves empty count as not given. */
export function readQuery<T extends z.ZodType>(c: Context<Env>, schema: T): z.output<T> {
  const given = Object.entries(c.req.queries()).map(([name, values]) => {
    const filled = values.filter((value) => value !== '');
    return [name, filled.length > 1 ? filled : filled[0]] as const;
  });
  return check(schema, Object.fromEntries(given.filter(([, value]) => value !== undefined)));
}

/** After a form was taken: on to a page that can be loaded again (303). */
export function goTo(c: Context<Env>, path: string, done?: { code: string; count?: number }): Response {
  const [page = '', anchor] = path.split('#');
  const query =
    done === undefined ? '' : `done=${done.code}${done.count === undefined ? '' : `&count=${done.count}`}`;
  const address = query === '' ? page : `${page}${page.includes('?') ? '&' : '?'}${query}`;
  return c.redirect(anchor === undefined ? address : `${address}#${anchor}`, 303);
}

/** Where a page of ours may lead on to: a path of this server, and nothing that a browser reads otherwise. */
export function safePath(text: string | undefined, fallback = '/'): string {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\')) return fallback;
  const base = 'http://here.invalid';
  return URL.canParse(text, base) && new URL(text, base).origin === base ? text : fallback;
}
