import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { ClientCertificates } from '../../auth/certificates.ts';
import { bindingCookie, longestSignIn, type OrganizationSignIn } from '../../auth/organization-sign-in.ts';
import type { OwnTokens } from '../../auth/own-tokens.ts';
import type { Sessions } from '../../auth/sessions.ts';
import type { Env } from '../../http/env.ts';
import type { SessionCookie } from '../../http/session-api.ts';

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

/** The ways to sign in that are set up, beside a token. */
export interface Ways {
  certificate: boolean;
  /** The address at the provider of the organization. */
  organization: string | null;
}

const bindingAttributes = { httpOnly: true, secure: true, sameSite: 'None', path: '/' } as const;

/** The ways to sign in and then to go to a page; binds a sign-in at the provider to this browser, where there is TLS. */
export function waysToSignIn(c: Context<Env>, { certificates, organization }: Account, next: string): Ways {
  const certificate = certificates !== null;
  if (organization === null || !c.get('record').secure) return { certificate, organization: null };
  const { href, binding } = organization.begin(getCookie(c, bindingCookie), next);
  setCookie(c, bindingCookie, binding, { ...bindingAttributes, maxAge: longestSignIn });
  return { certificate, organization: href };
}

/** Takes the binding of this browser: it is for one sign-in. */
export function takeBinding(c: Context<Env>): string | undefined {
  const binding = getCookie(c, bindingCookie);
  setCookie(c, bindingCookie, '', { ...bindingAttributes, maxAge: 0 });
  return binding;
}
