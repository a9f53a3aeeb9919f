import type Sqlite from 'better-sqlite3';

/** Tracks whom writes to users' data affect, so that cached answers of others stay valid. */
export interface Audience {
  /** Records a write that affects a person and, unless null, all members and tokens of an organization. */
  concern(subject: string, organization: string | null): void;
  /** A text that changes with every write that affects this viewer, and with every write of another process. */
  version(subject: string | null, organization: string | null): string;
}

const mostRemembered = 50_000;

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
