import { LRUCache } from 'lru-cache';
import type { VerifyUserToken } from '../auth/tokens.ts';
import type { User } from '../auth/viewer.ts';

/** After five minutes a token passes through the router again, which writes sign-ins to the audit stream. */
const longestMilliseconds = 300_000;

export type VerifiedTokens = ReturnType<typeof rememberTokens>;

/**
 * Caches verified tokens with their addresses, at most `max`, so that a signature is checked once. An entry ends at the
 * token's `exp` and when the key set changes (`keyVersion`). Rejected tokens are not cached.
 */
export function rememberTokens(
  verify: VerifyUserToken,
  keyVersion: () => number,
  now: () => Date,
  max = 2000,
) {
  const tokens = new LRUCache<string, { user: User; until: number }>({ max });
  const keyOf = (token: string, address: string) => `${keyVersion()} ${address} ${token}`;

  /** The user of a token that was verified for an address; null where it must be verified again. */
  function known(token: string, address: string): User | null {
    const entry = tokens.get(keyOf(token, address));
    return entry !== undefined && entry.until > now().getTime() ? entry.user : null;
  }

  const verified: VerifyUserToken = async (token, address = '') => {
    const user = known(token, address);
    if (user !== null) return user;
    const key = keyOf(token, address);
    const fresh = await verify(token);
    const until = Math.min(fresh.expiresAt * 1000, now().getTime() + longestMilliseconds);
    tokens.set(key, { user: fresh, until });
    return fresh;
  };

  return { known, verify: verified };
}
