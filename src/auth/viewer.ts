/** A product that a token may be entitled to (D1.2). */
export type Entitlement = 'regdoc' | 'occ';

/** Who is calling with a user token. */
export interface Viewer {
  kind: 'user';
  subject: string;
  email: string | null;
  organization: string | null;
  entitlements: Set<Entitlement>;
  /** When the token ends, in seconds since 1970. */
  expiresAt: number;
}
