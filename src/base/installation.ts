import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnvironmentFile } from './env-file.ts';
import { CommandError } from './errors.ts';
import { statIfThere, whyRefused } from './files.ts';
import { packageRoot } from './root.ts';

const rpmHome = '/usr/lib/gapstone';
/** An rpm may be installed below another root than `/`. */
const systemRoot = packageRoot.endsWith(rpmHome) ? packageRoot.slice(0, -rpmHome.length) : null;
/** Only the packages bring their own Node. */
const isPackage = existsSync(join(packageRoot, 'bin', 'node'));

/** The settings that every command reads (rule D44.3); the file need not exist. */
export const settingsFile =
  systemRoot === null
    ? join(dirname(packageRoot), 'gapstone.env')
    : join(systemRoot, '/etc/gapstone/gapstone.env');

/** The folder of the data of a package; null for a checkout or an image, whose default is the current folder. */
export const dataFolder =
  systemRoot !== null
    ? join(systemRoot, '/var/lib/gapstone')
    : isPackage
      ? join(dirname(packageRoot), 'gapstone-data')
      : null;

const largestSettings = 1 << 20;

/**
 * The settings of `gapstone.env` by name, only those that begin with `GAPSTONE_` (rule D44.3). Throws `CommandError`
 * where it cannot be read, or where another user could change it: its settings name keys and who may sign in.
 */
export function readSettingsFile(file: string = settingsFile): Record<string, string> {
  const stat = statIfThere(file);
  if (stat === null) return {};
  const fail = (why: string) => new CommandError(`the settings file ${file} ${why}`, 2);
  if (!stat.isFile()) throw fail('is not a file');
  if (stat.size > largestSettings) throw fail(`has ${stat.size} bytes, at most ${largestSettings} are read`);
  const own = process.geteuid?.();
  if (own !== undefined && own !== 0 && stat.uid !== 0 && stat.uid !== own)
    throw fail(`belongs to another user (uid ${stat.uid}): only root and this user (uid ${own}) may own it`);
  if ((stat.mode & 0o022) !== 0) throw fail(`can be changed by others: chmod go-w ${file}`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    if (text.includes('\0')) throw new Error('it has a byte 0');
    const all = parseEnvironmentFile(text);
    return Object.fromEntries([...all].filter(([name]) => name.startsWith('GAPSTONE_')));
  } catch (error) {
    throw fail(`cannot be read: ${whyRefused(file, error)}`);
  }
}

/** The commands that create data: the folder of a package is made for them. */
const creating = ['start', 'import', 'restore'];

/**
 * Makes the data folder of a package where a command creates data in it. Throws `CommandError` where root would write
 * into the folder of another user: the service could not write what root makes.
 */
export function prepareDataFolder(command: string, environment: () => NodeJS.ProcessEnv): void {
  if (dataFolder === null || environment().GAPSTONE_DB !== undefined) return;
  if (creating.includes(command) && !existsSync(dataFolder)) {
    try {
      mkdirSync(dataFolder, { mode: 0o700 });
    } catch (error) {
      throw new CommandError(`${dataFolder} cannot be created: ${whyRefused(dataFolder, error)}`);
    }
  }
  if (process.geteuid?.() === 0 && existsSync(dataFolder) && statSync(dataFolder).uid !== 0)
    throw new CommandError(
      `${dataFolder} belongs to another user: run this as "runuser -u gapstone -- gapstone ..."`,
    );
}

/** How the program is called where it is installed: a checkout has no command of its own. */
export const programName = existsSync(join(packageRoot, 'src', 'cli.ts'))
  ? 'node dist/src/cli.js'
  : isPackage && systemRoot === null
    ? './gapstone'
    : 'gapstone';
