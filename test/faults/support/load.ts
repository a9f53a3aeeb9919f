import { Agent, request } from 'node:http';
import { assertPublished } from '../../support/watched.ts';

/** One answer, and how long it took in milliseconds. */
export interface TimedAnswer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
  ms: number;
}

/** A client with one connection of its own that it keeps. */
export interface Client {
  ask(method: string, path: string, headers?: Record<string, string>, body?: string): Promise<TimedAnswer>;
  close(): void;
}

/** Makes a client of a local port; `from` is the loopback address that it calls from. */
export function createClient(port: number, from = '127.0.0.1'): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const once = (method: string, path: string, headers: Record<string, string>, body?: string) =>
    new Promise<TimedAnswer>((resolve, reject) => {
      const start = performance.now();
      const options = { host: '127.0.0.1', port, localAddress: from, agent, method, path, headers };
      const sent = request(options, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(parts).toString('utf8'),
            ms: performance.now() - start,
          }),
        );
      });
      sent.on('error', (error: NodeJS.ErrnoException) =>
        reject(Object.assign(error, { reused: sent.reusedSocket })),
      );
      sent.end(body);
    });
  return {
    async ask(method, path, headers = {}, body) {
      try {
        return await seen(method, path, await once(method, path, headers, body));
      } catch (error) {
        // The server may close an idle connection at the moment that it is used again: HTTP clients ask anew then.
        if (!(error as { reused?: boolean }).reused) throw error;
        return seen(method, path, await once(method, path, headers, body));
      }
    },
    close: () => agent.destroy(),
  };
}

/** An answer, held against /openapi.json. */
async function seen(method: string, target: string, answer: TimedAnswer): Promise<TimedAnswer> {
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headers))
    for (const value of [values ?? []].flat()) headers.append(name, value);
  await assertPublished({ method, target, status: answer.status, headers, body: answer.body });
  return answer;
}

/** The value below which a part of the values lies: `percentile(values, 0.99)`. */
export function percentile(values: number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)]!;
}

/** Waits so many milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
