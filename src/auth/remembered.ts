import { createRecent } from '../recent.ts';
import type { VerifyUserToken } from './tokens.ts';
import type { User, Viewer } from './viewer.ts';

/** A user whose token was just verified. */
export interface KnownUser {
  token: string;
  user: User;
  /** Says who is asking where answers are kept for each caller: the same for the same person with the same rights. */
  caller: string;
  /** The addresses that its requests came from lately, and until when that counts, as `performance.now()` has it. */
  heard: Map<string, number>;
}

/** How long an address counts as heard of. */
const hearingMilliseconds = 5 * 60 * 1000;
const mostAddresses = 100;

interface Remembered extends KnownUser {
  keys: number;
  /** Milliseconds since 1970. */
  until: number;
}

/**
 * Remembers the tokens that were verified lately, at most `most` of them, so that a signature is checked once: never
 * past a token's `exp`, nor once the key set is another (`keyVersion`). A token that was refused is not remembered.
 */
export function rememberTokens(
  verify: VerifyUserToken,
  keyVersion: () => number,
  now: () => Date,
  most = 2000,
): { verify: VerifyUserToken; known(token: string, last?: KnownUser): KnownUser | null } {
  const tokens = createRecent<Remembered>(most);

  /** To compare a token with the one that came `last` on its connection is cheaper than to look it up. */
  function known(token: string, last?: KnownUser): KnownUser | null {
    const entry = last?.token === token ? (last as Remembered) : tokens.get(token);
    if (entry === undefined) return null;
    if (entry.keys === keyVersion() && entry.until > now().getTime()) return entry;
    tokens.delete(token);
    return null;
  }

  return {
    known,
    async verify(token, address = '') {
      const found = known(token);
      if (found) {
        hear(found, address);
        return found.user;
      }
      const keys = keyVersion();
      const user = await verify(token);
      const entry = {
        token,
        user,
        caller: callerOf(user),
        heard: new Map(),
        keys,
        until: user.expiresAt * 1000,
      };
      hear(entry, address);
      tokens.set(token, entry);
      return user;
    },
  };
}

function hear({ heard }: KnownUser, address: string): void {
  if (heard.size >= mostAddresses && !heard.has(address)) heard.clear();
  heard.set(address, performance.now() + hearingMilliseconds);
}

/** Who is asking, in one text. */
export function callerOf(viewer: Viewer): string {
  if (viewer.kind === 'integration') return `integration ${viewer.id}`;
  return JSON.stringify([viewer.subject, viewer.organization, ...[...viewer.entitlements].sort()]);
}
