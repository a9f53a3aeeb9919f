import { connect, type Socket } from 'node:net';

/** What a load test saw. */
export interface Load {
  requests: number;
  /** Requests a second. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  p99: number;
  bytes: number;
  /** Answers that were no 200. */
  failures: number;
}

/** The next request of a connection; undefined ends it. */
type Next = () => Buffer | undefined;

/** Sends one request over and over on some connections, each waiting for its answer, for a time in milliseconds. */
export function load(
  port: number,
  request: string,
  { connections = 32, milliseconds = 1000 } = {},
): Promise<Load> {
  const bytes = Buffer.from(request);
  const until = performance.now() + milliseconds;
  const next: Next = () => (performance.now() < until ? bytes : undefined);
  return run(port, Array<Next>(connections).fill(next));
}

/** Sends some requests on each of some connections, each waiting for its answer. */
export function loadEach(port: number, requests: string[][]): Promise<Load> {
  const nextOf = (own: string[]): Next => {
    const left = own.map((request) => Buffer.from(request));
    return () => left.shift();
  };
  return run(port, requests.map(nextOf));
}

/** A loop of our own on plain sockets: a client library would cost more than the server that it measures. */
async function run(port: number, connections: Next[]): Promise<Load> {
  const times: number[] = [];
  const total = { bytes: 0, failures: 0 };
  const started = performance.now();
  await Promise.all(connections.map((next) => oneConnection(port, next, times, total)));
  const seconds = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return {
    requests: times.length,
    rate: times.length / seconds,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    ...total,
  };
}

function oneConnection(
  port: number,
  next: Next,
  times: number[],
  total: { bytes: number; failures: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let socket: Socket;
    let request = next();
    let sent = 0;
    /** Bytes of the answer that are still to come; -1 while its head is. */
    let missing = -1;
    let head = '';
    const send = () => {
      sent = performance.now();
      missing = -1;
      head = '';
      socket.write(request!);
    };
    const open = () => {
      if (request === undefined) return resolve();
      let last = false;
      socket = connect(port, '127.0.0.1', send).setNoDelay(true);
      socket.on('error', reject);
      // A server ends a connection after some number of requests, and says so before.
      socket.on('close', () => (last ? open() : resolve()));
      socket.on('data', (chunk: Buffer) => {
        total.bytes += chunk.length;
        let body = chunk.length;
        if (missing === -1) {
          head += chunk.toString('latin1', 0, 4096);
          const end = head.indexOf('\r\n\r\n');
          if (end === -1) return;
          if (!head.startsWith('HTTP/1.1 200')) total.failures++;
          last = /\r\nconnection: close/i.test(head.slice(0, end));
          missing = Number(/\r\ncontent-length: (\d+)/i.exec(head)![1]);
          body = chunk.length - (end + 4);
        }
        missing -= body;
        if (missing > 0) return;
        times.push(performance.now() - sent);
        request = next();
        if (last) return;
        if (request) send();
        else socket.end();
      });
    };
    open();
  });
}
