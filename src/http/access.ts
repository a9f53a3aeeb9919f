import { timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
import { getCookie } from 'hono/cookie';
import { type IntegrationTokens, integrationPrefix } from '../auth/integration-tokens.ts';
import { type Sessions, sessionCookie } from '../auth/sessions.ts';
import type { VerifyUserToken } from '../auth/tokens.ts';
import type { Entitlement, User, Viewer } from '../auth/viewer.ts';
import { AppError, forbidden, noSuchPath, unauthorized } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { notModified } from './answer.ts';
import type { Call, Caller, RequestAudit } from './audited.ts';
import type { Env } from './env.ts';
import { type Limiter, tooMany } from './limits/limiter.ts';
import { addressKey, callerKey, noteCaller } from './observe/record.ts';
import { isExpensive, type RouteOptions, type Rule } from './rule.ts';
import { isSameOrigin } from './same-origin.ts';

export interface Access {
  with(options: RouteOptions): Access;
  /** The same rules, for a route whose calls each write an event to the audit stream; see `RouteOptions`. */
  audited(action: string, objectId?: (c: Context<Env>) => string | undefined): Access;
  /** No authentication: the Authorization header is ignored (rule D1.6). */
  public: Rule;
  /** A user token or a session; sets `user`. */
  user: Rule;
  /** As `user`, but public for a request that names what everybody may read (rule D41.4). */
  userUnless(isPublic: (c: Context<Env>) => boolean): Rule;
  /** A user token only, because a session cannot create another session (D1.7); sets `user`. */
  userToken: Rule;
  /** As `user`, or an integration token with the scope lists:read (D1.4); sets `viewer`. */
  listsRead: Rule;
  /** Public; sets `program`, with the user of a valid user token. Cookies and integration tokens do not count. */
  program: Rule;
  /** A session only (D1.7); sets `user`. */
  session: Rule;
  /** No authentication; sets `visitor` from a valid session. A form must come from this server's own pages. */
  visitor: Rule;
  /** The cron secret (D8.5). */
  cron: Rule;
  /** As `user`, with a product entitlement; sets `user`. */
  entitled(product: Entitlement): Rule;
  /** The user of a token that a form sends. Throws 401, 403, 429. */
  signIn(c: Context<Env>, token: string): Promise<User>;
}

export interface AccessDeps {
  verify: VerifyUserToken;
  sessions: Pick<Sessions, 'find'>;
  integrationTokens: Pick<IntegrationTokens, 'find'>;
  /** Null turns the cron endpoint off. */
  cronSecret: string | null;
  limiter: Limiter;
  audit: RequestAudit;
  /** Checks encodings and reads the body, after the caller is known: D2.4 puts 401 and 403 before 400. */
  input: (options: RouteOptions, name: string) => MiddlewareHandler<Env>[];
}

const userOrIntegration = 'user or lists:read';
const entitledTo = (product: Entitlement) => `user+${product}`;

/** Whether a user (null: anonymous) may read what an access rule of this name protects. */
export function mayHave(name: string, user: User | null): boolean {
  if (name === 'public') return true;
  if (user === null) return false;
  if (name === 'user' || name === userOrIntegration) return true;
  return [...user.entitlements].some((product) => name === entitledTo(product));
}

/** The access rules of routes: each identifies the caller, counts and authorizes the request, and reads its input. */
export function createAccess(deps: AccessDeps, options: RouteOptions = {}): Access {
  const { tokenViewer, byToken, byGoodToken, bySession, byEither, byOpenSession, bySecret } =
    createIdentification(deps);
  const { rule, userRule } = createRules(deps, options);
  const userToken = { userToken: [] };
  const session = { session: [] };
  const open = rule('public', [], byNothing, admitAll);
  const user = userRule('user', [userToken, session], byEither);
  return {
    with: (more) => createAccess(deps, { ...options, ...more }),
    audited: (action, objectId) =>
      createAccess(deps, { ...options, audited: { action, objectId }, kept: null }),
    public: open,
    visitor: rule('public', [], byOpenSession, (c, { caller }) => {
      if (!isReadOrSameOrigin(c)) throw forbidden('Send this form from a page of this server');
      c.set('visitor', caller?.viewer ? asUser(caller.viewer) : null);
    }),
    user,
    userUnless: (isPublic) => ({
      security: [{}, userToken, session],
      'x-access': 'user unless public',
      middleware: [(c, next) => every(...(isPublic(c) ? open : user).middleware)(c, next)],
    }),
    userToken: userRule('user token', [userToken], byToken),
    program: rule('public', [], byGoodToken, (c, call) => {
      const record = c.get('record');
      c.set('program', {
        user: call.caller?.viewer ? asUser(call.caller.viewer) : null,
        refused() {
          call.refused = 'UNAUTHORIZED';
          if (c.req.header('Authorization') !== undefined)
            deps.limiter.tokenFailed(addressKey(record.remote));
        },
        costly() {
          const wait = deps.limiter.take(callerKey(record), true);
          if (wait > 0) throw tooMany(wait);
        },
      });
    }),
    session: userRule('session', [session], bySession),
    listsRead: rule(
      userOrIntegration,
      [userToken, session, { integrationToken: ['lists:read'] }],
      byEither,
      (c, call) => c.set('viewer', viewerOf(c, call)),
    ),
    cron: rule('cron', [{ cronSecret: [] }], bySecret, admitAll),
    entitled: (product) =>
      userRule(entitledTo(product), [{ userToken: [product] }, { session: [product] }], byEither, product),
    async signIn(c, token) {
      return asUser(await tokenViewer(c, `Bearer ${token}`));
    },
  };
}

type Identify = (c: Context<Env>) => Promise<Caller | null>;

/** The ways to identify a caller. Each gives null without credentials, and throws 401 or 429 for invalid ones. */
function createIdentification({ verify, sessions, integrationTokens, cronSecret, limiter }: AccessDeps) {
  /** Verifies a token or cookie; an address that sent many invalid ones gets 429 without a check. */
  async function tried<T>(c: Context<Env>, look: () => T | null | Promise<T | null>): Promise<T> {
    const address = addressKey(c.get('record').remote);
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

  const tokenViewer = (c: Context<Env>, header: string) =>
    tried<Viewer>(c, () => {
      const token = bearer(header);
      return token.startsWith(integrationPrefix)
        ? integrationTokens.find(token)
        : verify(token, c.get('record').remote);
    });

  const byToken: Identify = async (c) => {
    const header = c.req.header('Authorization');
    if (header === undefined) return null;
    const viewer = await tokenViewer(c, header);
    return { by: viewer.kind, viewer };
  };

  /** A valid user token; any other counts as none, and is not checked after too many (rule D1.6). */
  const byGoodToken: Identify = async (c) => {
    const header = c.req.header('Authorization');
    const { remote } = c.get('record');
    if (header === undefined || limiter.tokenWait(addressKey(remote)) > 0) return null;
    try {
      return { by: 'user', viewer: await verify(bearer(header), remote) };
    } catch (error) {
      if (error instanceof AppError && error.code === 'UNAUTHORIZED') return null;
      throw error;
    }
  };

  const bySession: Identify = async (c) => {
    const cookie = getCookie(c, sessionCookie);
    if (cookie === undefined) return null;
    return { by: 'session', viewer: await tried(c, () => sessions.find(cookie)) };
  };

  const byEither: Identify = async (c) => (await byToken(c)) ?? (await bySession(c));

  /** As `bySession`, but an expired session is not a failed sign-in: the page is public. */
  const byOpenSession: Identify = async (c) => {
    const cookie = getCookie(c, sessionCookie);
    const viewer = cookie === undefined ? null : await sessions.find(cookie);
    return viewer === null ? null : { by: 'session', viewer };
  };

  const bySecret: Identify = async (c) => {
    if (cronSecret === null) throw noSuchPath();
    const given = /^Bearer +(.+)$/i.exec(c.req.header('Authorization') ?? '')?.[1] ?? '';
    // timingSafeEqual needs equal lengths, and the digests do not reveal the length of the secret.
    const same = timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(cronSecret)));
    await tried(c, () => same || null);
    return { by: 'cron', viewer: null };
  };

  return { tokenViewer, byToken, byGoodToken, bySession, byEither, byOpenSession, bySecret };
}

function createRules({ limiter, audit, input }: AccessDeps, options: RouteOptions) {
  const { expensive, unlimited, audited, product: gatedBy } = options;

  /** Logs the caller, and counts the request against the caller's limit. Throws 429. */
  function count(c: Context<Env>, caller: Caller | null): void {
    const record = c.get('record');
    if (caller !== null) noteCaller(record, caller.by, caller.viewer);
    if (unlimited) return;
    const wait = limiter.take(callerKey(record), isExpensive(c, expensive));
    if (wait > 0) throw tooMany(wait);
  }

  function rule(
    name: string,
    security: Rule['security'],
    identify: Identify,
    admit: (c: Context<Env>, call: Call) => void,
  ): Rule {
    const guard: MiddlewareHandler<Env> = (c, next) =>
      audit.handle(c, audited, async (call) => {
        call.caller = await identify(c);
        count(c, call.caller);
        admit(c, call);
        await next();
        notModified(c);
      });
    return {
      security,
      'x-access': name,
      ...(unlimited && { 'x-unlimited': true }),
      ...(audited && { 'x-audit': audited.action }),
      middleware: [guard, ...input(options, name)],
    };
  }

  function userRule(
    name: string,
    security: Rule['security'],
    identify: Identify,
    product?: Entitlement,
  ): Rule {
    return rule(name, security, identify, (c, call) => {
      const user = asUser(viewerOf(c, call));
      const wanted = product ?? gatedBy;
      call.unentitled = wanted !== undefined && !user.entitlements.has(wanted);
      if (product !== undefined && !mayHave(name, user))
        throw forbidden(
          `You need the ${product === 'occ' ? 'role-data' : 'document'} permission (${product})`,
        );
      c.set('user', user);
      c.set('visitor', user);
    });
  }

  return { rule, userRule };
}

/** The caller. Throws 401 for none, and 403 for a session's write from another origin (D1.7). */
function viewerOf(c: Context<Env>, { caller }: Call): Viewer {
  if (!caller?.viewer) throw unauthorized();
  if (caller.by === 'session' && !isReadOrSameOrigin(c))
    throw forbidden('A session may write only from its own origin');
  return caller.viewer;
}

/** Whether a request only reads or comes from this server's own pages; decided before its body is read (rule D2.6). */
const isReadOrSameOrigin = (c: Context<Env>) =>
  c.req.method === 'GET' || c.req.method === 'HEAD' || isSameOrigin(c);

const byNothing = async () => null;
const admitAll = () => {};

function asUser(viewer: Viewer): User {
  if (viewer.kind !== 'user') throw forbidden('You need a user token');
  return viewer;
}

function bearer(header: string): string {
  const match = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header);
  if (!match) throw unauthorized();
  return match[1]!;
}
