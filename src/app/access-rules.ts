import type { Context as HonoContext } from 'hono';
import { createIntegrationTokens } from '../auth/integration-tokens.ts';
import { type OwnTokens, ownPrefix } from '../auth/own-tokens.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { VerifyUserToken } from '../auth/tokens.ts';
import { type Access, createAccess, type RouteOptions } from '../http/access.ts';
import { createRequestAudit } from '../http/audited.ts';
import { cacheAnswers } from '../http/cache.ts';
import type { Env } from '../http/env.ts';
import { takeForm } from '../http/form.ts';
import { bodyLimits, createByteBudget, uploadBodyLimits, uploadSize } from '../http/limits.ts';
import {
  queueRequests,
  readBodies,
  refuseBadEncoding,
  takeJson,
  takeMessage,
  takeUpload,
} from '../http/middleware.ts';
import type { Context } from './context.ts';

/** The access rules of the application, with what reads and bounds its bodies. */
export function accessOf(context: Context, sessions: Sessions, ownTokens: OwnTokens | null): Access {
  const { users, audit, now, cache, maxBody, rejected } = context;
  const bodies = createByteBudget(bodyLimits(maxBody));
  const uploadBodies = createByteBudget(uploadBodyLimits);
  const queueOfUpload = (c: HonoContext<Env>) => context.uploadQueue(uploadSize(c.get('upload')));
  const input = (options: RouteOptions, name: string) => {
    const { upload, form, message, expensive, unlimited, kept } = options;
    const take = upload ? takeUpload : form ? takeForm : message ? takeMessage : takeJson;
    const queueOf = upload ? queueOfUpload : () => context.queue;
    return [
      refuseBadEncoding,
      readBodies(options.maxBody ?? maxBody, upload ? uploadBodies : bodies, rejected, take),
      ...(unlimited ? [] : [queueRequests(queueOf, expensive)]),
      ...(cache && kept ? [cacheAnswers(cache, options, name)] : []),
    ];
  };
  // They are never kept as verified: one that is revoked counts no more from the next request on.
  const verify: VerifyUserToken = (token, address) =>
    token.startsWith(ownPrefix) && ownTokens ? ownTokens.find(token) : context.verify(token, address);
  return createAccess({
    ...context,
    verify,
    sessions,
    integrationTokens: createIntegrationTokens(users, now),
    audit: createRequestAudit(audit, now),
    input,
  });
}
