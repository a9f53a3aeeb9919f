import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { hashFile } from '../db/copy.ts';

const day = 24 * 3600 * 1000;

/** What a backup holds decides how its name ends. */
const ending = (usersOnly: boolean) => (usersOnly ? '.db' : '.zip');
const stamp = (time: Date) => time.toISOString().replace(/[-:]|\.\d+/g, '');

/** The path of a new backup of a site in a folder (rule D44.5). Throws `CommandError` where there is no folder. */
export function backupIn(folder: string, site: string, time: Date, usersOnly: boolean): string {
  if (!isThere(folder) || !statSync(folder).isDirectory())
    throw new CommandError(`${folder} is not a folder: create it first`);
  return join(folder, `gapstone-${site}-${stamp(time)}${ending(usersOnly)}`);
}

function patternOf(site: string, usersOnly: boolean): RegExp {
  const escaped = site.replace(/[.]/g, '\\.');
  return new RegExp(`^gapstone-${escaped}-\\d{8}T\\d{6}Z\\${ending(usersOnly)}$`);
}

/** Whether the hash file of a backup names it, as every finished backup has. */
function isFinished(file: string): boolean {
  const hashes = hashFile(file);
  if (!isThere(hashes)) return false;
  const [hash, name] = readFileSync(hashes, 'utf8').trimEnd().split('  ');
  return /^[0-9a-f]{64}$/.test(hash ?? '') && name === basename(file);
}

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
  const names = readdirSync(folder).sort();
  const older = names.filter((name) => {
    const file = join(folder, name);
    return pattern.test(name) && name !== basename(made) && statSync(file).isFile() && isFinished(file);
  });
  const unfinished = names.filter((name) => {
    const [, own] = /^(.*)\.part-\w{6}$/.exec(name) ?? [];
    return (
      own !== undefined && pattern.test(own) && now.getTime() - statSync(join(folder, name)).mtimeMs > day
    );
  });
  // The new one counts. Names sort by time.
  const gone = older.slice(0, Math.max(0, older.length - (keep - 1)));
  for (const name of gone) {
    rmSync(join(folder, name));
    rmSync(hashFile(join(folder, name)));
  }
  for (const name of unfinished) rmSync(join(folder, name), { recursive: true });
  return [...gone, ...unfinished];
}
