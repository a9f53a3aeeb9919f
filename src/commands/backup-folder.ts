import { lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { hashFile } from '../db/copy.ts';

const day = 24 * 3600 * 1000;

/** What a backup holds decides how its name ends. */
const ending = (usersOnly: boolean) => (usersOnly ? '.db' : '.zip');
const stamp = (time: Date) => time.toISOString().replace(/[-:]|\.\d+/g, '');

/**
 * The path of a new backup of a site in a folder (rule D44.5): of the time, or of the next second that no backup there
 * has, finished or in progress. Throws `CommandError` where there is no folder.
 */
export function backupIn(folder: string, site: string, time: Date, usersOnly: boolean): string {
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
