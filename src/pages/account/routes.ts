import type { Context, Hono } from 'hono';
import { SignInRefused } from '../../auth/sign-in-refused.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { lifetimeOf } from '../../base/lifetime.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import { newOwnTokenBody } from '../../http/session-api.ts';
import { goTo, type PageSupport, safePath, withNotice } from '../parts/page.ts';
import { ownTokensPage } from './own-tokens-page.tsx';
import { leadOnPage, signInPage } from './sign-in.tsx';
import { type Account, takeBinding, waysToSignIn } from './ways.ts';

/** The pages to sign in and out (rules D1.7 and D43) and of one's own tokens. */
export function signInPages(app: Hono<Env>, support: PageSupport, account: Account): void {
  const { guard, show, signIn, userOf, secondsLeft } = support;
  const { sessions, cookie, certificates } = account;

  function signInAgain(c: Context<Env>, page: { next: string; problem: string | null }, status?: 401 | 403) {
    const ways = waysToSignIn(c, account, page.next);
    return show(c, signInPage({ ...page, ways, idleMinutes: account.sessionIdle }), status);
  }

  app.get('/signin', guard.visitor, (c) =>
    signInAgain(c, { next: safePath(c.req.query('next')), problem: null }),
  );

  app.post('/signin', guard.signIn, async (c) => {
    const form = c.get('form');
    const next = safePath(form.get('next'));
    const byCertificate = form.get('with') === 'certificate';
    if (byCertificate && certificates === null) throw badRequest('Signing in by certificate is not set up');
    const find = async () =>
      byCertificate
        ? certificates!.identify(c.get('record').certificate())
        : userOf(
            c,
            form
              .get('token')
              .trim()
              .replace(/^Bearer\s+/i, ''),
          );
    try {
      const begin = sessions.start;
      const by = byCertificate ? 'certificate' : 'user';
      cookie.set(c, await signIn(c, by, find, (user) => begin(user, cookie.read(c))));
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== 'UNAUTHORIZED' && error.code !== 'FORBIDDEN'))
        throw error;
      const unknown =
        'This token cannot be used: it is not a user token, or it is invalid, expired or revoked';
      const isKnown = error.code === 'FORBIDDEN' || error instanceof SignInRefused;
      return signInAgain(
        c,
        { next, problem: isKnown ? error.message : unknown },
        error.code === 'UNAUTHORIZED' ? 401 : 403,
      );
    }
    return goTo(c, next, { code: 'signed-in' });
  });

  organizationPage(app, support, account, signInAgain);
  ownTokenPages(app, support, account);

  app.post('/session', guard.session, (c) =>
    c.json({ secondsLeft: secondsLeft(c.get('user')) }, 200, { 'Cache-Control': 'no-store' }),
  );

  app.post('/signout', guard.ofSession('session.end'), async (c: Context<Env>) => {
    await sessions.end(cookie.read(c)!);
    cookie.clear(c);
    return goTo(c, '/', { code: 'signed-out' });
  });
}

/** What the provider of the organization has the browser post (rule D43.3). */
function organizationPage(
  app: Hono<Env>,
  { guard, show, signIn }: PageSupport,
  { sessions, cookie, organization }: Account,
  signInAgain: (c: Context<Env>, page: { next: string; problem: string }, status: 401) => Response,
): void {
  if (organization === null) return;
  app.post('/signin/oidc', guard.provider, async (c) => {
    c.set('visitor', null);
    const form = c.get('form');
    const given = { state: form.get('state'), token: form.get('id_token'), error: form.get('error') };
    let next = '/';
    let use = () => {};
    try {
      const find = async () => {
        if (!c.get('record').secure) throw new SignInRefused('SIGN_IN_UNPROTECTED');
        const signedIn = await organization.finish(takeBinding(c), given);
        next = safePath(signedIn.next);
        use = signedIn.use;
        return signedIn.user;
      };
      cookie.set(
        c,
        await signIn(c, 'organization', find, (user) => sessions.start(user, cookie.read(c), use)),
      );
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
      return signInAgain(c, { next, problem: error.message }, 401);
    }
    // A redirect from another site would not bring the cookie, which is Strict: so a page of ours leads on.
    return show(c, leadOnPage(withNotice(next, { code: 'signed-in' })));
  });
}

/** The page of one's own tokens (rule D43.6). */
function ownTokenPages(app: Hono<Env>, { guard, show }: PageSupport, { ownTokens, newId }: Account): void {
  if (ownTokens === null) return;
  app.get('/account', guard.session, (c) =>
    show(c, ownTokensPage({ tokens: ownTokens.list(c.get('user')), made: null })),
  );

  app.post('/account', guard.ofSession('user-token.create'), async (c) => {
    const form = c.get('form');
    const { name, ttl } = check(newOwnTokenBody, { name: form.get('name'), ttl: form.get('ttl') });
    const user = c.get('user');
    const made = await ownTokens.create(user, { id: newId(), name, lifetime: lifetimeOf(ttl)! });
    return show(c, ownTokensPage({ tokens: ownTokens.list(user), made }));
  });

  app.post('/account/revoke', guard.ofSession('user-token.revoke'), async (c) => {
    await ownTokens.revoke(c.get('user'), c.get('form').get('id'));
    return goTo(c, '/account', { code: 'token-revoked' });
  });
}
