import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isTaken } from '../base/files.ts';
import { type Backup, backUp } from '../db/backup-file.ts';
import { hashFile } from '../db/copy.ts';
import { type Files, requireDatabaseFile } from '../db/database.ts';
import { recordBackup, siteId } from '../db/site-records.ts';
import { auditedRun } from './audit.ts';
import { backupIn, removeOlder } from './backup-folder.ts';
import { command, print, tell } from './command.ts';

export const backupCommand = () =>
  command(
    'backup',
    "back up catalog and users' data to a new file, checked and hashed, also while they are in use",
    {
      settings: ['site', 'auditFile', 'auditFailure'],
      examples: [
        'gapstone backup gapstone.zip',
        'gapstone backup --users-only users.db',
        'gapstone backup --into /backup --keep 14',
      ],
    },
  )
    .argument(
      '[file]',
      'the backup to create; it must not exist yet. FILE.sha256 is written beside it, for sha256sum -c',
    )
    .option('--into <dir>', 'name it by site and time in this folder')
    .option('--keep <number>', 'then remove older ones of this site, so that so many are left', readKeep)
    .option('--users-only', "users' data alone")
    .action(async (given, { into, keep, usersOnly = false, ...options }) => {
      if ((given === undefined) === (into === undefined))
        throw new CommandError('give either FILE or --into DIR', 2);
      if (keep !== undefined && into === undefined) throw new CommandError('--keep needs --into', 2);
      const config = readConfig(options);
      requireDatabaseFile(usersOnly ? config.usersDb : config.db);
      const now = new Date();
      const site = into === undefined ? '' : siteOf(config);
      const file = given ?? backupIn(into!, site, now, usersOnly);
      const made = await auditedRun(
        config,
        { action: 'database.backup', objectType: 'file', objectId: file },
        async () => ({
          ...(await backup(config, file, usersOnly, now)),
          ...(keep !== undefined && {
            removed: removeOlder(into!, { site, keep, made: file, usersOnly, now }),
          }),
        }),
        ({ sha256, bytes, removed }) => ({ sha256, bytes, ...(removed && { removed }) }),
      );
      print(options.json, made, `${made.sha256}  ${made.file}`);
      if (made.removed !== undefined && made.removed.length > 0) tell(`removed ${made.removed.join(', ')}`);
    });

function readKeep(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 99999.');
  return Number(text);
}

function siteOf({ site, usersDb }: Config): string {
  const found = site ?? siteId(usersDb);
  if (found !== null) return found;
  throw new CommandError(
    `${usersDb} has no id of this site yet: set GAPSTONE_SITE, or start the server once`,
  );
}

/**
 * Makes a backup as `backUp` does, writes its hash to FILE.sha256, and records the time in users' data. Throws
 * `CommandError`.
 */
export async function backup(
  files: Files,
  file: string,
  usersOnly = false,
  now = new Date(),
): Promise<Backup> {
  // The hash of an earlier backup of this name would not match this one.
  if (!isTaken(file)) rmSync(hashFile(file), { force: true });
  const made = await backUp(files, file, usersOnly);
  writeHash(made);
  try {
    recordBackup(files.usersDb, now);
  } catch (error) {
    tell(`warning: ${file} is complete, but its time is not in the metrics: ${(error as Error).message}`);
  }
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
