import { LRUCache } from 'lru-cache';
import type { VerifyUserToken } from '../../auth/tokens.ts';
import type { User } from '../../auth/viewer.ts';

/** A user whose token was just verified. */
export interface KnownUser {
  token: string;
  /** Where it came from. */
  address: string;
  user: User;
  /** The version of the key set that it was verified with, and how long that counts: milliseconds since 1970. */
  keys: number;
  until: number;
}

/** After that a token goes the router's way again, where sign-ins are logged in the audit stream. */
const longestMilliseconds = 5 * 60 * 1000;

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
): {
  verify: VerifyUserToken;
  known(token: string, address: string, last?: KnownUser): KnownUser | null;
} {
  const tokens = new LRUCache<string, KnownUser>({ max });
  const holds = ({ keys, until }: KnownUser) => keys === keyVersion() && until > now().getTime();

  /** Compared first with `last`, who asked before on the same connection: that is cheaper than to look it up. */
  function known(token: string, address: string, last?: KnownUser): KnownUser | null {
    const entry =
      last?.token === token && last.address === address ? last : tokens.get(`${address} ${token}`);
    return entry !== undefined && holds(entry) ? entry : null;
  }

  return {
    known,
    async verify(token, address = '') {
      const found = known(token, address);
      if (found !== null) return found.user;
      const keys = keyVersion();
      const user = await verify(token);
      const until = Math.min(user.expiresAt * 1000, now().getTime() + longestMilliseconds);
      tokens.set(`${address} ${token}`, { token, address, user, keys, until });
      return user;
    },
  };
}
