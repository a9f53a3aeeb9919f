import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isTaken, isThere } from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { type Backup, backUp } from '../db/backup-file.ts';
import { hashFile } from '../db/copy.ts';
import { type Files, requireDatabaseFile } from '../db/database.ts';
import { restoreBackup } from '../db/restore-backup.ts';
import { newestSchema } from '../db/schema.ts';
import { recordBackup, siteId } from '../db/site-records.ts';
import { auditedRun } from './audit.ts';
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

const day = 24 * 3600 * 1000;

/** What a backup holds decides how its name ends. */
const ending = (usersOnly: boolean) => (usersOnly ? '.db' : '.zip');
const stamp = (time: Date) => time.toISOString().replace(/[-:]|\.\d+/g, '');

/**
 * The path of a new backup of a site in a folder (rule D44.5): of the time, or of the next second that no backup there
 * has, finished or in progress. Throws `CommandError` where there is no folder.
 */
function backupIn(folder: string, site: string, time: Date, usersOnly: boolean): string {
  if (!isThere(folder) || !statSync(folder).isDirectory())
    throw new CommandError(`${folder} is not a folder: create it first`);
  const taken = readdirSync(folder);
  for (let at = time.getTime(); ; at += 1000) {
    const name = `gapstone-${site}-${stamp(new Date(at))}${ending(usersOnly)}`;
    if (!taken.some((each) => each.startsWith(name))) return join(folder, name);
  }
}

function patternOf(site: string, usersOnly: boolean): RegExp {
  const escaped = site.replace(/[.]/g, '\\.');
  return new RegExp(`^gapstone-${escaped}-\\d{8}T\\d{6}Z\\${ending(usersOnly)}$`);
}

/** Whether a name is a finished backup: a file whose hash file names it. Another backup may remove it meanwhile. */
function isFinished(file: string): boolean {
  const hashes = hashFile(file);
  if (!isPlainFile(file) || !isPlainFile(hashes)) return false;
  const [hash, name] = readFileSync(hashes, 'utf8').trimEnd().split('  ');
  return /^[0-9a-f]{64}$/.test(hash ?? '') && name === basename(file);
}

const isPlainFile = (file: string) => lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

/**
 * Removes the oldest backups of a site from a folder until `keep` are left, and what killed backups left more than a
 * day ago. Never removes `made`, what is of another site, or a file whose hash file does not name it (rule D44.5). Gives
 * the removed names.
 */
export function removeOlder(
  folder: string,
  {
    site,
    keep,
    made,
    usersOnly,
    now,
  }: { site: string; keep: number; made: string; usersOnly: boolean; now: Date },
): string[] {
  const pattern = patternOf(site, usersOnly);
  const own = basename(made);
  const names = readdirSync(folder).sort();
  // Names sort by time. One that is later than what was just made is older in truth: the clock was wrong.
  const others = names
    .filter((name) => pattern.test(name) && name !== own && isFinished(join(folder, name)))
    .sort((a, b) => Number(b > own) - Number(a > own));
  const unfinished = names.filter((name) => {
    const [, of] = /^(.*)\.part-\w{6}$/.exec(name) ?? [];
    const { mtimeMs } = lstatSync(join(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: Infinity };
    return of !== undefined && pattern.test(of) && now.getTime() - mtimeMs > day;
  });
  // The new one counts.
  const gone = others.slice(0, Math.max(0, others.length - (keep - 1)));
  for (const name of gone)
    for (const file of [join(folder, name), hashFile(join(folder, name))]) rmSync(file, { force: true });
  for (const name of unfinished) rmSync(join(folder, name), { recursive: true, force: true });
  return [...gone, ...unfinished];
}

export const restoreCommand = () =>
  command('restore', 'verify a backup and replace what it holds', {
    settings: ['auditFile', 'auditFailure'],
    notes: ['Stop the server first. What is replaced is kept beside the new file.'],
    examples: ['gapstone restore gapstone.zip'],
  })
    .argument(
      '<file>',
      "the backup, of both files or of users' data alone; compared with FILE.sha256 if that exists",
    )
    .action(async (file, options) => {
      const config = readConfig(options);
      // A typo must not create an audit stream.
      if (!isThere(file)) throw new CommandError(`there is no backup at ${file}`);
      requireFolder(config.db);
      requireFolder(config.usersDb);
      const restored = await auditedRun(
        config,
        { action: 'database.restore', objectType: 'file', objectId: file },
        // The backup may have the audit head of another machine.
        (stream) => restoreBackup(file, config, new Date(), stream.head()),
        ({ sha256, files }) => ({
          sha256,
          files: files.map((each) => each.file),
          before: files.flatMap(({ before }) => before ?? []),
        }),
      );
      print(options.json, restored, `${restored.sha256}  ${file}`);
      if (restored.lost !== undefined) tell(`warning: ${restored.lost}`);
      for (const { kind, file, schema, before } of restored.files) {
        if (before !== null) tell(`the replaced ${file} is in ${before}`);
        const newest = newestSchema(kind);
        if (schema < newest) tell(`${file} has schema ${schema}: the next start upgrades it to ${newest}`);
        if (kind === 'users')
          tell(
            'all sessions were ended; revoke again any integration token that was revoked after the backup',
          );
      }
    });
