import { AppError } from '../base/errors.ts';

/** Why somebody is not let in: the reason of the audit event, and what the sign-in page says. */
const words = {
  CERTIFICATE_MISSING:
    'Your browser sent no certificate. Insert your card, close all windows of the browser, and try again',
  CERTIFICATE_MALFORMED: 'Your certificate cannot be read',
  CERTIFICATE_EXPIRED: 'Your certificate has expired. Choose another one, or get a new card',
  CERTIFICATE_NOT_YET_VALID: 'Your certificate is not valid yet',
  CERTIFICATE_REVOKED: 'Your certificate was revoked',
  CERTIFICATE_NOT_TRUSTED: 'Your certificate was not issued by an authority that this server trusts',
  CERTIFICATE_NOT_FOR_CLIENTS:
    'Your certificate is not for signing in. Choose the one for authentication on your card',
  CERTIFICATE_WEAK: 'Your certificate, or one that issued it, has a signature or key that is too weak',
  CERTIFICATE_UNSUPPORTED:
    'Your certificate, or one that issued it, has a critical extension that this server does not know',
  CERTIFICATE_WITHOUT_NAME:
    'Your certificate does not hold exactly one name of the kind that this server reads',
  REVOCATION_UNKNOWN:
    'The revocation list of an authority is missing or out of date, so nobody can sign in by certificate now. Tell the operator of this server',
  SIGN_IN_STALE: 'This sign-in took longer than 10 minutes, or was begun in another browser. Try again',
  SIGN_IN_REPLAYED: 'This sign-in was used before. Try again',
  SIGN_IN_REFUSED: 'Your organization did not sign you in',
  SIGN_IN_UNPROTECTED: 'Signing in with your organization needs a connection over TLS',
  TOKEN_INVALID: 'Your organization sent a token that this server does not accept',
} as const;

type RefusalReason = keyof typeof words;

/** A refused sign-in, a 401. The message is for the caller, in plain words; `reason` is for the audit stream. */
export class SignInRefused extends AppError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, more = '') {
    super('UNAUTHORIZED', words[reason] + more, { 'WWW-Authenticate': 'Bearer' });
    this.reason = reason;
  }
}
