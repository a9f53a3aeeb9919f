import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Config } from '../base/config.ts';
import { sha256 } from '../base/ids.ts';
import type { Database } from '../db/database.ts';
import type { KeySet } from './keys.ts';
import { SignInRefused } from './sign-in-refused.ts';
import { createVerifyIdToken } from './tokens.ts';

/** The cookie that binds a sign-in at the provider to a browser: `__Host-` keeps other hosts from setting it. */
export const bindingCookie = '__Host-gapstone_signin';

/** How long a sign-in may take, in seconds, and how long its nonce is remembered. */
export const longestSignIn = 600;
const clockTolerance = 5;
const longestNext = 2000;

export type OrganizationSignIn = ReturnType<typeof createOrganizationSignIn>;

/**
 * Signing in at an OpenID Connect provider by the implicit flow, so that the server opens no connection (rule D43.3).
 * State and nonce follow from a secret with its time, the binding, which the browser alone has.
 */
export function createOrganizationSignIn(
  config: Pick<Config, 'oidcAuthorize' | 'oidcClientId' | 'publicUrl' | 'claims' | 'issuer'>,
  keys: KeySet,
  db: Database,
  now: () => Date,
) {
  const { oidcAuthorize, oidcClientId, publicUrl } = config;
  if (oidcAuthorize === null || oidcClientId === null || publicUrl === null) return null;
  const verify = createVerifyIdToken({ ...config, audience: oidcClientId }, keys, now);
  const seconds = () => Math.floor(now().getTime() / 1000);
  const { sqlite } = db;

  /** The time of a binding, in seconds since 1970; null for what is none, or too old. */
  function timeOf(binding: string | undefined, longest = longestSignIn): number | null {
    const time = Number(/^(\d{9,11})\.[\w-]{43}$/.exec(binding ?? '')?.[1] ?? Number.NaN);
    const age = seconds() - time;
    return age <= longest && age >= -clockTolerance ? time : null;
  }

  const nonceOf = (binding: string) => sha256(`nonce ${binding}`);
  const stateOf = (binding: string, next: string) =>
    `${sha256(`state ${binding} ${next}`)}.${Buffer.from(next).toString('base64url')}`;

  return {
    /** The address at the provider to sign in, and the cookie that goes with it: a young one is used again. */
    begin(former: string | undefined, requested: string): { href: string; binding: string } {
      const isYoung = timeOf(former, longestSignIn / 2) !== null;
      const binding = isYoung ? former! : `${seconds()}.${randomBytes(32).toString('base64url')}`;
      const next = requested.length > longestNext ? '/' : requested;
      const address = new URL(oidcAuthorize);
      const query = {
        ...{ response_type: 'id_token', response_mode: 'form_post', scope: 'openid email' },
        ...{ client_id: oidcClientId, redirect_uri: `${publicUrl}/signin/oidc` },
        ...{ state: stateOf(binding, next), nonce: nonceOf(binding) },
      };
      for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
      return { href: address.href, binding };
    },

    /** Verifies what the provider had the browser post. Gives the user, and the page requested. Throws `SignInRefused`. */
    async finish(binding: string | undefined, given: { state: string; token: string; error: string }) {
      const began = timeOf(binding);
      if (began === null) throw new SignInRefused('SIGN_IN_STALE');
      const next = Buffer.from(given.state.split('.')[1] ?? '', 'base64url').toString();
      // Hashes, as the comparison needs equal lengths.
      const states = [given.state, stateOf(binding!, next)].map((each) => Buffer.from(sha256(each)));
      if (!timingSafeEqual(states[0]!, states[1]!)) throw new SignInRefused('SIGN_IN_STALE');
      if (given.error !== '' || given.token === '')
        throw new SignInRefused(
          'SIGN_IN_REFUSED',
          /^[a-z_]{1,64}$/.test(given.error) ? ` (${given.error})` : '',
        );
      const nonce = nonceOf(binding!);
      const user = await verify(given.token, nonce).catch(() => {
        throw new SignInRefused('TOKEN_INVALID');
      });
      return {
        user,
        next,
        /** Marks the nonce as used, in the transaction of the session. Throws where it was used before. */
        use(): void {
          const time = now();
          sqlite.prepare('DELETE FROM used_nonces WHERE ends_at < ?').run(time.toISOString());
          // Longer than the binding counts.
          const endsAt = new Date((began + longestSignIn + 60) * 1000).toISOString();
          const { changes } = sqlite
            .prepare('INSERT INTO used_nonces (hash, ends_at) VALUES (?, ?) ON CONFLICT DO NOTHING')
            .run(sha256(nonce), endsAt);
          if (changes === 0) throw new SignInRefused('SIGN_IN_REPLAYED');
        },
      };
    },
  };
}
