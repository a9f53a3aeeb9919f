import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { Running } from '../support/running.ts';

// How long others wait while a server works: what the benchmark of silence measures with.

/** How long `/healthz` was waited for, in milliseconds. */
export interface Waits {
  /** How long the work took. */
  took: number;
  longest: number;
  /** The most processor time that the main thread took during one wait, which no busy machine makes longer. */
  own: number;
  p99: number;
}

export const sleep = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Asks `/healthz` on a connection of its own, with a pause after each answer, while some work is under way. */
export async function watched(server: Running, pause: number, work: () => Promise<unknown>): Promise<Waits> {
  const waits: number[] = [];
  let own = 0;
  let socket = await opened(server.port);
  const ask = async () => {
    const sent = performance.now();
    const before = mainThreadTime(server);
    // A server that said nothing for long closes what it takes for idle: then it is asked again, and the wait goes on.
    while (!(await answered(socket))) socket = await opened(server.port);
    const waited = performance.now() - sent;
    own = Math.max(own, mainThreadTime(server) - before);
    return waited;
  };
  let over = false;
  const asking = (async () => {
    while (!over) {
      waits.push(await ask());
      await sleep(pause);
    }
  })();
  const started = performance.now();
  try {
    await work();
  } finally {
    over = true;
  }
  const took = performance.now() - started;
  await asking;
  socket.destroy();
  waits.sort((a, b) => a - b);
  return { took, longest: waits.at(-1)!, own, p99: waits[Math.floor(waits.length * 0.99)]! };
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).setNoDelay(true);
    socket.on('error', reject);
  });
}

/** Asks for the health of a server on a connection; false where that is closed without an answer. */
function answered(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (isAnswered: boolean) => {
      socket.removeAllListeners('data').removeAllListeners('close');
      resolve(isAnswered);
    };
    socket.once('data', () => done(true)).once('close', () => done(false));
    if (socket.destroyed) done(false);
    else socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  });
}

/** Sends bytes on a connection of their own, reads until the server closes it, and gives the status of each answer. */
export function send(port: number, ...parts: (string | Buffer)[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part);
    });
    socket.on('data', (part: Buffer) => received.push(part));
    // Who refuses a body may close the connection before it has all of it.
    socket.on('error', (error) => (received.length > 0 ? undefined : reject(error)));
    socket.on('close', () => {
      const heads = Buffer.concat(received)
        .toString('latin1')
        .matchAll(/^HTTP\/1\.1 (\d{3}) /gm);
      resolve(Array.from(heads, (match) => match[1]!));
    });
  });
}

/** Milliseconds that the main thread of the server ran; 0 where the system does not tell. */
function mainThreadTime({ child: { pid } }: Running): number {
  if (process.platform !== 'linux') return 0;
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}
