import type Sqlite from 'better-sqlite3';

/** Whom writes to users' data concern: what is kept for others still holds. */
export interface Audience {
  /** Says that a write concerns a person and, unless it is null, all members and tokens of an organization. */
  concern(subject: string, organization: string | null): void;
  /** A text that is another one after every write that concerns such a viewer, and after every write of another process. */
  version(subject: string | null, organization: string | null): string;
}

const mostRemembered = 50_000;

/** The audience of what is written through a connection. */
export function createAudience(sqlite: Sqlite.Database): Audience {
  const otherWrites = sqlite.prepare('PRAGMA data_version').pluck();
  const versions = new Map<string, number>();
  let writes = 0;
  let everybody = 0;

  function note(key: string): void {
    if (versions.size >= mostRemembered) {
      versions.clear();
      everybody = writes;
    }
    versions.set(key, ++writes);
  }

  return {
    concern(subject, organization) {
      note(`user ${subject}`);
      if (organization !== null) note(`organization ${organization}`);
    },
    version: (subject, organization) =>
      `${otherWrites.get()} ${everybody} ${versions.get(`user ${subject}`) ?? 0} ${versions.get(`organization ${organization}`) ?? 0}`,
  };
}
