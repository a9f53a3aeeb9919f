import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Transform, Writable } from 'node:stream';
import { loadKeys } from '../auth/keys.ts';
import { createVerifyUserToken } from '../auth/tokens.ts';
import type { User } from '../auth/viewer.ts';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { notServed, readMessage, wrongParams } from '../base/json-rpc.ts';
import { silentLog } from '../base/log.ts';
import { createServices } from '../services.ts';
import { askInline } from '../work/jobs.ts';
import { type Command, openToLook, parse, tell, text } from './command.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'answer a program by the Model Context Protocol over stdio',
  usage: 'gapstone mcp [--token-file FILE] [--db FILE] [--users-db FILE]',
  help: ['--token-file FILE  a file with a user token: for my_lists and lists'],
  settings: ['mcp', 'jwks', 'issuer', 'audience', 'keyFile'],
  examples: ['gapstone mcp --token-file token.txt'],
  async run(args) {
    const { values } = parse(args, [], { 'token-file': text });
    const config = readConfig(values);
    if (!config.mcp) throw new CommandError('GAPSTONE_MCP is off: programs may not ask');
    const user = await userOf(config, values['token-file']);
    // Loaded last: it is large.
    const { Refused } = await import('../mcp/calls.ts');
    const { serveLines } = await import('../mcp/tool-server.ts');
    using db = openToLook(config);
    const now = () => new Date();
    const { banner } = config;
    const services = createServices({ catalog: db, users: db, now, newId: randomUUID, banner });
    const caller = {
      async catalog() {},
      async user() {
        if (user === null) throw new Refused('Lists need a user token: start gapstone mcp with --token-file');
        return user().catch(() => {
          throw new Refused(
            'The token of --token-file is not valid any more: start gapstone mcp with another',
          );
        });
      },
    };
    const fault = (error: Error) => {
      tell(`gapstone: ${error.stack ?? error.message}`);
      return 'Something went wrong. stderr of gapstone mcp has the details';
    };
    const { input, output } = createLines();
    // `pipe` does not hand on an error of its source.
    process.stdin.on('error', (error) => input.destroy(error));
    await serveLines(
      { ask: askInline(db, services), caller, fault },
      process.stdin.pipe(input),
      output,
      (error) => tell(`gapstone: ${error.message}`),
    );
    // Where nobody reads the answers any more, the input is still open.
    process.stdin.destroy();
    return 0;
  },
};

/** Gives a function that verifies the token of a file, at each call anew; null without a file. Throws `CommandError`. */
async function userOf(config: Config, file: string | undefined): Promise<(() => Promise<User>) | null> {
  if (file === undefined) return null;
  let token: string;
  try {
    token = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandError(`the token file cannot be read: ${(error as Error).message}`);
  }
  const keys = await loadKeys(config, silentLog, () => undefined);
  const verify = createVerifyUserToken(config, keys, () => new Date());
  await verify(token).catch(() => {
    throw new CommandError(`the token in ${file} is not valid: it is expired, or signed with another key`);
  });
  return () => verify(token);
}

const longestLine = 1024 * 1024;
const longestWait = 30_000;

/**
 * The lines of stdin and stdout. A line that is no message is answered with an error, so that no client waits. The input
 * ends when each request that it had is answered.
 */
function createLines(): { input: Transform; output: Writable } {
  const waiting: string[] = [];
  let answered = () => {};
  const isAnswered = (id: unknown) => {
    const at = waiting.indexOf(JSON.stringify(id));
    if (at >= 0) waiting.splice(at, 1);
    if (waiting.length === 0) answered();
  };
  const refuse = (code: number, message: string, id: unknown = null): void =>
    void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);
  const take = (line: Buffer, pass: (line: string) => void) => {
    if (line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)) return;
    if (line.length > longestLine) return refuse(-32600, 'The line is too long');
    try {
      const message = readMessage(line);
      const { id, method } = message;
      const unserved = notServed(message);
      if (unserved !== null) return void process.stdout.write(`${unserved}\n`);
      const wrong = wrongParams(message);
      if (wrong !== null && id !== undefined) return refuse(-32602, wrong, id);
      if (id !== undefined && method !== undefined) waiting.push(JSON.stringify(id));
      pass(`${JSON.stringify(message)}\n`);
    } catch (error) {
      const { message } = error as Error;
      refuse(/ is not valid /.test(message) ? -32700 : -32600, message);
    }
  };
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      process.stdout.write(chunk, () => done());
      for (const line of chunk.toString().split('\n').filter(Boolean))
        isAnswered((JSON.parse(line) as { id?: unknown }).id);
    },
  });
  // The library adds one for each answer that waits for a slow reader.
  output.setMaxListeners(0);
  process.stdout.once('error', (error) => output.destroy(error));
  const allAnswered = () =>
    new Promise<void>((resolve) => {
      answered = resolve;
      if (waiting.length === 0) resolve();
      // Nothing is being done any more (a cancelled request gets no answer), or for too long.
      process.once('beforeExit', () => resolve());
      setTimeout(resolve, longestWait).unref();
    });
  const input = splitLines(take, refuse, allAnswered);
  return { input, output };
}

const newline = 0x0a;

function splitLines(
  take: (line: Buffer, pass: (line: string) => void) => void,
  refuse: (code: number, message: string) => void,
  allAnswered: () => Promise<void>,
): Transform {
  let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  let isTooLong = false;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
        if (!isTooLong) take(rest.subarray(0, end), (line) => this.push(line));
        isTooLong = false;
        rest = rest.subarray(end + 1);
      }
      if (rest.length > longestLine) {
        if (!isTooLong) refuse(-32600, 'The line is too long');
        isTooLong = true;
        rest = Buffer.alloc(0);
      }
      done();
    },
    flush(done) {
      if (!isTooLong) take(rest, (line) => this.push(line));
      allAnswered().then(() => done());
    },
  });
}
