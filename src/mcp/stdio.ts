import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createPrograms, type Programs } from './tool-server.ts';

/** Serves messages, one on each line, until the input ends or the output is closed (rule D41.1). */
export async function serveLines(
  programs: Programs,
  input: Readable,
  output: Writable,
  onerror: (error: Error) => void,
): Promise<void> {
  const transport = new StdioServerTransport(input, output);
  const ended = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve());
    output.once('error', () => resolve());
    output.once('close', () => resolve());
  });
  const handle = serveStdio(() => createPrograms(() => programs), {
    transport,
    onerror,
    maxSubscriptions: 0,
  });
  await ended;
  await handle.close();
}
