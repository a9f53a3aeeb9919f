import type { Context as HonoContext } from 'hono';
import { createIntegrationTokens } from '../auth/integration-tokens.ts';
import { type OwnTokens, ownPrefix } from '../auth/own-tokens.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { VerifyUserToken } from '../auth/tokens.ts';
import { type Access, createAccess } from '../http/access.ts';
import { createRequestAudit } from '../http/audited.ts';
import { keepAnswers } from '../http/cache/keep.ts';
import type { Env } from '../http/env.ts';
import { takeForm } from '../http/form.ts';
import { bodyLimits, createBodyBudget, uploadBodyLimits } from '../http/limits/bodies.ts';
import { uploadSize } from '../http/limits/concurrency.ts';
import {
  limitConcurrency,
  readBodies,
  refuseBadEncoding,
  takeJson,
  takeMessage,
  takeUpload,
} from '../http/middleware.ts';
import type { RouteOptions } from '../http/rule.ts';
import type { Context } from './context.ts';

/** The access rules of the application, with what reads and bounds its bodies. */
export function accessOf(context: Context, sessions: Sessions, ownTokens: OwnTokens | null): Access {
  const { users, audit, now, answers, maxBody } = context;
  const bodies = createBodyBudget(bodyLimits(maxBody), context.rejected);
  const uploadBodies = createBodyBudget(uploadBodyLimits, context.rejected);
  const limitOfUpload = (c: HonoContext<Env>) => context.uploadConcurrency(uploadSize(c.get('upload')));
  const input = (options: RouteOptions, name: string) => {
    const { upload, form, message, expensive } = options;
    const take = upload ? takeUpload : form ? takeForm : message ? takeMessage : takeJson;
    return [
      refuseBadEncoding,
      readBodies(options.maxBody ?? maxBody, upload ? uploadBodies : bodies, take),
      ...(options.unlimited
        ? []
        : [limitConcurrency(upload ? limitOfUpload : () => context.concurrency, expensive)]),
      ...(answers && options.kept ? [keepAnswers(answers, options, name)] : []),
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
