import { type Connection, connectReadOnly } from './connect.ts';

/** The schema name of the earlier of two catalogs; the later one is `main`. */
export const earlierName = 'earlier';

/** Opens two catalogs on one connection, for reading. Throws `CommandError`. */
export function connectPair(earlier: string, later: string): Connection {
  connectReadOnly(earlier, 'catalog').close();
  const sqlite = connectReadOnly(later, 'catalog');
  sqlite.prepare(`ATTACH ? AS ${earlierName}`).run(earlier);
  return sqlite;
}
