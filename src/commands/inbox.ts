import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import type { LedgerLine, LedgerSummary } from '../../importers/ledger-lines.ts';
import type { Config } from '../base/config.ts';
import { rightsAround } from '../base/files.ts';
import type { Log } from '../base/log.ts';
import { compareCodePoints } from '../base/text.ts';
import { lookAt, mostSeen } from './inbox-look.ts';

/** Milliseconds that a file must be unchanged before its import (rule D33.1), and between two looks. */
const stillFor = 2000;
const lookEvery = 250;
/** Milliseconds before a failed import is tried again. */
const retryAfter = 30_000;
/** A command line has a limit. */
const mostPaths = 500;

interface Entry {
  state: string;
  /** The time of the first look with this state (ms). */
  since: number;
  imported: boolean;
  /** The last look that saw it. */
  seen: number;
}

export interface Inbox {
  /** Stops watching, and ends a running import, which then changes nothing. */
  stop(): Promise<void>;
}

/**
 * Imports each new or changed file or folder of the inbox once it is unchanged for a while (rule D33), in a process of
 * its own. `keep` stores the SHA-256 of everything in the folder (rule D42.8).
 */
export function watchInbox(
  folder: string,
  config: Config,
  log: Log,
  keep: (hashes: string[]) => Promise<void>,
): Inbox {
  const stopping = new AbortController();
  const logOnce = createLogOnce(folder, log);
  const look = createLook(folder, log, logOnce, stopping.signal);
  let importing: Promise<void> | null = null;
  let notBefore = 0;

  async function importPaths(due: [string, Entry][]): Promise<void> {
    for (const [, entry] of due) entry.imported = true;
    try {
      const paths = due.map(([name]) => join(folder, name));
      const { rejected, summary, hashes, leftOut } = await runImport(config, paths, stopping.signal);
      await keep(hashes);
      logOnce('inbox: the import failed; it is tried again', '');
      for (const source of leftOut)
        log.warn('inbox: skipped, because a bundle, a rollback or a restore removed it here', { source });
      for (const { source, reason } of rejected) log.warn('inbox: rejected', { source, reason });
      if (summary !== null) {
        const { phases: _, ...counts } = summary;
        log.info('inbox: imported', counts);
      }
    } catch (error) {
      if (stopping.signal.aborted) return;
      for (const [, entry] of due) entry.imported = false;
      notBefore = performance.now() + retryAfter;
      logOnce('inbox: the import failed; it is tried again', (error as Error).message);
    }
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const start = performance.now();
      let reason = '';
      try {
        const due = await look();
        if (due.length > 0 && importing === null && start >= notBefore)
          importing = importPaths(due).finally(() => {
            importing = null;
          });
      } catch (error) {
        reason = `${(error as Error).message}${rightsAround(folder, error)}`;
      }
      logOnce('inbox: the folder cannot be read', reason);
      // Read a slow folder less often.
      const pause = Math.max(lookEvery, 10 * (performance.now() - start));
      await setTimeout(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const watching = watch();
  return {
    async stop() {
      stopping.abort();
      await watching;
      await importing;
    },
  };
}

/** Logs a problem that stays only once; no reason means that it is over. */
function createLogOnce(folder: string, log: Log) {
  const logged = new Map<string, string>();
  return (msg: string, reason: string): void => {
    if (reason !== '' && reason !== logged.get(msg)) log.error(msg, { folder, reason });
    logged.set(msg, reason);
  };
}

/** Gives a function that reads the folder: its unchanged entries that are not imported in this state. */
function createLook(
  folder: string,
  log: Log,
  logOnce: ReturnType<typeof createLogOnce>,
  signal: AbortSignal,
): () => Promise<[string, Entry][]> {
  const entries = new Map<string, Entry>();
  let looks = 0;
  return async () => {
    const now = performance.now();
    const bounds = { left: mostSeen, exceeded: false, signal };
    looks++;
    for (const [name, state] of await lookAt(folder, bounds)) {
      const known = entries.get(name);
      // Node writes U+FFFD for bytes that are not UTF-8, and finds no file by that name.
      if (state === '' && name.includes('\uFFFD') && !known)
        log.warn('inbox: rejected', { source: name, reason: 'the name is not UTF-8: rename the file' });
      if (known?.state === state) known.seen = looks;
      else entries.set(name, { state, since: now, imported: false, seen: looks });
    }
    const reason = `it holds more than ${mostSeen} files and folders: remove what is imported`;
    logOnce('inbox: some of it is not looked at', bounds.exceeded ? reason : '');
    const due: [string, Entry][] = [];
    for (const [name, entry] of entries) {
      if (entry.seen !== looks) entries.delete(name);
      else if (due.length < mostPaths && isDue(entry, now)) due.push([name, entry]);
    }
    return due.sort(([one], [other]) => compareCodePoints(one, other));
  };
}

const isDue = ({ state, since, imported }: Entry, now: number) =>
  state !== '' && !imported && now - since >= stillFor;

/**
 * Runs `gapstone import --once`; gives its rejections, its summary (null: nothing was new), the hashes of all files,
 * and the paths that a rollback removed. Throws its last error line.
 */
async function runImport(
  { db, usersDb }: Config,
  paths: string[],
  signal: AbortSignal,
): Promise<{ rejected: LedgerLine[]; summary: LedgerSummary | null; hashes: string[]; leftOut: string[] }> {
  const args = [process.argv[1]!, 'import', '--once', '--no-links', '--json'];
  args.push('--db', db, '--users-db', usersDb, ...paths);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], signal });
  const ended = new Promise<number | null>((resolve, reject) => {
    for (const each of [child, child.stdout, child.stderr]) each.on('error', reject);
    child.on('close', resolve);
  });
  // Handled below: until then a rejection must not end the process.
  ended.catch(() => undefined);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    said = (said + part).slice(-4096);
  });
  const rejected: LedgerLine[] = [];
  const hashes: string[] = [];
  const leftOut: string[] = [];
  let summary: LedgerSummary | null = null;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as
      | LedgerLine
      | { summary: LedgerSummary }
      | { met: string[]; leftOut: string[] };
    if ('summary' in line) summary = line.summary;
    else if ('met' in line) {
      for (const hash of line.met) hashes.push(hash);
      leftOut.push(...line.leftOut);
    } else {
      if (line.sha256 !== null) hashes.push(line.sha256);
      if (line.outcome === 'rejected') rejected.push(line);
    }
  }
  const code = await ended;
  if (summary === null && code !== 0)
    throw new Error(said.trim().split('\n').at(-1) || `the import ended with ${code}`);
  return { rejected, summary, hashes, leftOut };
}
