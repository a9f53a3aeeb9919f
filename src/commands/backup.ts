import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isTaken } from '../base/files.ts';
import { type Backup, backUp } from '../db/backup-file.ts';
import { hashFile } from '../db/copy.ts';
import { type Files, requireDatabaseFile } from '../db/database.ts';
import { auditedRun } from './audit.ts';
import { type Command, flag, parse, print } from './command.ts';

export const backupCommand: Command = {
  name: 'backup',
  summary: "back up catalog and users' data to a new file, checked and hashed, also while they are in use",
  usage: 'gapstone backup FILE [--users-only] [--db FILE] [--users-db FILE] [--json]',
  help: [
    'FILE          the backup to create; it must not exist yet. FILE.sha256 is written beside it, for sha256sum -c',
    "--users-only  users' data alone",
    '--json        file, bytes, sha256 and schema as JSON',
  ],
  settings: ['auditFile', 'auditFailure'],
  examples: ['gapstone backup gapstone.zip', 'gapstone backup --users-only users.db'],
  async run(args) {
    const { values, positionals } = parse(args, ['FILE'], { 'users-only': flag });
    const config = readConfig(values);
    const file = positionals[0]!;
    const usersOnly = values['users-only'] ?? false;
    requireDatabaseFile(usersOnly ? config.usersDb : config.db);
    const event = { action: 'database.backup', objectType: 'file', objectId: file };
    const made = await auditedRun(
      config,
      event,
      () => backup(config, file, usersOnly),
      ({ sha256, bytes }) => ({ sha256, bytes }),
    );
    print(values.json, made, `${made.sha256}  ${made.file}`);
    return 0;
  },
};

/** Makes a backup as `backUp` does, and writes its hash to FILE.sha256. Throws `CommandError`. */
export async function backup(files: Files, file: string, usersOnly = false): Promise<Backup> {
  // The hash of an earlier backup of this name would not match this one.
  if (!isTaken(file)) rmSync(hashFile(file), { force: true });
  const made = await backUp(files, file, { usersOnly });
  writeHash(made);
  return made;
}

function writeHash({ file, sha256 }: Backup): void {
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
