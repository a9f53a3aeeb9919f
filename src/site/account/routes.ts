import type { Context, Hono } from 'hono';
import { AppError } from '../../base/errors.ts';
import type { Env } from '../../http/env.ts';
import { parseFields } from '../../http/form.ts';
import { goTo, type PageDeps, type PageSupport, safePath } from '../parts/page.ts';
import { sendAgainPage, signInPage } from './sign-in.tsx';

/** Signing in and out (rule D1.7): the forms beside `/api/v1/session`. */
export function signInPages(
  app: Hono<Env>,
  { guard, show, signIn }: PageSupport,
  { sessions, cookie }: PageDeps,
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
    // The reader sends it, not we: so it passes every rule that a form of theirs must pass.
    return show(c, sendAgainPage({ to: kept.to, fields }));
  });

  app.post('/signout', guard.signOut, async (c: Context<Env>) => {
    await sessions.end(cookie.read(c)!);
    cookie.clear(c);
    return goTo(c, '/', { code: 'signed-out' });
  });
}
