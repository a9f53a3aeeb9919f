import { LRUCache } from 'lru-cache';
import type { VerifyUserToken } from '../../auth/tokens.ts';
import type { User } from '../../auth/viewer.ts';

/** A user whose token was verified for an address, under key set `keys`; valid until `until` (ms since 1970). */
export type KnownUser = { token: string; address: string; user: User; keys: number; until: number };

/** After five minutes a token passes through the router again, which writes sign-ins to the audit stream. */
const longestMilliseconds = 300_000;

export type Tokens = ReturnType<typeof rememberTokens>;

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
  const tokens = new LRUCache<string, KnownUser>({ max });

  /** Checks first `last`, the previous user of the same connection: cheaper than the look-up. */
  function known(token: string, address: string, last?: KnownUser): KnownUser | null {
    const same = last?.token === token && last.address === address;
    const entry = same ? last : tokens.get(`${address} ${token}`);
    return entry?.keys === keyVersion() && entry.until > now().getTime() ? entry : null;
  }

  const verified: VerifyUserToken = async (token, address = '') => {
    const found = known(token, address);
    if (found !== null) return found.user;
    const keys = keyVersion();
    const user = await verify(token);
    const until = Math.min(user.expiresAt * 1000, now().getTime() + longestMilliseconds);
    tokens.set(`${address} ${token}`, { token, address, user, keys, until });
    return user;
  };

  return { known, verify: verified };
}
