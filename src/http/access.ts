import { timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { silentAudit } from '../audit/stream.ts';
import { createTrail, type Trail } from '../audit/trail.ts';
import { type IntegrationTokens, integrationPrefix } from '../auth/integration-tokens.ts';
import { type Sessions, sessionCookie } from '../auth/sessions.ts';
import type { VerifyUserToken } from '../auth/tokens.ts';
import type { Entitlement, User, Viewer } from '../auth/viewer.ts';
import { forbidden, noSuchPath, unauthorized } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { audited } from './audited.ts';
import type { Env } from './env.ts';
import { type Limiter, tooMany } from './limits/limiter.ts';
import { addressKey, callerKey } from './observe/exchange.ts';
import type { Rule } from './rule.ts';

/** What a route needs otherwise than most. */
export interface RouteOptions {
  /** Bytes that the body of a request may have. */
  maxBody?: number;
  /** Its body is large and goes to a thread as it is: such requests are worked through one after the other. */
  upload?: boolean;
  /** Costs much more than a look-up: it has a smaller rate limit, and few run at once. */
  expensive?: boolean | ((c: Context<Env>) => boolean);
  /** Never limited, as health must answer when nothing else does. */
  unlimited?: boolean;
  /** What its answers to GET depend on, beside the URL: then they are kept as bytes. */
  kept?: 'catalog' | 'users' | null;
}

export interface Access {
  /** The same rules for a route with options. */
  with(options: RouteOptions): Access;
  /** No authentication; an Authorization header is not even looked at (DECISIONS D1.6). */
  public: Rule;
  /** A user token or a session; sets `user`. */
  user: Rule;
  /** A user token alone, where a session must not beget another (D1.7); sets `user`. */
  userToken: Rule;
  /** As `user`, or an integration token with the scope lists:read (D1.4); sets `viewer`. */
  listsRead: Rule;
  /** A session alone (D1.7); sets `user`. */
  session: Rule;
  /** No authentication, but who comes with a session is known; sets `visitor`. */
  visitor: Rule;
  /** The cron secret (D8.5). */
  cron: Rule;
  /** As `user`, with a product entitlement; sets `user`. */
  entitled(product: Entitlement): Rule;
  /** The user of a token that one of our own pages sends in a form. Throws 401, 403, 429. */
  signIn(c: Context<Env>, token: string): Promise<User>;
  /** A rule whose calls leave an event in the audit stream: the kind of object and the verb, as `list.create`. */
  audited(rule: Rule, action: string): Rule & { 'x-audit': string };
}

export interface AccessDeps {
  verify: VerifyUserToken;
  sessions: Sessions;
  integrationTokens: IntegrationTokens;
  /** Null turns the cron endpoint off. */
  cronSecret: string | null;
  limiter: Limiter;
  /** Checks encodings and reads the body, after the caller is known: D2.4 puts 401 and 403 before 400. */
  input: (options: RouteOptions, name: string) => MiddlewareHandler<Env>[];
  /** Where what callers do is told; silent by default. */
  trail?: Trail;
}

const userOrIntegration = 'user or lists:read';
const entitledTo = (product: Entitlement) => `user+${product}`;

/** Whether somebody, known by a user token or a session, may have what is behind a rule, by the rule's name. */
export function mayHave(name: string, user: User | null): boolean {
  if (name === 'public') return true;
  if (user === null) return false;
  if (name === 'user' || name === userOrIntegration) return true;
  return [...user.entitlements].some((product) => name === entitledTo(product));
}

/** The rules that routes declare. Each checks the caller first, then the input. */
export function createAccess(deps: AccessDeps, options: RouteOptions = {}): Access {
  const { verify, sessions, integrationTokens, cronSecret, limiter } = deps;
  const { trail = createTrail(silentAudit, null) } = deps;
  const { expensive = false, unlimited = false } = options;
  const input = (name: string) => deps.input(options, name);
  const userToken = { userToken: [] };
  const session = { session: [] };

  /** The caller of an Authorization header, or null when there is none. Throws 401. */
  async function bearerCaller(c: Context<Env>): Promise<Viewer | null> {
    const header = c.req.header('Authorization');
    if (header === undefined) return null;
    const viewer = await tokenCaller(c, header);
    return known(c, viewer, viewer.kind);
  }

  function tokenCaller(c: Context<Env>, header: string): Promise<Viewer> {
    return tried<Viewer>(c, async () => {
      const token = bearer(header);
      return token.startsWith(integrationPrefix)
        ? integrationTokens.find(token)
        : verify(token, c.get('exchange').remote);
    });
  }

  /** Looks at a token or cookie; an address that sends many invalid ones is turned away unheard. Throws 401, 429. */
  async function tried<T>(c: Context<Env>, look: () => Promise<T | null>): Promise<T> {
    const address = addressKey(c.get('exchange').remote);
    const wait = limiter.tokenWait(address);
    if (wait > 0) throw tooMany(wait);
    try {
      const found = await look();
      if (found === null) throw unauthorized();
      return found;
    } catch (error) {
      limiter.tokenFailed(address);
      throw error;
    }
  }

  /** Notes who is calling, and counts the request against its limit. Throws 429. */
  function known<V extends Viewer>(c: Context<Env>, viewer: V, type: 'user' | 'session' | 'integration'): V {
    const exchange = c.get('exchange');
    exchange.tokenType = type;
    exchange.subject = viewer.kind === 'user' ? viewer.subject : viewer.id;
    exchange.organization = viewer.organization;
    c.set('caller', { viewer, by: type === 'user' ? 'token' : type });
    count(c);
    return viewer;
  }

  function count(c: Context<Env>): void {
    if (unlimited) return;
    const wait = limiter.take(callerKey(c.get('exchange')), isExpensive(c, expensive));
    if (wait > 0) throw tooMany(wait);
  }

  /** The 401 of a request that brings nothing to look at. */
  function nobody(c: Context<Env>): never {
    count(c);
    throw unauthorized();
  }

  /** The user of the session cookie; a write must come from our own pages (D1.7). Throws 401, 403. */
  async function cookieCaller(c: Context<Env>): Promise<User> {
    const cookie = getCookie(c, sessionCookie);
    if (cookie === undefined) return nobody(c);
    const user = known(c, await tried(c, async () => sessions.find(cookie)), 'session');
    const reads = c.req.method === 'GET' || c.req.method === 'HEAD';
    if (!reads && !isSameOrigin(c)) throw forbidden('A session may write only from its own origin');
    return user;
  }

  function asUser(viewer: Viewer): User {
    if (viewer.kind !== 'user') throw forbidden('You need a user token');
    return viewer;
  }

  /** A rule whose check gives the user. */
  function userRule(
    security: Rule['security'],
    name: string,
    check: (c: Context<Env>) => Promise<User>,
  ): Rule {
    const middleware: MiddlewareHandler<Env> = async (c, next) => {
      const user = await check(c);
      c.set('user', user);
      c.set('visitor', user);
      await next();
    };
    return { security, 'x-access': name, middleware: [middleware, ...input(name)] };
  }

  const caller = async (c: Context<Env>) => (await bearerCaller(c)) ?? (await cookieCaller(c));

  const anybody: MiddlewareHandler<Env> = async (c, next) => {
    count(c);
    await next();
  };

  const visitor: MiddlewareHandler<Env> = async (c, next) => {
    const cookie = getCookie(c, sessionCookie);
    // A session that is over is no attempt at one: the page is there for everybody.
    const user = cookie === undefined ? null : await sessions.find(cookie);
    c.set('visitor', user === null ? null : known(c, user, 'session'));
    if (user === null) count(c);
    await next();
  };

  const listsRead: MiddlewareHandler<Env> = async (c, next) => {
    c.set('viewer', await caller(c));
    await next();
  };

  const cron: MiddlewareHandler<Env> = async (c, next) => {
    if (cronSecret === null) throw noSuchPath();
    const given = /^Bearer +(.+)$/i.exec(c.req.header('Authorization') ?? '')?.[1] ?? '';
    // Digests have one length and tell nothing of the secret.
    const same = timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(cronSecret)));
    await tried(c, async () => same || null);
    c.get('exchange').tokenType = 'cron';
    count(c);
    await next();
  };

  return {
    with: (more) => createAccess(deps, { ...options, ...more }),
    public: {
      security: [],
      'x-access': 'public',
      ...(unlimited && { 'x-unlimited': true }),
      middleware: [anybody, ...input('public')],
    },
    user: userRule([userToken, session], 'user', async (c) => asUser(await caller(c))),
    userToken: userRule([userToken], 'user token', async (c) => {
      const viewer = await bearerCaller(c);
      return asUser(viewer ?? nobody(c));
    }),
    listsRead: {
      security: [userToken, session, { integrationToken: ['lists:read'] }],
      'x-access': userOrIntegration,
      middleware: [listsRead, ...input(userOrIntegration)],
    },
    session: userRule([session], 'session', cookieCaller),
    cron: { security: [{ cronSecret: [] }], 'x-access': 'cron', middleware: [cron, ...input('cron')] },
    visitor: { security: [], 'x-access': 'public', middleware: [visitor, ...input('public')] },
    entitled: (product) =>
      userRule([{ userToken: [product] }, { session: [product] }], entitledTo(product), async (c) => {
        const user = asUser(await caller(c));
        if (!mayHave(entitledTo(product), user)) {
          c.set('unentitled', true);
          throw forbidden(
            `You need the ${product === 'occ' ? 'role-data' : 'document'} permission (${product})`,
          );
        }
        return user;
      }),
    async signIn(c, token) {
      if (!isSameOrigin(c)) throw forbidden('Sign in from the sign-in page of this server');
      return asUser(await tokenCaller(c, `Bearer ${token}`));
    },
    audited: (rule, action) => audited(trail, rule, action),
  };
}

/** Whether a request is one of the expensive ones of its route. */
export function isExpensive(c: Context<Env>, expensive: RouteOptions['expensive']): boolean {
  return typeof expensive === 'function' ? expensive(c) : expensive === true;
}

/** The token of an Authorization header: one header, scheme Bearer in any case, one token. */
function bearer(header: string): string {
  const match = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header);
  if (!match) throw unauthorized();
  return match[1]!;
}

/** Whether a browser says that one of our own pages sends the request; what says nothing is not believed. */
function isSameOrigin(c: Context<Env>): boolean {
  const site = c.req.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin';
  const origin = c.req.header('Origin');
  if (origin === undefined || !URL.canParse(origin)) return false;
  // The host alone: behind a proxy that ends TLS the schemes differ.
  return new URL(origin).host === (c.req.header('Host') ?? new URL(c.req.url).host);
}
