import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CommandError } from './errors.ts';
import { isThere, statIfThere, whyRefused } from './files.ts';
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

const comment = String.raw`[#;](?:\\.|[^\\\r\n])*`;
// Its first character may be any but a blank, even an equals sign.
const name = String.raw`[^ \t\r\n#;][^=\r\n]*`;
const quoted = String.raw`"(?:\\.|[^"\\])*(?:"|\\?$)|'[^']*(?:'|$)`;
const plain = String.raw`(?:\\.|[^\\\r\n])*\\?`;
const assignment = String.raw`(${name})=[ \t]*((?:(?:${quoted})[ \t]*)*)(${plain})`;
const settingsLine = new RegExp(String.raw`${comment}|${assignment}|[^ \t\r\n#;][^\r\n]*`, 'gs');

/**
 * The assignments of a text, as systemd 252 reads an `EnvironmentFile` (`parse_env_file` of its source): `#` and `;`
 * begin comments, values need no quotes, blanks around a value go, a backslash at the end of a line continues it, and a
 * line without `=` is passed over. The last assignment of a name counts.
 */
export function parseEnvironmentFile(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name, quoted = '', plain = ''] of text.matchAll(settingsLine)) {
    const parts = quoted.matchAll(/"((?:\\.|[^"\\])*\\?)"?|'([^']*)'?/gs);
    const value = [...parts].map(
      ([, double, single]) => single ?? double!.replace(/\\(?:\n|(["\\`$])|$)/g, '$1'),
    );
    if (name !== undefined) found.set(name.trimEnd(), value.join('') + unquoted(plain));
  }
  return found;
}

/** A value without quotes: blanks at its end go, but not before or after a backslash. */
function unquoted(text: string): string {
  const parts = text.match(/\\.?|[ \t]+|[^\\ \t]+/gs) ?? [];
  if (/^[ \t]/.test(parts.at(-1) ?? '')) parts.pop();
  return parts.map((part) => (part[0] === '\\' ? part.slice(1).replace(/[\r\n]/, '') : part)).join('');
}

const largestSettings = 1 << 20;

/**
 * The settings of `gapstone.env` by name, only those that begin with `GAPSTONE_`; `passOver` gets the other names (rule
 * D44.3). Throws `CommandError` where it cannot be read, or where another user could change it: its settings name keys
 * and who may sign in.
 */
export function readSettingsFile(
  passOver: (name: string) => void = () => undefined,
  file: string = settingsFile,
): Record<string, string> {
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
    const isOurs = (name: string) => name.startsWith('GAPSTONE_');
    const all = [...parseEnvironmentFile(text)];
    for (const [name] of all) if (!isOurs(name)) passOver(name);
    return Object.fromEntries(all.filter(([name]) => isOurs(name)));
  } catch (error) {
    throw fail(`cannot be read: ${whyRefused(file, error)}`);
  }
}

/** The folder of a database; that of a package is made. Throws `CommandError` where there is none. */
export function requireFolder(file: string): string {
  const folder = dirname(file);
  if (isThere(folder)) return folder;
  if (resolve(folder) !== dataFolder)
    throw new CommandError(`the folder of the database does not exist: ${file}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    throw new CommandError(`${folder} cannot be created: ${whyRefused(folder, error)}`);
  }
  return folder;
}

/**
 * Throws `CommandError` where root would write into another user's folder of a package's catalog: the service could not
 * write what root makes.
 */
export function refuseRoot(db: string = join(dataFolder ?? '', 'gapstone.db')): void {
  if (dataFolder === null || process.geteuid?.() !== 0) return;
  const owner = statSync(dirname(db), { throwIfNoEntry: false })?.uid ?? 0;
  if (owner !== 0)
    throw new CommandError(
      `${dirname(db)} belongs to another user (uid ${owner}): run this as that user, with the rpm "runuser -u gapstone -- gapstone ..."`,
    );
}

/** How the program is called where it is installed: a checkout has no command of its own. */
export const programName = existsSync(join(packageRoot, 'src', 'cli.ts'))
  ? 'node dist/src/cli.js'
  : isPackage && systemRoot === null
    ? './gapstone'
    : 'gapstone';
