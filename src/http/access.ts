import { timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
import { getCookie } from 'hono/cookie';
import { type IntegrationTokens, integrationPrefix } from '../auth/integration-tokens.ts';
import { type Sessions, sessionCookie } from '../auth/sessions.ts';
import { SignInRefused } from '../auth/sign-in-refused.ts';
import type { VerifyUserToken } from '../auth/tokens.ts';
import type { Entitlement, User, Viewer } from '../auth/viewer.ts';
import { AppError, forbidden, noSession, noSuchPath, unauthorized } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Audited, RequestAudit } from './audited.ts';
import type { Env } from './env.ts';
import { type Limiter, tooMany } from './limits.ts';
import { addressKey, type Caller, callerKey, type RequestRecord } from './record.ts';
import { isSameOrigin } from './same-origin.ts';

/** Who may call a route; spread into its definition, so that OpenAPI shows it. */
export interface Rule {
  security: Record<string, string[]>[];
  'x-access': string;
  /** No rate limit: it never answers 429. */
  'x-unlimited'?: true;
  'x-audit'?: string;
  middleware: MiddlewareHandler<Env>[];
}

/** Optional properties of a route. */
export interface RouteOptions {
  maxBody?: number;
  form?: boolean;
  /**
   * The body is large and goes to a thread unparsed; a thread processes one upload at a time. A function gives the bytes that the
   * thread reads besides it.
   */
  upload?: boolean | ((c: Context<Env>) => number);
  /** The body is a JSON-RPC message; a batch is refused. */
  message?: boolean;
  /** Much more work than a look-up: it has a smaller rate limit, and few run at once. */
  expensive?: boolean | ((c: Context<Env>) => boolean);
  /** The answer may be a file that is made while it is sent: such requests wait for each other alone. */
  made?: boolean;
  /** No rate limit, for health checks, which must always be answered. */
  unlimited?: boolean;
  /** What answers to GET depend on besides the URL: then they are cached, except on audited routes. */
  cached?: 'catalog' | 'users' | null;
  /** The audit event of each call. */
  audited?: Audited;
  /** The entitlement for the full answer; without it the answer is shorter, and an audit event is written. */
  product?: Entitlement;
}

export function isExpensive(c: Context<Env>, expensive: RouteOptions['expensive']): boolean {
  return typeof expensive === 'function' ? expensive(c) : expensive === true;
}

/** The access rules of routes; `with` and `audited` give the same rules with other options. */
export interface Access extends ReturnType<typeof createRules> {
  with(options: RouteOptions): Access;
  /** For a route whose calls each write an event to the audit stream; see `RouteOptions`. */
  audited(action: string, objectId?: Audited['objectId']): Access;
}

export interface AccessDeps {
  verify: VerifyUserToken;
  sessions: Pick<Sessions, 'find'>;
  integrationTokens: Pick<IntegrationTokens, 'find'>;
  /** Null turns the cron endpoint off. */
  cronSecret: string | null;
  /** The origin under which others reach the server. */
  publicUrl: string | null;
  limiter: Limiter;
  log: Log;
  audit: RequestAudit;
  /** Reads what a request sends and handles it, after the caller is known: D2.4 puts 401 and 403 before 400. */
  answerRequest(
    c: Context<Env>,
    options: RouteOptions,
    access: string,
    handle: () => Promise<void>,
  ): Promise<void>;
}

const userOrIntegration = 'user or lists:read';

/** Whether a user (null: anonymous) may read what an access rule of this name protects. */
export function mayHave(name: string, user: User | null): boolean {
  if (name === 'public') return true;
  const [kind, product] = name.split('+') as [string, Entitlement?];
  if (user === null || (kind !== 'user' && kind !== userOrIntegration)) return false;
  return product === undefined || user.entitlements.has(product);
}

export function createAccess(deps: AccessDeps, options: RouteOptions = {}): Access {
  return {
    ...createRules(deps, options),
    with: (more) => createAccess(deps, { ...options, ...more }),
    audited: (action, objectId) =>
      createAccess(deps, { ...options, audited: { action, objectId }, cached: null }),
  };
}

/** The access rules: each identifies the caller, counts and authorizes the request, and lets it be answered. */
function createRules(deps: AccessDeps, options: RouteOptions) {
  const { publicUrl, limiter, log, audit, answerRequest } = deps;
  const { expensive, unlimited, audited } = options;
  const callers = createIdentification(deps);

  function rule(
    name: string,
    security: Rule['security'],
    identify: (c: Context<Env>) => Promise<Caller | null>,
    admit: (c: Context<Env>, record: RequestRecord) => void = () => undefined,
  ): Rule {
    const guard: MiddlewareHandler<Env> = (c, next) =>
      audit.handle(c, audited, async (record) => {
        record.caller = await identify(c);
        const wait = unlimited ? 0 : limiter.take(callerKey(record), isExpensive(c, expensive));
        if (wait > 0) throw tooMany(wait);
        admit(c, record);
        await answerRequest(c, options, name, next);
      });
    return {
      security,
      'x-access': name,
      ...(unlimited && { 'x-unlimited': true }),
      ...(audited && { 'x-audit': audited.action }),
      middleware: [guard],
    };
  }

  function userRule(
    name: string,
    security: Rule['security'],
    identify: (c: Context<Env>) => Promise<Caller | null>,
    product?: Entitlement,
  ): Rule {
    return rule(name, security, identify, (c, record) => {
      const user = asUser(viewerOf(c, record, name === 'session' ? noSession : unauthorized));
      const required = product ?? options.product;
      record.unentitled = required !== undefined && !user.entitlements.has(required);
      if (product !== undefined && record.unentitled)
        throw forbidden(
          `You need the ${product === 'occ' ? 'role-data' : 'document'} permission (${product})`,
        );
      c.set('user', user);
      c.set('visitor', user);
    });
  }

  /** The caller. Throws 401 for none, and 403 for a session's write from another origin (D1.7). */
  function viewerOf(c: Context<Env>, { caller }: RequestRecord, refusal = unauthorized): Viewer {
    if (!caller?.viewer) throw refusal();
    if (caller.by === 'session') requireSameOrigin(c, 'A session may write only from its own origin');
    return caller.viewer;
  }

  /** Throws 403 for a write that no page of this server sent, before its body is read (rule D2.6). */
  function requireSameOrigin(c: Context<Env>, message: string): void {
    if (c.req.method === 'GET' || c.req.method === 'HEAD' || isSameOrigin(c, publicUrl)) return;
    const { requestId, host } = c.get('record');
    const origin = c.req.header('Origin');
    // A proxy may have changed one of them.
    log.warn('refused: sent from another origin', { requestId, origin: origin?.slice(0, 300), host });
    const isUnnamed = origin === undefined && c.req.header('Sec-Fetch-Site') === undefined;
    throw forbidden(
      isUnnamed ? `${message}: send the header Origin with the address of this server` : message,
    );
  }

  const setVisitor = (c: Context<Env>, { caller }: RequestRecord) =>
    c.set('visitor', caller?.viewer ? asUser(caller.viewer) : null);
  const userToken = { userToken: [] };
  const session = { session: [] };
  const open = rule('public', [], async () => null);
  const user = userRule('user', [userToken, session], callers.byEither);
  return {
    /** No authentication: the Authorization header is ignored (rule D1.6). */
    public: open,
    /** No authentication; sets `visitor` from a valid session. A form must come from this server's own pages. */
    visitor: rule('public', [], callers.byOpenSession, (c, record) => {
      requireSameOrigin(c, 'Send this form from a page of this server');
      setVisitor(c, record);
    }),
    /** Public; sets `visitor` from a valid user token. Cookies and integration tokens do not count. */
    program: rule('public', [], callers.byGoodToken, setVisitor),
    /** A user token or a session; sets `user`. */
    user,
    /** As `user`, but public for a request that names what everybody may read (rule D41.4). */
    userUnless: (isPublic: (c: Context<Env>) => boolean): Rule => ({
      security: [{}, userToken, session],
      'x-access': 'user unless public',
      middleware: [(c, next) => every(...(isPublic(c) ? open : user).middleware)(c, next)],
    }),
    /** A user token only; sets `user`. */
    userToken: userRule('user token', [userToken], callers.byToken),
    /** As `userToken`, but no token of one's own: neither that nor a session can create a session (D1.7, D43.6). */
    maker: rule('user token', [userToken], callers.byToken, (c, record) =>
      c.set('user', asMaker(asUser(viewerOf(c, record)))),
    ),
    /** A session only (D1.7); sets `user`. */
    session: userRule('session', [session], callers.bySession),
    /** As `user`, or an integration token with the scope lists:read (D1.4); sets `viewer`. */
    listsRead: rule(
      userOrIntegration,
      [userToken, session, { integrationToken: ['lists:read'] }],
      callers.byEither,
      (c, record) => c.set('viewer', viewerOf(c, record)),
    ),
    /** The cron secret (D8.5). */
    cron: rule('cron', [{ cronSecret: [] }], callers.bySecret),
    /** As `user`, with a product entitlement; sets `user`. */
    entitled: (product: Entitlement): Rule =>
      userRule(
        `user+${product}`,
        [{ userToken: [product] }, { session: [product] }],
        callers.byEither,
        product,
      ),
    /**
     * What `begin` gives for the user whom `find` gives for what a form sends. Throws what they throw, and 429 after
     * many failures.
     */
    async signIn<T>(
      c: Context<Env>,
      by: 'user' | 'certificate' | 'organization',
      find: () => Promise<User>,
      begin: (user: User) => Promise<T>,
    ): Promise<T> {
      const record = c.get('record');
      try {
        const found = await callers.tried(c, find);
        record.caller = { by, viewer: found };
        return await begin(found);
      } catch (error) {
        record.caller = null;
        if (error instanceof SignInRefused) record.reason = error.reason;
        else if (error instanceof AppError && error.code === 'UNAUTHORIZED')
          record.reason = 'INVALID_CREDENTIALS';
        throw error;
      }
    },
    /** The user of a token that a form sends, as `find` of `signIn`. Throws 401, and 403 for one that makes no session. */
    userOf: async (c: Context<Env>, token: string) =>
      asMaker(asUser(await callers.viewerOfToken(c, `Bearer ${token}`))),
  };
}

/** The ways to identify a caller. Each gives null without credentials, and throws 401 or 429 for invalid ones. */
function createIdentification({ verify, sessions, integrationTokens, cronSecret, limiter }: AccessDeps) {
  /** Verifies a token or cookie; an address that sent many invalid ones gets 429 without a check. */
  async function tried<T>(
    c: Context<Env>,
    look: () => T | null | Promise<T | null>,
    refusal = unauthorized,
  ): Promise<T> {
    const address = addressKey(c.get('record').remote);
    const wait = limiter.tokenWait(address);
    if (wait > 0) throw tooMany(wait);
    try {
      const found = await look();
      if (found === null) throw refusal();
      return found;
    } catch (error) {
      limiter.tokenFailed(address);
      throw error;
    }
  }

  async function viewerOfToken(c: Context<Env>, header: string): Promise<Viewer> {
    const token = bearer(header);
    const viewer = token.startsWith(integrationPrefix)
      ? integrationTokens.find(token)
      : await verify(token, c.get('record').remote);
    if (viewer === null) throw unauthorized();
    return viewer;
  }

  async function byToken(c: Context<Env>): Promise<Caller | null> {
    const header = c.req.header('Authorization');
    if (header === undefined) return null;
    const viewer = await tried(c, () => viewerOfToken(c, header));
    return { by: viewer.kind, viewer };
  }

  async function bySession(c: Context<Env>, refusal = noSession): Promise<Caller | null> {
    const cookie = getCookie(c, sessionCookie);
    if (cookie === undefined) return null;
    return { by: 'session', viewer: await tried(c, () => sessions.find(cookie), refusal) };
  }

  return {
    tried,
    viewerOfToken,
    byToken,
    /** A valid user token; any other counts as none (rule D1.6). */
    async byGoodToken(c: Context<Env>): Promise<Caller | null> {
      try {
        const caller = await byToken(c);
        return caller?.by === 'user' ? caller : null;
      } catch (error) {
        if (error instanceof AppError && ignored.includes(error.code)) return null;
        throw error;
      }
    },
    bySession: (c: Context<Env>) => bySession(c),
    byEither: async (c: Context<Env>) => (await byToken(c)) ?? (await bySession(c, unauthorized)),
    /** As `bySession`, but an expired session is not a failed sign-in: the page is public. */
    async byOpenSession(c: Context<Env>): Promise<Caller | null> {
      const cookie = getCookie(c, sessionCookie);
      const viewer = cookie === undefined ? null : await sessions.find(cookie);
      return viewer && { by: 'session', viewer };
    },
    async bySecret(c: Context<Env>): Promise<Caller> {
      if (cronSecret === null) throw noSuchPath();
      const given = /^Bearer +(\S.*)$/i.exec(c.req.header('Authorization') ?? '')?.[1] ?? '';
      // timingSafeEqual needs equal lengths, and the digests do not reveal the length of the secret.
      const same = timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(cronSecret)));
      await tried(c, () => same || null);
      return { by: 'cron', viewer: null };
    },
  };
}

/** What a wrong token, or too many of them, are refused with. */
const ignored = ['UNAUTHORIZED', 'TOO_MANY_REQUESTS'];

function asUser(viewer: Viewer): User {
  if (viewer.kind !== 'user') throw forbidden('You need a user token');
  return viewer;
}

/** A user that may make a session; a token of one's own may not (rule D43.6). */
function asMaker(user: User): User {
  if (user.ownToken !== undefined) throw forbidden('A token of your own cannot start a session');
  return user;
}

function bearer(header: string): string {
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header)?.[1];
  if (token === undefined) throw unauthorized();
  return token;
}
