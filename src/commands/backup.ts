import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isTaken } from '../base/files.ts';
import { copyDatabase, type DatabaseCopy, hashFile } from '../db/copy.ts';
import { connect, requireDatabaseFile } from '../db/database.ts';
import { auditedRun } from './audit.ts';
import { type Command, parse } from './command.ts';

export const backupCommand: Command = {
  name: 'backup',
  summary: 'back up the database to a new file, checked and hashed, also while it is in use',
  usage: 'gapstone backup FILE [--db FILE] [--json]',
  help: [
    'FILE      the backup to create; it must not exist yet. FILE.sha256 is written beside it, for sha256sum -c',
    '--json    file, bytes, sha256 and schema as JSON',
  ],
  async run(args) {
    const { values, positionals } = parse(args, ['FILE'], {});
    const config = readConfig({ db: values.db });
    const file = positionals[0]!;
    requireDatabaseFile(config.db);
    const event = { action: 'database.backup', objectType: 'file', objectId: file };
    const copy = await auditedRun(
      config,
      event,
      () => backup(config.db, file),
      ({ sha256, bytes }) => ({ sha256, bytes }),
    );
    process.stdout.write(values.json ? `${JSON.stringify(copy)}\n` : `${copy.sha256}  ${copy.file}\n`);
    return 0;
  },
};

/** Copies a database of any schema up to this one, and lays its hash beside it. Throws `CommandError`. */
export async function backup(db: string, file: string): Promise<DatabaseCopy> {
  if (resolve(file) === resolve(db)) throw new CommandError(`${file} is the database itself`);
  const sqlite = connect(db);
  try {
    // The hash of an earlier backup of this name would speak against this one.
    if (!isTaken(file)) rmSync(hashFile(file), { force: true });
    const copy = await copyDatabase(sqlite, file);
    writeHash(copy);
    return copy;
  } finally {
    sqlite.close();
  }
}

function writeHash({ file, sha256 }: DatabaseCopy): void {
  try {
    inPrivateFolder(hashFile(file), (temporary) => {
      writeFileSync(temporary, `${sha256}  ${basename(file)}\n`, { mode: 0o600, flag: 'wx' });
      renameSync(temporary, hashFile(file));
    });
  } catch (error) {
    throw new CommandError(
      `${file} is complete, but ${hashFile(file)} cannot be written: ${(error as Error).message}`,
    );
  }
}
