import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isDeep } from './harness.ts';

/** Stands behind all that a child prints of one file. */
export const fileEnd = '\u0003';

/**
 * What a file says in its text that needs a process of its own: it measures memory or the event loop, or changes what all
 * files of a process share; in deep runs also what measures processor time. All others run one after the other in the same
 * processes.
 */
const needsOwn = RegExp(
  String.raw`process\.(?:on|once|exit|kill|chdir|memoryUsage|(?:threadC|c)puUsage)\b|[eE]ventLoop|[gG]arbageCollector|globalThis|support/(?:${process.env[isDeep] === '1' ? 'effort|' : ''}hostile/heap)`,
);

/** A child is replaced after so many files, or when it has so many bytes in memory. */
const most = { files: 30, bytes: 1024 ** 3 };

/** Room for what lives shortly, in MiB: with Node's own 16 a tenth of the tests' processor time is collection. */
const youngHeap = '--max-semi-space-size=32';

export interface TestFile {
  name: string;
  path: string;
}

type Ended = number | NodeJS.Signals | null;

/** What a child printed of one file; `ended` is what it ended with when it ended before the file did. */
export interface Printed {
  out: string;
  ended?: Ended;
}

/** A process of `program` that runs one file after the other. */
function startChild(program: string) {
  const child = spawn(process.execPath, [youngHeap, ...process.execArgv, program, '--only'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let out = '';
  let files = 0;
  let hasEnded = false;
  let look = () => {};
  child.stdout!.setEncoding('utf8').on('data', (part: string) => {
    out += part;
    look();
  });
  // Node tells no 'close' of a child that was disconnected here: the end is its exit and the end of its output.
  const exit = new Promise<Ended>((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
  const outEnded = new Promise<void>((resolve) => child.stdout!.on('close', () => resolve()));
  const ended = Promise.all([exit, outEnded]).then(([code]) => {
    hasEnded = true;
    look();
    return code;
  });
  // It may have ended before it was asked: then it has no output of the file, which is a failure.
  child.on('error', () => undefined);
  return {
    async run(name: string): Promise<Printed> {
      files++;
      if (!hasEnded) child.send(name);
      await new Promise<void>((resolve) => {
        look = () => {
          if (hasEnded || out.endsWith(fileEnd)) resolve();
        };
        look();
      });
      const printed = out;
      out = '';
      return printed.endsWith(fileEnd) ? { out: printed.slice(0, -1) } : { out: printed, ended: await ended };
    },
    isWorn: () => hasEnded || files >= most.files || memoryOf(child.pid!) > most.bytes,
    /** Lets it end; gives what it ended with. */
    end(): Promise<Ended> {
      if (child.connected) child.disconnect();
      return ended;
    },
  };
}

/** The bytes that a process has in memory; 0 where the kernel does not tell. */
function memoryOf(pid: number): number {
  if (process.platform !== 'linux') return 0;
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/**
 * Runs files in processes of `program`, one after the other, until `next` gives none. `done` has what was printed of each;
 * `fail` is told of a process that ended badly after its last file.
 */
export async function runLane(
  program: string,
  next: () => TestFile | undefined,
  done: (name: string, printed: Printed) => void,
  fail: (name: string, ended: Ended) => void,
): Promise<void> {
  let shared: ReturnType<typeof startChild> | null = null;
  let last = '';
  for (let file = next(); file !== undefined; file = next()) {
    const isAlone = needsOwn.test(readFileSync(file.path, 'utf8'));
    const child: ReturnType<typeof startChild> = (isAlone ? null : shared) ?? startChild(program);
    if (!isAlone) shared = child;
    const printed = await child.run(file.name);
    done(file.name, printed);
    if (!isAlone) last = file.name;
    if (!isAlone && !child.isWorn()) continue;
    if (!isAlone) shared = null;
    const ended = await child.end();
    if (printed.ended === undefined && ended !== 0) fail(file.name, ended);
  }
  const ended = await shared?.end();
  if (ended !== undefined && ended !== 0) fail(last, ended);
}
