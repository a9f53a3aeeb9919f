import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Config, readConfig } from '../base/config.ts';
import { isThere, realFile, whyRefused } from '../base/files.ts';
import { count } from '../base/text.ts';
import { beforeOf, undoneOf } from '../content/exchanges.ts';
import { appliedBundles } from '../content/trust.ts';
import { requireDatabaseFile } from '../db/database.ts';
import { auditedRun } from './audit.ts';
import { type Command, parse, print, tell, text } from './command.ts';
import { readLifetime } from './token.ts';

export const tidyCommand: Command = {
  name: 'tidy',
  summary: 'list what restore, apply and upgrades set aside, and remove what is older',
  usage: 'gapstone tidy [--older-than 30d] [--db FILE] [--users-db FILE] [--json]',
  help: [
    '--older-than T  remove what was set aside longer ago: 12h, 30d ...; never the catalog that "content rollback" goes back to',
    '--json          each file with bytes, since, why and removed as JSON, a line for each',
  ],
  settings: ['auditFile', 'auditFailure'],
  examples: ['gapstone tidy', 'gapstone tidy --older-than 30d'],
  async run(args) {
    const { values } = parse(args, [], { 'older-than': text });
    const age = values['older-than'];
    const seconds = age === undefined ? null : readLifetime(age, 'older-than');
    const config = readConfig(values);
    requireDatabaseFile(config.db);
    const all = setAside(config);
    const old = seconds === null ? [] : removable(all, seconds, new Date());
    let removed: SetAside[] = [];
    if (old.length > 0) {
      const event = { action: 'database.tidy', objectType: 'file', objectId: dirname(config.db) };
      removed = await auditedRun(
        config,
        event,
        () => remove(old),
        (removed) => ({ removed: removed.map(({ file }) => basename(file)) }),
      );
    }
    for (const each of all) {
      const isRemoved = removed.includes(each);
      const { file, bytes, since, why, kept } = each;
      const note = isRemoved ? 'removed' : kept ? 'kept: "content rollback" goes back to it' : 'set aside';
      print(values.json, { file, bytes, since: since.toISOString(), why, removed: isRemoved }, [
        `${since.toISOString()}  ${(bytes / 1e6).toFixed(1)} MB  ${file}: ${why}; ${note}`,
      ]);
    }
    const bytes = (of: SetAside[]) =>
      `${(of.reduce((sum, each) => sum + each.bytes, 0) / 1e6).toFixed(1)} MB`;
    tell(
      all.length === 0
        ? 'nothing is set aside'
        : `${count(all.length, 'file')} of ${bytes(all)} set aside${seconds === null ? '' : `, ${removed.length} of ${bytes(removed)} removed`}`,
    );
    return removed.length < old.length ? 1 : 0;
  },
};

/** A file that a command laid beside a database, with the log files beside it. */
export interface SetAside {
  file: string;
  bytes: number;
  since: Date;
  why: string;
  /** Whether a rollback needs it. */
  kept: boolean;
}

const kinds: [ending: RegExp, why: string][] = [
  [/^\.before-restore-\d{8}T\d{6}Z(-\d+)?$/, 'replaced by a restore'],
  [/^\.before-schema-\d+(-\d+)?$/, 'from before an upgrade'],
  [/^\.before-\d+$/, 'from before a bundle'],
  [/^\.undone-\d+$/, 'taken back by a rollback'],
];
const companions = ['', '-wal', '-shm', '-journal'];

/** What lies beside both databases, the oldest first (rule D44.5). Throws `CommandError`. */
export function setAside({ db, usersDb }: Pick<Config, 'db' | 'usersDb'>): SetAside[] {
  const needed = neededForRollback(db, usersDb);
  // Where users' data are not, nobody knows which catalog a rollback needs.
  const isNeeded = (file: string) => needed?.includes(file) ?? /\.(before|undone)-\d+$/.test(file);
  return [...new Set([db, usersDb].map(realFile))]
    .flatMap((own) =>
      readdirSync(dirname(own)).flatMap((name) => {
        if (!name.startsWith(`${basename(own)}.`)) return [];
        const rest = name.slice(basename(own).length);
        const why = kinds.find(([ending]) => ending.test(rest))?.[1];
        if (why === undefined) return [];
        // Spelled as `neededForRollback` spells it: a path may begin with `./`.
        const file = `${own}${rest}`;
        const stats = companions.flatMap(
          (end) => lstatSync(`${file}${end}`, { throwIfNoEntry: false }) ?? [],
        );
        // No command makes a folder.
        if (stats[0]?.isDirectory() !== false) return [];
        // Renaming changes this time, not that of the last write, which may be a year older.
        const since = new Date(Math.max(...stats.map(({ ctimeMs }) => ctimeMs)));
        const bytes = stats.reduce((sum, { size }) => sum + size, 0);
        return [{ file, bytes, since, why, kept: isNeeded(file) }];
      }),
    )
    .sort((a, b) => a.since.getTime() - b.since.getTime() || (a.file < b.file ? -1 : 1));
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
  return all.filter(({ since, kept }) => !kept && now.getTime() - since.getTime() > seconds * 1000);
}

/** Removes files that were set aside, and gives those; tells of one that cannot be removed, and goes on. */
function remove(files: SetAside[]): SetAside[] {
  return files.filter(({ file }) => {
    try {
      for (const end of companions) rmSync(`${file}${end}`, { force: true });
      return true;
    } catch (error) {
      tell(`${file} cannot be removed: ${whyRefused(file, error)}`);
      return false;
    }
  });
}
