import type { TrustedKey } from './read.ts';

/** The keys that a site trusts, by name; of users' data that is not there none. Throws `CommandError`. */
export function trustedKeys(_usersDb: string): TrustedKey[] {
  throw new Error('not yet');
}
