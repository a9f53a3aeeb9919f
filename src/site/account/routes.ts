import type { Context, Hono } from 'hono';
import type { Sessions } from '../../auth/sessions.ts';
import { AppError } from '../../base/errors.ts';
import type { Env } from '../../http/env.ts';
import { parseFields } from '../../http/form.ts';
import { check, oneWord } from '../../http/schema.ts';
import type { SessionCookie } from '../../http/session-cookie.ts';
import { goTo, type PageSupport, safePath } from '../parts/page.ts';
import { keepLook } from '../parts/theme.ts';
import { densities, themes } from '../parts/view.ts';
import { sendAgainPage, signInPage } from './sign-in.tsx';

export interface Account {
  sessions: Sessions;
  cookie: SessionCookie;
}

/** The pages to sign in and out (rule D1.7), and the look of the pages. */
export function signInPages(
  app: Hono<Env>,
  { guard, show, signIn }: PageSupport,
  { sessions, cookie }: Account,
): void {
  app.get('/signin', guard.visitor, (c) =>
    show(c, signInPage({ next: safePath(c.req.query('next')), problem: null, kept: null })),
  );

  app.post('/signin', guard.signIn, async (c) => {
    const form = c.get('form');
    const next = safePath(form.get('next'));
    const to = safePath(form.get('to'), '');
    const kept = to === '' ? null : { to, fields: form.get('fields') };
    const fields = parseFields(kept?.fields ?? '');
    try {
      const user = await signIn(c, form.get('token').trim());
      cookie.set(c, await sessions.start(user, cookie.read(c)));
      c.set('visitor', user);
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== 'UNAUTHORIZED' && error.code !== 'FORBIDDEN'))
        throw error;
      const unknown =
        'This token cannot be used: it is not a user token, or it is invalid, expired or revoked';
      const problem = error.code === 'UNAUTHORIZED' ? unknown : error.message;
      return show(c, signInPage({ next, problem, kept }), error.code === 'UNAUTHORIZED' ? 401 : 403);
    }
    if (kept === null) return goTo(c, next, { code: 'signed-in' });
    // The reader sends it, not the server: so it passes every check of a form.
    return show(c, sendAgainPage({ to: kept.to, fields }));
  });

  app.post('/signout', guard.signOut, async (c: Context<Env>) => {
    await sessions.end(cookie.read(c)!);
    cookie.clear(c);
    return goTo(c, '/', { code: 'signed-out' });
  });

  app.post('/theme', guard.visitor, (c) => {
    const form = c.get('form');
    keepLook(c, cookie, check(oneWord('theme', [...themes, ...densities]), form.get('theme')));
    return goTo(c, safePath(form.get('next')));
  });
}
