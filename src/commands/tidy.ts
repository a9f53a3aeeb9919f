import { lstatSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Config, readConfig } from '../base/config.ts';
import { isThere, realFile, whyRefused } from '../base/files.ts';
import { count } from '../base/text.ts';
import { beforeOf, beside, undoneOf } from '../content/exchanges.ts';
import { appliedBundles } from '../content/trust.ts';
import { requireDatabaseFile } from '../db/database.ts';
import { auditedRun } from './audit.ts';
import { command, print, seconds, tell } from './command.ts';

export const tidyCommand = () =>
  command('tidy', 'list what restore, apply and upgrades set aside, and remove what is older', {
    settings: ['auditFile', 'auditFailure'],
    examples: ['gapstone tidy', 'gapstone tidy --older-than 30d'],
  })
    .option(
      '--older-than <time>',
      'remove what was set aside longer ago: 12h, 30d ...; never the catalog that "content rollback" goes back to',
      seconds,
    )
    .action(async ({ olderThan, ...options }) => {
      const config = readConfig(options);
      requireDatabaseFile(config.db);
      const all = setAside(config);
      const old = olderThan === undefined ? [] : removable(all, olderThan, new Date());
      const event = { action: 'database.tidy', objectType: 'file', objectId: dirname(config.db) };
      const removed =
        old.length === 0
          ? []
          : await auditedRun(
              config,
              event,
              () => remove(old),
              (files) => ({ removed: files.map(({ file }) => basename(file)) }),
            );
      for (const each of all) {
        const isRemoved = removed.includes(each);
        const { file, bytes, since, why, isNeeded } = each;
        const note = isRemoved
          ? 'removed'
          : isNeeded
            ? 'kept: "content rollback" goes back to it'
            : 'set aside';
        print(
          options.json,
          { file, bytes, since: since.toISOString(), why, removed: isRemoved },
          `${since.toISOString()}  ${megabytes([each])}  ${file}: ${why}; ${note}`,
        );
      }
      const removal = olderThan === undefined ? '' : `, ${removed.length} of ${megabytes(removed)} removed`;
      tell(
        all.length === 0
          ? 'nothing is set aside'
          : `${count(all.length, 'file')} of ${megabytes(all)} set aside${removal}`,
      );
      if (removed.length < old.length) process.exitCode = 1;
    });

const megabytes = (files: SetAside[]) =>
  `${(files.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6).toFixed(1)} MB`;

/** A file that a command set aside beside a database. */
interface SetAside {
  file: string;
  /** With the log files beside it. */
  bytes: number;
  since: Date;
  why: string;
  /** Whether a rollback needs it. */
  isNeeded: boolean;
}

const kinds: [ending: RegExp, why: string][] = [
  [/^\.before-restore-\d{8}T\d{6}Z(-\d+)?$/, 'replaced by a restore'],
  [/^\.before-schema-\d+(-\d+)?$/, 'from before an upgrade'],
  [/^\.before-\d+$/, 'from before a bundle'],
  [/^\.undone-\d+$/, 'taken back by a rollback'],
];

const withLogs = (file: string) => ['', '-wal', '-shm', '-journal'].map((ending) => `${file}${ending}`);

/** What was set aside beside both databases, the oldest first (rule D44.5). Throws `CommandError`. */
export function setAside({ db, usersDb }: Pick<Config, 'db' | 'usersDb'>): SetAside[] {
  const needed = neededForRollback(db, usersDb);
  return [...new Set([db, usersDb].map(realFile))]
    .flatMap(beside)
    .flatMap(({ path, rest }) => describeFile(path, rest, needed))
    .sort((a, b) => a.since.getTime() - b.since.getTime() || (a.file < b.file ? -1 : 1));
}

/** A file beside a database; none for one that no command set aside. */
function describeFile(file: string, rest: string, needed: string[] | null): SetAside[] {
  const kind = kinds.find(([ending]) => ending.test(rest));
  const stats = withLogs(file).flatMap((each) => lstatSync(each, { throwIfNoEntry: false }) ?? []);
  // No command makes a folder.
  if (kind === undefined || stats[0]?.isDirectory() !== false) return [];
  return [
    {
      file,
      bytes: stats.reduce((sum, { size }) => sum + size, 0),
      // Renaming changes this time, not that of the last write, which may be a year older.
      since: new Date(Math.max(...stats.map(({ ctimeMs }) => ctimeMs))),
      why: kind[1],
      // Without users' data nobody knows which catalog a rollback needs.
      isNeeded: needed?.includes(file) ?? /^\.(before|undone)-\d+$/.test(rest),
    },
  ];
}

/** The catalogs that the last exchange needs: that of a rollback, and both of one that was killed. Null: not known. */
function neededForRollback(db: string, usersDb: string): string[] | null {
  if (!isThere(usersDb)) return null;
  const [last] = appliedBundles(usersDb);
  if (last === undefined || last.state === 'rolled-back') return [];
  return [beforeOf(db, last.id), undoneOf(db, last.id)];
}

/** Those that were set aside more than so many seconds ago and that nothing needs. */
export function removable(all: SetAside[], seconds: number, now: Date): SetAside[] {
  return all.filter(({ since, isNeeded }) => !isNeeded && now.getTime() - since.getTime() > seconds * 1000);
}

/** Removes files that were set aside, and gives those; tells of one that cannot be removed, and goes on. */
function remove(files: SetAside[]): SetAside[] {
  return files.filter(({ file }) => {
    try {
      for (const each of withLogs(file)) rmSync(each, { force: true });
      return true;
    } catch (error) {
      tell(`${file} cannot be removed: ${whyRefused(file, error)}`);
      return false;
    }
  });
}
