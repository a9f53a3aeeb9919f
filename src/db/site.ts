import { isThere } from '../base/files.ts';
import { connect, connectReadOnly } from './connect.ts';
import { schemaVersion } from './migrate.ts';

/** The users' migration that created the table `site`. */
const since = 5;

/** The id of a site, made once in its users' data (rule D44.5). Null without users' data of this schema. */
export function siteId(usersDb: string): string | null {
  if (!isThere(usersDb)) return null;
  using users = connectReadOnly(usersDb, 'users', { anySchema: true });
  if (schemaVersion(users) < since) return null;
  return users.prepare<[], string>('SELECT id FROM site').pluck().get() ?? null;
}

/** Records when the last backup was made, for the metrics. Throws where users' data cannot be written now. */
export function noteBackup(usersDb: string, at: Date): void {
  if (!isThere(usersDb)) return;
  using users = connect(usersDb, 'users', { anySchema: true, asItIs: true, busyTimeout: 5000 });
  if (schemaVersion(users) < since) return;
  users.prepare('UPDATE site SET backup_at = ?').run(at.toISOString());
}
