import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isTaken } from '../base/files.ts';
import { printable } from '../base/text.ts';
import { type Backup, backUp } from '../db/backup-file.ts';
import { hashFile } from '../db/copy.ts';
import { type Files, requireDatabaseFile } from '../db/database.ts';
import { recordBackup, siteId } from '../db/site-records.ts';
import { auditedRun } from './audit.ts';
import { backupIn, removeOlder } from './backup-folder.ts';
import { type Command, expectPositionals, flag, parse, print, tell, text } from './command.ts';

export const backupCommand: Command = {
  name: 'backup',
  summary: "back up catalog and users' data to a new file, checked and hashed, also while they are in use",
  usage: `gapstone backup FILE [--users-only] [--db FILE] [--users-db FILE] [--json]
gapstone backup --into DIR [--keep N] [--users-only] [--db FILE] [--users-db FILE] [--json]`,
  help: [
    'FILE          the backup to create; it must not exist yet. FILE.sha256 is written beside it, for sha256sum -c',
    '--into DIR    name it by site and time in this folder',
    '--keep N      then remove older ones of this site, so that N are left',
    "--users-only  users' data alone",
    '--json        file, bytes, sha256, schema and, of --into, removed as JSON',
  ],
  settings: ['site', 'auditFile', 'auditFailure'],
  examples: [
    'gapstone backup gapstone.zip',
    'gapstone backup --users-only users.db',
    'gapstone backup --into /backup --keep 14',
  ],
  async run(args) {
    const { values, positionals } = parse(args, null, { 'users-only': flag, into: text, keep: text });
    expectPositionals(positionals, values.into === undefined ? ['FILE'] : []);
    const keep = readKeep(values.into, values.keep);
    const config = readConfig(values);
    const usersOnly = values['users-only'] ?? false;
    requireDatabaseFile(usersOnly ? config.usersDb : config.db);
    const now = new Date();
    const site = values.into === undefined ? '' : siteOf(config);
    const file = values.into === undefined ? positionals[0]! : backupIn(values.into, site, now, usersOnly);
    const event = { action: 'database.backup', objectType: 'file', objectId: file };
    const made = await auditedRun(
      config,
      event,
      async () => ({
        ...(await backup(config, file, usersOnly, now)),
        ...(keep === null
          ? {}
          : { removed: removeOlder(values.into!, { site, keep, made: file, usersOnly, now }) }),
      }),
      ({ sha256, bytes, removed }) => ({ sha256, bytes, ...(removed === undefined ? {} : { removed }) }),
    );
    print(values.json, made, `${made.sha256}  ${made.file}`);
    if (made.removed !== undefined && made.removed.length > 0) tell(`removed ${made.removed.join(', ')}`);
    return 0;
  },
};

/** How many backups to keep; null for all. Throws `CommandError`. */
function readKeep(into: string | undefined, keep: string | undefined): number | null {
  if (into === '') throw new CommandError('--into must be given a folder', 2);
  if (keep === undefined) return null;
  if (into === undefined) throw new CommandError('--keep needs --into', 2);
  if (!/^[1-9]\d{0,4}$/.test(keep))
    throw new CommandError(`--keep must be a number from 1 to 99999, not "${printable(keep, 64)}"`, 2);
  return Number(keep);
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
