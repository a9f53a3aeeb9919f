import { CommandError } from '../base/errors.ts';

/**
 * Loads the SQLite driver. Throws `CommandError` where it cannot be: that is a fault of the installation, not of a database.
 */
export async function requireDriver(): Promise<void> {
  try {
    const { default: Sqlite } = await import('better-sqlite3');
    new Sqlite(':memory:').close();
  } catch (error) {
    const why = (error as Error).message.split('\n')[0];
    throw new CommandError(
      `the SQLite driver cannot be loaded: ${why}. Install the package for ${process.platform}-${process.arch} again; this is Node ${process.versions.node}`,
    );
  }
}
