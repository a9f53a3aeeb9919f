/** A product that a token may be entitled to (D1.2). */
export type Entitlement = 'regdoc' | 'occ';

export const isEntitlement = (value: unknown): value is Entitlement => value === 'regdoc' || value === 'occ';

/** A person, authenticated by a user token or a session. */
export interface User {
  kind: 'user';
  subject: string;
  email: string | null;
  organization: string | null;
  entitlements: Set<Entitlement>;
  /** The local issuer's key that verified the token; absent for an identity provider's. */
  keyId?: string;
  /** The certificate that the person came in with, DER in base64. */
  certificate?: string;
  /** The id of the user's own token that speaks for the user (rule D43.6). */
  ownToken?: string;
  /** The end of the token, in seconds since 1970. */
  expiresAt: number;
}

/** A program that reads its assigned lists (D1.4). */
export interface Integration {
  kind: 'integration';
  id: string;
  organization: string;
}

/** An authenticated caller. */
export type Viewer = User | Integration;

const keys = new WeakMap<Viewer, string>();

/** A viewer as one text without line feeds, equal for the same person with the same rights. */
export function viewerKey(viewer: Viewer): string {
  let key = keys.get(viewer);
  if (key === undefined) {
    key =
      viewer.kind === 'integration'
        ? `integration ${viewer.id}`
        : JSON.stringify([viewer.subject, viewer.organization, ...[...viewer.entitlements].sort()]);
    keys.set(viewer, key);
  }
  return key;
}
