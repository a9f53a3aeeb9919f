import type { MiddlewareHandler } from 'hono';
import type { Env } from '../env.ts';
import { unauthorized } from '../errors.ts';
import type { VerifyUserToken } from './tokens.ts';

/** What a route says about who may call it; spread into its definition, so that OpenAPI shows it. */
export interface Access {
  /** No authentication; an Authorization header is not even looked at (DECISIONS D1.6). */
  public: { security: []; middleware: MiddlewareHandler<Env>[] };
  /** A user token. */
  user: { security: { userToken: [] }[]; middleware: MiddlewareHandler<Env>[] };
}

/** Prepares the kinds of access. `checks` look at the request itself once the caller is known (D2.4: 401 before 400). */
export function createAccess(verify: VerifyUserToken, checks: MiddlewareHandler<Env>[]): Access {
  const user: MiddlewareHandler<Env> = async (c, next) => {
    c.set('viewer', await verify(bearer(c.req.header('Authorization'))));
    await next();
  };
  return {
    public: { security: [], middleware: checks },
    user: { security: [{ userToken: [] }], middleware: [user, ...checks] },
  };
}

/** The token of an Authorization header: one header, scheme Bearer in any case, one token. */
function bearer(header: string | undefined): string {
  const match = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header ?? '');
  if (!match) throw unauthorized();
  return match[1]!;
}
