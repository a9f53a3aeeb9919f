import { LRUCache } from 'lru-cache';
import type { VerifyUserToken } from '../../auth/tokens.ts';
import type { User } from '../../auth/viewer.ts';

/** A user whose token was just verified, as it came from an address; with key set `keys`, and good `until` then (ms since 1970). */
export type KnownUser = { token: string; address: string; user: User; keys: number; until: number };

/** After five minutes a token goes the router's way again, where sign-ins are logged in the audit stream. */
const longestMilliseconds = 300_000;

export type Tokens = ReturnType<typeof rememberTokens>;

/**
 * Remembers the tokens that were verified lately and the addresses that they came from, at most `max`, so that a signature is
 * checked once: never past a token's `exp`, nor once the key set is another (`keyVersion`). What was refused is not remembered.
 */
export function rememberTokens(
  verify: VerifyUserToken,
  keyVersion: () => number,
  now: () => Date,
  max = 2000,
) {
  const tokens = new LRUCache<string, KnownUser>({ max });

  /** Compared first with `last`, who asked before on the same connection: that is cheaper than to look it up. */
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
