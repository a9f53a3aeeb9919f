import { createIntegrationTokens } from '../auth/integration-tokens.ts';
import { type OwnTokens, ownPrefix } from '../auth/own-tokens.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { VerifyUserToken } from '../auth/tokens.ts';
import { type Access, createAccess } from '../http/access.ts';
import { createAnswerRequest } from '../http/answer-request.ts';
import { createRequestAudit } from '../http/audited.ts';
import type { Context } from './context.ts';

/** The access rules of the application. */
export function accessOf(context: Context, sessions: Sessions, ownTokens: OwnTokens | null): Access {
  const { users, audit, now } = context;
  // They are never kept as verified: one that is revoked counts no more from the next request on.
  const verify: VerifyUserToken = (token, address) =>
    token.startsWith(ownPrefix) && ownTokens ? ownTokens.find(token) : context.verify(token, address);
  return createAccess({
    ...context,
    verify,
    sessions,
    integrationTokens: createIntegrationTokens(users, now),
    audit: createRequestAudit(audit, now),
    answerRequest: createAnswerRequest(context),
  });
}
