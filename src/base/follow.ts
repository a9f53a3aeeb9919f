import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from './log.ts';

/** A text that changes when a file is written, replaced, removed or becomes unreadable. */
export function stampOf(file: string): string {
  try {
    const stat = statSync(file, { bigint: true });
    return `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The files of a folder, sorted, without hidden ones; another path is its only file. */
export function filesAt(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && !entry.isDirectory())
      .map(({ name }) => join(path, name))
      .sort();
  } catch {
    return [path];
  }
}

/** Milliseconds between two looks at the files. */
const everyMilliseconds = 200;

/** What is read from files or folders. */
export interface Followed {
  /** Its name in the log. */
  name: string;
  /** The level of the line about a file that cannot be used. */
  level?: 'warn' | 'error';
  paths: readonly string[];
  /** Reads the files again, until `stopped` is aborted. When it throws, what was read before stays in use. */
  reload(stopped?: AbortSignal): unknown;
  /** Fields of the line about what was reloaded. */
  fields?(): Record<string, unknown>;
}

/**
 * Looks at files five times a second, and reloads what changed and then stayed as it is for one look, as a half written
 * file may be a good one. Gives a function that reloads everything, and one that ends it with the reloads in progress.
 */
export function followFiles(groups: readonly Followed[], log: Log) {
  const stopping = new AbortController();
  const followers = groups.map((group) => createFollower(group, stopping.signal, log));
  const look = (isForced: boolean) => {
    for (const follower of followers) void follower(isForced);
  };
  const timer = setInterval(look, everyMilliseconds, false).unref();
  return {
    reloadAll: () => look(true),
    stop() {
      clearInterval(timer);
      stopping.abort();
    },
  };
}

/** Gives a function that looks at the files once. When it is forced, it reloads them though they did not change. */
function createFollower(
  { name, level = 'error', paths, reload, fields }: Followed,
  stopped: AbortSignal,
  log: Log,
) {
  const stampsNow = () =>
    paths
      .flatMap(filesAt)
      .map((file) => `${file} ${stampOf(file)}`)
      .join('\n');
  let seen = stampsNow();
  let last = seen;
  let isBusy = false;

  return async (isForced: boolean): Promise<void> => {
    if (isBusy) return;
    const stamps = stampsNow();
    const isSettled = stamps === last;
    last = stamps;
    if (!isForced && (!isSettled || stamps === seen)) return;
    seen = stamps;
    isBusy = true;
    try {
      await reload(stopped);
      log.info(`${name} reloaded`, fields?.());
    } catch (error) {
      if (stopped.aborted) return;
      const files = paths.length > 1 ? 'files' : 'file';
      const reason = (error as Error).message;
      log[level](`${name} not reloaded: the new ${files} cannot be used`, { reason });
    }
    isBusy = false;
  };
}
