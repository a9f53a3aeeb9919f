import Sqlite from 'better-sqlite3';

/** Counts the statements that this process executes until `stop`; `ran` may be set anew. */
export function countStatements(): { ran: number; stop(): void } {
  const database = new Sqlite(':memory:');
  const statement = Object.getPrototypeOf(database.prepare('SELECT 1'));
  database.close();
  const names = ['all', 'get', 'run', 'iterate'] as const;
  const originals = Object.fromEntries(names.map((name) => [name, statement[name]]));
  const counted = { ran: 0, stop: () => void Object.assign(statement, originals) };
  for (const name of names)
    statement[name] = function (...values: unknown[]) {
      counted.ran++;
      return originals[name].apply(this, values);
    };
  return counted;
}
