import { execFile } from 'node:child_process';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { ImportedBefore } from '../../importers/imported-before.ts';
import type { LedgerLine, LedgerSummary } from '../../importers/ledger-lines.ts';
import type { Config } from '../base/config.ts';
import { rightsAround } from '../base/files.ts';
import type { Log } from '../base/log.ts';

/** Milliseconds that a file must be unchanged before its import (rule D33.1), and between two looks. */
const stillFor = 2000;
const lookEvery = 250;
/** Milliseconds before a failed import is tried again. */
const retryAfter = 30_000;
/** A command line has a limit. */
const mostPaths = 500;

/** What lies in the inbox under one name. */
interface Entry {
  /** Names, sizes and times of the files; empty where there are none to import. */
  state: string;
  /** The time of the first look that found this state (ms). */
  since: number;
  imported: boolean;
}

interface Inbox {
  /** Stops watching, and ends a running import, which then changes nothing. */
  stop(): Promise<void>;
}

/**
 * Imports each new or changed file or folder of the inbox once it is unchanged for a while (rule D33), in a process of
 * its own. `record` stores the SHA-256 of everything in the folder (rule D42.8).
 */
export function watchInbox(
  folder: string,
  config: Config,
  log: Log,
  record: (hashes: string[]) => Promise<void>,
): Inbox {
  const stopping = new AbortController();
  const { signal } = stopping;
  const logged = new Map<string, string>();
  let entries = new Map<string, Entry>();

  /** Logs a problem that stays only once; an empty reason ends it. */
  function logOnce(msg: string, reason: string): void {
    if (reason !== '' && reason !== logged.get(msg)) log.error(msg, { folder, reason });
    logged.set(msg, reason);
  }

  /** Reads the folder; gives the names that are unchanged for a while and not imported in this state. */
  async function look(): Promise<string[]> {
    const found = new Map<string, Entry>();
    for (const name of (await readdir(folder)).filter((each) => !each.startsWith('.')).sort()) {
      const state = await stateOf(join(folder, name));
      const known = entries.get(name);
      // Node writes U+FFFD for bytes that are not UTF-8, and finds no file by that name.
      if (state === '' && name.includes('\uFFFD') && !known)
        log.warn('inbox: rejected', { source: name, reason: 'the name is not UTF-8: rename the file' });
      found.set(name, known?.state === state ? known : { state, since: performance.now(), imported: false });
    }
    entries = found;
    const isDue = ({ state, since, imported }: Entry) =>
      state !== '' && !imported && performance.now() - since >= stillFor;
    return [...found].flatMap(([name, entry]) => (isDue(entry) ? [name] : [])).slice(0, mostPaths);
  }

  async function importNames(names: string[]): Promise<void> {
    const { rejected, summary, hashes, skipped } = await runImport(
      config,
      names.map((name) => join(folder, name)),
      signal,
    );
    for (const name of names) entries.get(name)!.imported = true;
    await record(hashes);
    for (const source of skipped)
      log.warn('inbox: skipped, because a bundle, a rollback or a restore removed it here', { source });
    for (const { source, reason } of rejected) log.warn('inbox: rejected', { source, reason });
    if (summary === null) return;
    const { phases: _, ...counts } = summary;
    log.info('inbox: imported', counts);
  }

  async function watch(): Promise<void> {
    const unread = 'inbox: the folder cannot be read';
    const failed = 'inbox: the import failed; it is tried again';
    while (!signal.aborted) {
      const start = performance.now();
      let pause = lookEvery;
      const due = await look().catch((error: Error) => {
        logOnce(unread, `${error.message}${rightsAround(folder, error)}`);
        return null;
      });
      // A slow folder is read less often.
      pause = Math.max(pause, 10 * (performance.now() - start));
      if (due !== null) logOnce(unread, '');
      if (due !== null && due.length > 0)
        try {
          await importNames(due);
          logOnce(failed, '');
        } catch (error) {
          if (!signal.aborted) logOnce(failed, (error as Error).message);
          pause = retryAfter;
        }
      await setTimeout(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  const watching = watch();
  return {
    stop() {
      stopping.abort();
      return watching;
    },
  };
}

/** A text of the names, sizes and times of a file, or of all files of a folder; empty for anything else. */
async function stateOf(path: string): Promise<string> {
  try {
    const stat = await lstat(path);
    if (stat.isFile()) return `${path} ${stat.size} ${stat.mtimeMs}`;
    if (!stat.isDirectory()) return '';
    const states: string[] = [];
    for (const name of (await readdir(path)).sort()) states.push(await stateOf(join(path, name)));
    return states.filter((state) => state !== '').join('\n');
  } catch (error) {
    // It was removed meanwhile, or its name is not UTF-8. The import reports unreadable folders.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : `${path} ${(error as Error).message}`;
  }
}

/** What `gapstone import --once` printed. */
interface Imported {
  rejected: LedgerLine[];
  /** Null: nothing was new. */
  summary: LedgerSummary | null;
  /** SHA-256 of all files. */
  hashes: string[];
  /** The paths whose content a rollback removed. */
  skipped: string[];
}

/** The ledger of an import of a whole library is a few megabytes. */
const longestOutput = 256 * 1024 * 1024;

/** Runs `gapstone import --once`. Throws its last error line. */
async function runImport({ db, usersDb }: Config, paths: string[], signal: AbortSignal): Promise<Imported> {
  const args = ['import', '--once', '--no-links', '--json', '--db', db, '--users-db', usersDb, ...paths];
  const options = { signal, maxBuffer: longestOutput };
  const { stdout, stderr, failure } = await new Promise<Ended>((resolve) => {
    let ended: Ended;
    execFile(process.execPath, [process.argv[1]!, ...args], options, (failure, stdout, stderr) => {
      ended = { stdout, stderr, failure };
      // An aborted process is told of before it has ended.
    }).once('close', () => resolve(ended));
  });
  const imported: Imported = { rejected: [], summary: null, hashes: [], skipped: [] };
  for (const text of stdout.split('\n').filter(Boolean)) {
    const line = JSON.parse(text) as
      | LedgerLine
      | { summary: LedgerSummary }
      | Pick<ImportedBefore, 'knownHashes' | 'removedPaths'>;
    if ('summary' in line) imported.summary = line.summary;
    else if ('knownHashes' in line) {
      // A spread of some hundred thousand hashes would overflow the stack.
      imported.hashes = imported.hashes.concat(line.knownHashes);
      imported.skipped = line.removedPaths;
    } else {
      if (line.sha256 !== null) imported.hashes.push(line.sha256);
      if (line.outcome === 'rejected') imported.rejected.push(line);
    }
  }
  // An import with rejected sources fails, too, after its summary.
  if (failure !== null && imported.summary === null)
    throw new Error(stderr.trim().split('\n').at(-1) || failure.message);
  return imported;
}

interface Ended {
  stdout: string;
  stderr: string;
  failure: Error | null;
}
