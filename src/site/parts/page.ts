import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { every } from 'hono/combine';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Entitlement } from '../../auth/viewer.ts';
import type { Access } from '../../http/access.ts';
import type { Env } from '../../http/env.ts';
import type { Rule } from '../../http/rule.ts';
import { check } from '../../http/schema.ts';
import type { Assets } from './assets.ts';
import { renderPage } from './layout.tsx';
import { notices } from './notices.ts';
import { themeOf } from './theme.ts';
import type { PageFrame, View } from './view.ts';

/** What all pages need. */
export interface PageContext {
  access: Access;
  assets: Assets;
  banner: string | null;
  now: () => Date;
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
export function createPageSupport({ access, assets, banner, now }: PageContext) {
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

  return { guard, signIn: access.signIn, show, frame, send, assets, banner, now };
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
