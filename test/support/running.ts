import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { childEnvironment, cli, gapstone } from './child.ts';
import { assertPublished } from './watched.ts';

/** A `gapstone serve` or `start` that runs as a child. */
export interface Running {
  child: ChildProcessWithoutNullStreams;
  url: string;
  port: number;
  stdout(): string;
  stderr(): string;
  /** What the process ended with. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Only against hanging for ever: on a busy machine everything takes a multiple of its time. */
const patience = 120_000;

const alive = new Set<ChildProcessWithoutNullStreams>();
process.once('exit', killAll);

/** Kills what a failed test left running; every suite that starts servers does so in its `after`. */
export function killAll(): void {
  for (const child of alive) child.kill('SIGKILL');
}

/** Runs the command line in a folder to its end. */
export const runToEnd = (cwd: string, args: string[], env: Record<string, string> = {}) =>
  gapstone(args, { cwd, env });

/**
 * Starts the command line in a folder and waits until it listens; rejects with its stderr when it ends before.
 * `under` is a command that runs it, such as a tracer.
 */
export function startServer(
  cwd: string,
  args: string[],
  env: Record<string, string> = {},
  under: string[] = [],
): Promise<Running> {
  const [command, ...rest] = [...under, process.execPath, cli, ...args];
  const child = spawn(command!, rest, { cwd, env: { ...childEnvironment(), ...env } });
  alive.add(child);
  child.on('close', () => alive.delete(child));
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (part: string) => {
      out[name] += part;
    });
  const ended: Running['ended'] = new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`it does not listen after ${patience} ms: ${out.stderr}`));
    }, patience);
    ended.then(({ code }) => {
      clearTimeout(timer);
      reject(new Error(`it ended with ${code}: ${out.stderr}`));
    });
    const listen = () => {
      const url = /"msg":"listening","url":"([^"]+)"/.exec(out.stdout)?.[1];
      if (url === undefined) return;
      child.stdout.off('data', listen);
      clearTimeout(timer);
      const port = Number(new URL(url).port);
      resolve({ child, url, port, ended, stdout: () => out.stdout, stderr: () => out.stderr });
    };
    child.stdout.on('data', listen);
  });
}

/** Waits until a condition holds; rejects after a while. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patience;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`this did not come true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A raw connection: what was received so far, and whether the other side closed. */
export interface RawConnection {
  socket: Socket;
  received(): Buffer;
  closed(): boolean;
  /** What was received when the other side has closed. */
  end: Promise<Buffer>;
}

/** Opens a raw connection to a local port and writes a text as it is; `stubborn` keeps it open when the server ends it. */
export function openRaw(port: number, text: string, stubborn = false): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    // It is asked again and again while a long answer comes.
    const received = () => {
      if (parts.length > 1) parts.splice(0, parts.length, Buffer.concat(parts));
      return parts[0] ?? Buffer.alloc(0);
    };
    let closed = false;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: stubborn }, () => {
      socket.write(text);
      resolve({ socket, received, closed: () => closed, end });
    });
    socket.once('error', reject);
    socket.on('error', () => undefined);
    socket.on('data', (part: Buffer) => parts.push(part));
    const end = new Promise<Buffer>((done) => {
      socket.on('close', () => {
        closed = true;
        done(received());
      });
    });
  });
}

export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
  /** The body as it was sent. */
  bytes: Buffer;
}

/** Reads one HTTP/1.1 answer from raw bytes: status, headers in lower case, body as its length says. */
export function readAnswer(bytes: Buffer): RawAnswer {
  const text = bytes.toString('latin1');
  const split = text.indexOf('\r\n\r\n');
  if (split < 0) throw new Error(`no whole answer: ${JSON.stringify(text.slice(0, 200))}`);
  const [first, ...lines] = text.slice(0, split).split('\r\n');
  const headers = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const length = headers.get('content-length');
  const body = bytes.subarray(split + 4, length === undefined ? undefined : split + 4 + Number(length));
  return { status: Number(first!.split(' ')[1]), headers, body: body.toString('utf8'), bytes: body };
}

/** Sends a text on a connection of its own, and reads the answer; the connection is closed then. */
export async function ask(port: number, text: string): Promise<RawAnswer> {
  const connection = await openRaw(port, text);
  const whole = () => {
    const received = connection.received();
    const split = received.indexOf('\r\n\r\n');
    const length = /\r\ncontent-length: (\d+)/i.exec(received.toString('latin1', 0, Math.max(0, split)))?.[1];
    // Neither has a body, whatever length its head tells.
    if (text.startsWith('HEAD ') || received.indexOf('HTTP/1.1 304 ') === 0) return split > 0;
    return split > 0 && length !== undefined && received.length >= split + 4 + Number(length);
  };
  await until(
    'an answer',
    () => whole() || connection.closed() || connection.received().includes('\r\n0\r\n\r\n'),
  );
  connection.socket.destroy();
  const answer = readAnswer(connection.received());
  await seeRaw(text, answer);
  return answer;
}

/** Holds an answer to the text of a request against /openapi.json. */
async function seeRaw(text: string, { status, headers, body }: RawAnswer): Promise<void> {
  const [method, target] = text.split(' ', 2);
  const isWhole = headers.has('content-length') && method !== 'HEAD';
  // What is no request line is nobody's answer.
  if (target?.startsWith('/'))
    await assertPublished({
      method: method!,
      target,
      status,
      headers: new Headers([...headers]),
      body: isWhole ? body : null,
    });
}
