import { CommandError } from '../base/errors.ts';

/** Loads the SQLite driver; gives the version of SQLite. Throws `CommandError` for a faulty installation. */
export async function requireDriver(): Promise<string> {
  try {
    const { default: Sqlite } = await import('better-sqlite3');
    const database = new Sqlite(':memory:');
    const version = database.prepare('SELECT sqlite_version()').pluck().get() as string;
    database.close();
    return version;
  } catch (error) {
    const why = (error as Error).message.split('\n')[0];
    throw new CommandError(
      `the SQLite driver cannot be loaded: ${why}. Install the package for ${process.platform}-${process.arch} again; this is Node ${process.versions.node}`,
    );
  }
}
