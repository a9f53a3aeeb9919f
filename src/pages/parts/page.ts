import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { every } from 'hono/combine';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Entitlement, User } from '../../auth/viewer.ts';
import { sha256 } from '../../base/ids.ts';
import type { Access, Rule } from '../../http/access.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Assets } from './assets.ts';
import { renderPage } from './layout.tsx';
import type { PageFrame, View } from './view.ts';

export interface PageContext {
  access: Access;
  assets: Assets;
  banner: string | null;
  now: () => Date;
  /** Minutes after which an unused session ends. */
  sessionIdle: number;
  /** Whether readers may make tokens of their own. */
  selfTokens: boolean;
  /** The digest of the catalog; null where no change stored it. */
  digest(): string | null;
}

export type PageSupport = ReturnType<typeof createPageSupport>;

/** A form with files. */
const maxUpload = 65 * 1024 * 1024;

/**
 * Bytes of a form (rule D2.6): of most, of one with notes or check boxes, of one to paste into. URL-encoded, a
 * character takes up to 12 bytes.
 */
const formSizes = { small: 16 * 1024, notes: 64 * 1024, pasted: 1024 * 1024 };

interface FormOptions {
  /** The field that names the object, where the path does not. */
  field?: string;
  size?: keyof typeof formSizes;
  expensive?: boolean;
  made?: boolean;
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

/** Makes the functions that all pages share. */
export function createPageSupport(context: PageContext) {
  const { access, assets, banner, now, digest, sessionIdle, selfTokens } = context;
  const guarded = (rule: Rule) => every(...rule.middleware);
  const small = access.with({ maxBody: formSizes.small });
  const { find: _, ...addresses } = assets;

  const guard = {
    user: guarded(small.user),
    costly: guarded(small.with({ expensive: true }).user),
    /** As `user`, for a form with an audited action, such as `list.create`. */
    audited: (action: string, { field, size = 'small', expensive = false, made = false }: FormOptions = {}) =>
      guarded(
        access
          .with({ maxBody: formSizes[size], expensive, made })
          .audited(action, (c) => (field === undefined ? undefined : c.get('form')?.get(field))).user,
      ),
    /** For a form with files; `others` gives the bytes that its work reads besides its body. */
    upload: (others: (c: Context<Env>) => number) =>
      guarded(access.with({ maxBody: maxUpload, upload: others, expensive: true }).user),
    visitor: guarded(small.visitor),
    signIn: guarded(small.audited('session.create').visitor),
    /** What the provider of the organization has a browser send: from another site, and without a session. */
    provider: guarded(small.audited('session.create').public),
    session: guarded(small.session),
    ofSession: (action: string) =>
      guarded(small.audited(action, (c) => c.get('form')?.get('id') || undefined).session),
    entitled: (product: Entitlement) => guarded(small.entitled(product)),
  };

  /** What surrounds the body of a page: a thread needs it to make one. */
  function frame(c: Context<Env>): PageFrame {
    const user = c.get('visitor') ?? null;
    const url = new URL(c.req.url);
    for (const name of ['done', 'count']) url.searchParams.delete(name);
    return {
      assets: addresses,
      banner,
      digest: user === null ? null : digest(),
      day: now().toISOString().slice(0, 10),
      visitor:
        user === null
          ? null
          : {
              name: user.email ?? user.subject,
              entitlements: user.entitlements,
              key: sha256(user.subject).slice(0, 16),
              idleSeconds: sessionIdle * 60,
              secondsLeft: secondsLeft(user),
              makesTokens: selfTokens,
            },
      query: url.pathname === '/search' ? (c.req.query('q') ?? '') : '',
      notice: notices(c.req.query('done'), c.req.query('count')),
      // The address of a form is no page to return to.
      here: c.req.method !== 'GET' || url.pathname === '/signin' ? '/' : `${url.pathname}${url.search}`,
    };
  }

  const secondsLeft = ({ expiresAt }: User) => Math.max(0, expiresAt - Math.floor(now().getTime() / 1000));

  function send(
    c: Context<Env>,
    page: string | Uint8Array<ArrayBuffer>,
    status: ContentfulStatusCode = 200,
  ): Response {
    return c.body(page, status, {
      'Content-Type': 'text/html; charset=UTF-8',
      // With a length, the server can count a large page until it is sent.
      ...(typeof page === 'string' ? {} : { 'Content-Length': String(page.byteLength) }),
      'Content-Security-Policy': [
        ...policy,
        // A page of who is signed in keeps its session alive where its reader asks for it.
        ...(c.get('visitor') ? ["connect-src 'self'"] : []),
      ].join('; '),
      // Without a referrer, browsers send no origin with a form, and the server would refuse it.
      'Referrer-Policy': 'same-origin',
      // A browser must not show one reader's page to the next.
      'Cache-Control': 'private, no-store',
    });
  }

  const show = (c: Context<Env>, view: View, status?: ContentfulStatusCode): Response =>
    send(c, renderPage(view, frame(c)), status);

  const { signIn, userOf } = access;
  return { guard, signIn, userOf, secondsLeft, show, frame, send, assets, banner, now };
}

/** Validates the query of a page with the schema of the API; empty fields count as missing. */
export function readQuery<T extends z.ZodType>(c: Context<Env>, schema: T): z.output<T> {
  const given = Object.entries(c.req.queries()).map(([name, values]) => {
    const filled = values.filter((value) => value !== '');
    return [name, filled.length > 1 ? filled : filled[0]] as const;
  });
  const values = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  return check(schema, values, false);
}

interface Done {
  code: string;
  count?: number;
}

/** After an action: redirects (303) to a page that the reader can reload. */
export const goTo = (c: Context<Env>, path: string, done?: Done): Response =>
  c.redirect(withNotice(path, done), 303);

/** The address of a page that says what was done. */
export function withNotice(path: string, done?: Done): string {
  const [page = '', anchor] = path.split('#');
  const query =
    done === undefined ? '' : `done=${done.code}${done.count === undefined ? '' : `&count=${done.count}`}`;
  const address = query === '' ? page : `${page}${page.includes('?') ? '&' : '?'}${query}`;
  return anchor === undefined ? address : `${address}#${anchor}`;
}

/** A path of this server that is safe to redirect to; else `fallback`. */
export function safePath(text: string | undefined, fallback = '/'): string {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\')) return fallback;
  const base = 'http://here.invalid';
  return URL.canParse(text, base) && new URL(text, base).origin === base ? text : fallback;
}

/** Messages after an action. The address has only a code: a page never shows a text from its address. */
const texts: Record<string, (count: number) => string> = {
  created: () => 'Created.',
  changed: () => 'Saved.',
  copied: () => 'Copied. Only you can see this copy.',
  'list-deleted': () => 'List deleted. You can restore it below for 30 days.',
  'collection-deleted': () => 'Collection deleted.',
  restored: () => 'List restored with all its STIGs.',
  added: (count) =>
    count === 0 ? 'Nothing added: it was already there.' : count === 1 ? 'Added.' : `${count} added.`,
  seen: () => 'Marked as read. Only later releases are new to you.',
  'hosts-kept': (count) => `${count} ${count === 1 ? 'host is' : 'hosts are'} saved with the list.`,
  'hosts-decoded': (count) =>
    `${count} ${count === 1 ? 'host is' : 'hosts are'} saved with the list. The file is not UTF-8: it was read as windows-1252.`,
  removed: (count) => (count === 1 ? 'Removed.' : `${count} removed.`),
  favorite: () => 'Added to favorites.',
  unfavorite: () => 'Removed from favorites.',
  'signed-in': () => 'You are signed in.',
  'token-revoked': () => 'Token revoked.',
  'signed-out': () => 'You are signed out.',
};

/** The message for a code and a count; null for an unknown code. */
function notices(code: string | undefined, count: string | undefined): string | null {
  const text = code !== undefined && Object.hasOwn(texts, code) ? texts[code] : undefined;
  return text?.(/^\d{1,6}$/.test(count ?? '') ? Number(count) : 1) ?? null;
}
