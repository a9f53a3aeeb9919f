import type { Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Child } from 'hono/jsx';
import type { ClientCertificates } from '../../auth/certificates.ts';
import { bindingCookie, longestSignIn, type OrganizationSignIn } from '../../auth/organization-sign-in.ts';
import type { OwnTokens } from '../../auth/own-tokens.ts';
import type { Sessions } from '../../auth/sessions.ts';
import { SignInRefused } from '../../auth/sign-in-refused.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { lifetimeOf } from '../../base/lifetime.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import { newOwnTokenBody, type SessionCookie } from '../../http/session-api.ts';
import { Moment } from '../parts/components.tsx';
import {
  Fields,
  FieldsForm,
  type FormField,
  Hidden,
  PostButton,
  Problem,
  typedFields,
} from '../parts/forms.tsx';
import { listing } from '../parts/listing.tsx';
import { goTo, type PageSupport, safePath, withNotice } from '../parts/page.ts';

export interface Account {
  sessions: Sessions;
  cookie: SessionCookie;
  publicUrl: string | null;
  /** Minutes after which an unused session ends. */
  sessionIdle: number;
  /** The ways to sign in beside a token; null where one is not set up. */
  certificates: ClientCertificates | null;
  organization: OrganizationSignIn;
  /** Null while users may make no tokens. */
  ownTokens: OwnTokens | null;
  newId: () => string;
}

/** The pages to sign in and out (rules D1.7 and D43) and of one's own tokens. */
export function signInPages(app: Hono<Env>, support: PageSupport, account: Account): void {
  const { guard, show, signIn, userOf, secondsLeft } = support;
  const { sessions, cookie, certificates, organization } = account;

  /** The sign-in page: the ways that are set up, the usual one first. */
  function signInPage(
    c: Context<Env>,
    next: string,
    problem: string | null = null,
    status: 200 | 401 | 403 = 200,
  ) {
    const byOrganization = organizationHref(c, organization, next);
    const isTokenAlone = certificates === null && byOrganization === null;
    const byToken = (
      <FieldsForm action="/signin" submit="Sign in" autocomplete="off">
        <Hidden fields={{ next }} />
        <Fields of={[tokenField]} typed={{}} />
      </FieldsForm>
    );
    const body = (
      <>
        <p class="lead">
          {isTokenAlone ? 'Paste a user token to start' : 'Start'} a session in this browser. The session ends
          after {account.sessionIdle} minutes without activity, after 12 hours, or when what you sign in with
          expires.
        </p>
        <Problem text={problem} />
        {certificates === null ? null : (
          <FieldsForm action="/signin" submit="Sign in with your certificate">
            <Hidden fields={{ next, with: 'certificate' }} />
            <p class="hint">
              Insert your card before you open the browser. It may ask you for a certificate and a PIN.
            </p>
          </FieldsForm>
        )}
        {byOrganization === null ? null : (
          <p>
            <a class="button" href={byOrganization} rel="noreferrer">
              Sign in with your organization
            </a>
          </p>
        )}
        {isTokenAlone ? (
          byToken
        ) : (
          <details>
            <summary>Sign in with a user token</summary>
            {byToken}
          </details>
        )}
        <p>
          You can read <a href="/controls">controls</a> and the crosswalk without signing in.
        </p>
      </>
    );
    return show(c, { title: 'Sign in', body }, status);
  }

  app.get('/signin', guard.visitor, (c) => signInPage(c, safePath(c.req.query('next'))));

  app.post('/signin', guard.signIn, async (c) => {
    const form = c.get('form');
    const next = safePath(form.get('next'));
    const byCertificate = form.get('with') === 'certificate';
    if (byCertificate && certificates === null) throw badRequest('Signing in by certificate is not set up');
    const token = form
      .get('token')
      .trim()
      .replace(/^Bearer\s+/i, '');
    const find = async () =>
      byCertificate ? certificates!.identify(c.get('record').certificate()) : userOf(c, token);
    try {
      const by = byCertificate ? 'certificate' : 'user';
      cookie.set(c, await signIn(c, by, find, (user) => sessions.start(user, cookie.read(c))));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, message } = error;
      if (code !== 'UNAUTHORIZED' && code !== 'FORBIDDEN') throw error;
      const isKnown = code === 'FORBIDDEN' || error instanceof SignInRefused;
      const unknown =
        'This token cannot be used: it is not a user token, or it is invalid, expired or revoked';
      return signInPage(c, next, isKnown ? message : unknown, code === 'UNAUTHORIZED' ? 401 : 403);
    }
    return goTo(c, next, { code: 'signed-in' });
  });

  // What the provider of the organization has the browser post (rule D43.3).
  if (organization !== null)
    app.post('/signin/oidc', guard.provider, async (c) => {
      c.set('visitor', null);
      const form = c.get('form');
      const given = { state: form.get('state'), token: form.get('id_token'), error: form.get('error') };
      let next = '/';
      let use = () => {};
      const find = async () => {
        if (!c.get('record').secure) throw new SignInRefused('SIGN_IN_UNPROTECTED');
        const signedIn = await organization.finish(takeBinding(c), given);
        next = safePath(signedIn.next);
        use = signedIn.use;
        return signedIn.user;
      };
      try {
        const start = (user: Parameters<Sessions['start']>[0]) => sessions.start(user, cookie.read(c), use);
        cookie.set(c, await signIn(c, 'organization', find, start));
      } catch (error) {
        if (!(error instanceof SignInRefused)) throw error;
        return signInPage(c, next, error.message, 401);
      }
      // A redirect from another site would not bring the cookie, which is Strict: so a page of ours leads on.
      const leadsTo = withNotice(next, { code: 'signed-in' });
      const body = (
        <p class="lead">
          <a href={leadsTo}>Go on</a>
        </p>
      );
      return show(c, { title: 'You are signed in', leadsTo, body });
    });

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

const tokenField: FormField = {
  name: 'token',
  label: 'User token',
  isLong: true,
  attributes: { class: 'mono', required: true, spellcheck: false, maxlength: 8192 },
  hint: (
    <>
      It comes from your identity provider or, where Gapstone issues its own, from{' '}
      <code>gapstone token issue --subject NAME</code>. The server does not store it.
    </>
  ),
};

const bindingAttributes = { httpOnly: true, secure: true, sameSite: 'None', path: '/' } as const;

/** The address at the provider of the organization; binds the sign-in there to this browser, where there is TLS. */
function organizationHref(c: Context<Env>, organization: OrganizationSignIn, next: string): string | null {
  if (organization === null || !c.get('record').secure) return null;
  const { href, binding } = organization.begin(getCookie(c, bindingCookie), next);
  setCookie(c, bindingCookie, binding, { ...bindingAttributes, maxAge: longestSignIn });
  return href;
}

/** Takes the binding of this browser: it is for one sign-in. */
function takeBinding(c: Context<Env>): string | undefined {
  const binding = getCookie(c, bindingCookie);
  setCookie(c, bindingCookie, '', { ...bindingAttributes, maxAge: 0 });
  return binding;
}

const tokenFields = [
  {
    name: 'name',
    label: 'Name',
    hint: 'What it is for, such as the name of the script.',
    attributes: { required: true, maxlength: 100 },
  },
  {
    name: 'ttl',
    label: 'Valid for',
    choices: [
      ['8h', '8 hours'],
      ['7d', '7 days'],
      ['30d', '30 days'],
    ],
  },
] as const satisfies FormField[];

/** The page of one's own tokens (rule D43.6). */
function ownTokenPages(app: Hono<Env>, { guard, show }: PageSupport, { ownTokens, newId }: Account): void {
  if (ownTokens === null) return;

  /** The tokens of the reader; a new one is shown once. */
  function page(c: Context<Env>, created: Child = null): Response {
    const body = (
      <>
        <p class="lead">
          A token lets a script ask in your name, with the organization and the permissions that you have when
          you make it. Revoke one that you no longer need.
        </p>
        {created}
        {listing({
          caption: 'Your tokens',
          columns: [
            ['Name', ({ name }) => name],
            ['Made', ({ createdAt }) => <Moment at={createdAt} />],
            ['Valid until', ({ expiresAt }) => <Moment at={expiresAt} />],
            [
              'Revoke',
              ({ id, name }) => (
                <PostButton action="/account/revoke" label="Revoke" about={name} fields={{ id }} />
              ),
            ],
          ],
          rows: ownTokens!.list(c.get('user')),
          empty: 'You have no tokens.',
        })}
        <h2>Create a token</h2>
        <FieldsForm action="/account" submit="Create token" autocomplete="off">
          <Fields of={tokenFields} typed={{ ttl: '8h' }} />
        </FieldsForm>
      </>
    );
    return show(c, { title: 'Your tokens', section: 'account', body });
  }

  app.get('/account', guard.session, (c) => page(c));

  app.post('/account', guard.ofSession('user-token.create'), async (c) => {
    const { name, ttl } = check(newOwnTokenBody, typedFields(c.get('form'), tokenFields));
    const created = await ownTokens.create(c.get('user'), { id: newId(), name, lifetime: lifetimeOf(ttl)! });
    return page(
      c,
      <section class="notice" role="status">
        <p>This is the token “{created.name}”. Copy it now: it is shown only once.</p>
        <p>
          <code class="mono" data-cite="token">
            {created.token}
          </code>
        </p>
      </section>,
    );
  });

  app.post('/account/revoke', guard.ofSession('user-token.revoke'), async (c) => {
    await ownTokens.revoke(c.get('user'), c.get('form').get('id'));
    return goTo(c, '/account', { code: 'token-revoked' });
  });
}
