import type Sqlite from 'better-sqlite3';
import { connectReadOnly } from './connect.ts';

/** The name that the earlier of two catalogs has for a connection that compares them; the later one is `main`. */
export const earlierName = 'earlier';

/** Opens two catalogs to be compared, for reading. Throws `CommandError`. */
export function connectPair(earlier: string, later: string): Sqlite.Database {
  connectReadOnly(earlier, 'catalog').close();
  const sqlite = connectReadOnly(later, 'catalog');
  sqlite.prepare(`ATTACH ? AS ${earlierName}`).run(earlier);
  return sqlite;
}
