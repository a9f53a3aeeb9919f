import {
  errors,
  importJWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { Config } from '../base/config.ts';
import { CommandError, unauthorized } from '../base/errors.ts';
import { repeatedMember } from '../base/json.ts';
import { isVisibleLine } from '../base/text.ts';
import { algorithms, type KeySet, type LogNewKey, localKey } from './keys.ts';
import { isEntitlement, type User } from './viewer.ts';

const maxTokenLength = 8192;
/** Seconds. */
const clockTolerance = 5;
const maxLifetime = 90 * 24 * 3600;

/** Verifies a user token, sent from an address; gives its user. Throws the same 401 for every cause (D1.2, D1.5). */
export type VerifyUserToken = (token: string, address?: string) => Promise<User>;

type TokenConfig = Pick<Config, 'claims' | 'issuer' | 'audience'>;
type Keys = JWTVerifyGetKey & Partial<Pick<KeySet, 'id'>>;

export function createVerifyUserToken(config: TokenConfig, keys: Keys, now: () => Date): VerifyUserToken {
  return async (token) => (await verifyToken(token, config, keys, now)).user;
}

/**
 * Verifies an ID token as a user token, and that it is for our client id (`audience`) alone, or says that we asked for
 * it (`azp`), with our nonce (rule D43.3). Throws 401.
 */
export function createVerifyIdToken(config: TokenConfig, keys: Keys, now: () => Date) {
  const { audience } = config;
  return async (token: string, nonce: string): Promise<User> => {
    const { user, payload } = await verifyToken(token, config, keys, now);
    const { aud, azp } = payload;
    const isOurs = azp === undefined ? [aud].flat().every((each) => each === audience) : azp === audience;
    if (!isOurs || payload.nonce !== nonce) throw unauthorized();
    return user;
  };
}

async function verifyToken(
  token: string,
  { claims, issuer, audience }: TokenConfig,
  keys: Keys,
  now: () => Date,
): Promise<{ user: User; payload: JWTPayload }> {
  if (token.length > maxTokenLength) throw unauthorized();
  const keyId = keys.id?.();
  const options = { algorithms, issuer, audience, clockTolerance, currentDate: now() };
  const { payload, protectedHeader } = await verifySignature(token, keys, options).catch(() => {
    throw unauthorized();
  });
  if (isOtherKind(protectedHeader.typ)) throw unauthorized();
  // Parsers differ in which of two equal members counts, so even a signed token with a repeated one is rejected.
  const texts = token.split('.', 2).map((part) => Buffer.from(part, 'base64url').toString('utf8'));
  if (texts.some((text) => repeatedMember(text) !== null)) throw unauthorized();
  const user = userOf(payload, claims, now());
  return { user: keyId ? { ...user, keyId } : user, payload };
}

/** Verifies with the key that the token names; if several match, as without `kid`, tries each. */
async function verifySignature(token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions) {
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const verified = await jwtVerify(token, key, options).catch(() => null);
      if (verified !== null) return verified;
    }
    throw error;
  }
}

/** Whether a token is of another purpose (`logout+jwt`), signed with the same key (RFC 8725 section 3.11, RFC 9068). */
function isOtherKind(type: unknown): boolean {
  if (type === undefined) return false;
  return typeof type !== 'string' || (/\+jwt$/i.test(type) && !/^(?:application\/)?at\+jwt$/i.test(type));
}

function userOf(payload: JWTPayload, claims: Config['claims'], now: Date): User {
  const { iat, exp } = payload;
  const subject = payload[claims.sub];
  const sane =
    Number.isInteger(exp) &&
    exp! > iat! &&
    exp! - iat! <= maxLifetime &&
    iat! <= now.getTime() / 1000 + clockTolerance;
  if (!sane || !isName(subject)) throw unauthorized();
  const email = payload[claims.email];
  const organization = payload[claims.org];
  const entitlements = payload[claims.entitlements];
  return {
    kind: 'user',
    subject,
    email: isName(email) ? email : null,
    organization: isName(organization) ? organization : null,
    entitlements: new Set(Array.isArray(entitlements) ? entitlements.filter(isEntitlement) : []),
    expiresAt: exp!,
  };
}

/** Whether a claim is a name: 1 to 255 characters without control characters. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[^\u0000-\u001f\u007f]{1,255}$/.test(value) && value.isWellFormed();
}

/** Checks what a command names. Throws `CommandError` for what no token can hold, or nobody can see. */
export function requireName(option: string, name: string): string {
  if (isName(name) && isVisibleLine(name)) return name;
  const rule = 'must have 1 to 255 characters, one that can be seen, and no control characters';
  throw new CommandError(`--${option} ${rule}`, 2);
}

/** The input of `gapstone token issue`. */
export interface TokenRequest {
  subject: string;
  email?: string | undefined;
  organization?: string | undefined;
  entitlements: string[];
  lifetime: number;
}

/** Throws `CommandError` for a token that cannot be issued; with a pinned key set always. */
export function checkTokenRequest(config: Config, request: TokenRequest): void {
  if (config.jwks !== null) {
    throw new CommandError(
      'GAPSTONE_JWKS is set: get tokens from that identity provider; Gapstone does not issue any',
    );
  }
  // Verification ignores malformed claims, an organization even silently, so reject them here.
  const names = { subject: request.subject, email: request.email, org: request.organization };
  for (const [option, name] of Object.entries(names)) if (name !== undefined) requireName(option, name);
  if (request.lifetime < 1 || request.lifetime > maxLifetime)
    throw new CommandError('--ttl must be from 1s to 90d', 2);
}

/** Signs a user token with the local key (D1.3); `logNewKey` logs a new key. Throws as `checkTokenRequest`. */
export async function issueUserToken(
  config: Config,
  request: TokenRequest,
  now: Date,
  logNewKey?: LogNewKey,
): Promise<string> {
  checkTokenRequest(config, request);
  const key = await localKey(config, logNewKey);
  const issuedAt = Math.floor(now.getTime() / 1000);
  const { claims } = config;
  const payload: JWTPayload = {
    [claims.email]: request.email,
    [claims.org]: request.organization,
    [claims.entitlements]: request.entitlements,
    [claims.sub]: request.subject,
  };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', kid: key.kid, typ: 'JWT' })
    .setIssuer(config.issuer)
    .setAudience(config.audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + request.lifetime)
    .sign(await importJWK(key, 'ES256'));
}
