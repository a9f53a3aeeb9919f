/** A product that a token may be entitled to (D1.2). */
export type Entitlement = 'regdoc' | 'occ';

/** A person, known by a user token or by a session that was made with one. */
export interface User {
  kind: 'user';
  subject: string;
  email: string | null;
  organization: string | null;
  entitlements: Set<Entitlement>;
  /** The local issuer's key that the token was verified with; not there for an identity provider's. */
  keyId?: string;
  /** When the token ends, in seconds since 1970. */
  expiresAt: number;
}

/** A program that reads the lists assigned to it (D1.4). */
export interface Integration {
  kind: 'integration';
  id: string;
  organization: string;
}

/** Who is calling, where a caller is needed at all. */
export type Viewer = User | Integration;

const keys = new WeakMap<Viewer, string>();

/** A viewer in one text without line feeds: the same for the same person with the same rights. */
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
