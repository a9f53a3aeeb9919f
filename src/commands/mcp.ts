import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Readable, Transform, Writable } from 'node:stream';
import { loadKeys } from '../auth/keys.ts';
import { createVerifyUserToken } from '../auth/tokens.ts';
import type { User } from '../auth/viewer.ts';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { notServed, readMessage, wrongParams } from '../base/json-rpc.ts';
import { silentLog } from '../base/log.ts';
import { createServices } from '../services.ts';
import { askInline } from '../work/jobs.ts';
import { command, tell } from './command.ts';
import { openToLook } from './open-to-look.ts';

export const mcpCommand = () =>
  command('mcp', 'answer a program by the Model Context Protocol over stdio', {
    settings: ['mcp', 'jwks', 'issuer', 'audience', 'keyFile'],
    examples: ['gapstone mcp --token-file token.txt'],
  })
    .option('--token-file <file>', 'a file with a user token: for my_lists and lists')
    .action(async ({ tokenFile, ...options }) => {
      const config = readConfig(options);
      if (!config.mcp) throw new CommandError('GAPSTONE_MCP is off: programs may not ask');
      const user = await userOf(config, tokenFile);
      // Loaded last: it is large.
      const { Refused } = await import('../mcp/calls.ts');
      const { serveLines } = await import('../mcp/tool-server.ts');
      using db = openToLook(config);
      const now = () => new Date();
      const services = createServices({
        catalog: db,
        users: db,
        now,
        newId: randomUUID,
        banner: config.banner,
      });
      const caller = {
        async catalog() {},
        async user() {
          if (user === null)
            throw new Refused('Lists need a user token: start gapstone mcp with --token-file');
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
      const { input, output } = createLines(process.stdin, process.stdout);
      await serveLines({ ask: askInline(db, services), caller, fault }, input, output, (error) =>
        tell(`gapstone: ${error.message}`),
      );
      // Where nobody reads the answers any more, the input is still open.
      process.stdin.destroy();
    });

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
const newline = 0x0a;

/**
 * The messages of `stdin` and the answers to `stdout`, a line each. A line that is no message is answered with an error, so
 * that no client waits. The input ends when each request that it had is answered.
 */
function createLines(stdin: Readable, stdout: Writable): { input: Readable; output: Writable } {
  const waiting: string[] = [];
  const answers = new EventEmitter();
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      stdout.write(chunk, () => done());
      for (const line of chunk.toString().split('\n').filter(Boolean)) {
        const at = waiting.indexOf(JSON.stringify((JSON.parse(line) as { id?: unknown }).id));
        if (at >= 0) waiting.splice(at, 1);
      }
      if (waiting.length === 0) answers.emit('all');
    },
  });
  // The library adds one for each answer that waits for a slow reader.
  output.setMaxListeners(0);
  stdout.once('error', (error) => output.destroy(error));

  /** Passes a line on, or answers one that is no message; null is a line that is too long. */
  function take(line: Buffer | null, pass: (message: Buffer) => void): void {
    const { refusal, id } = readLine(line);
    if (refusal !== null) {
      stdout.write(`${refusal}\n`);
      return;
    }
    if (id !== undefined) waiting.push(JSON.stringify(id));
    pass(Buffer.concat([line!, Buffer.of(newline)]));
  }

  async function allAnswered(): Promise<void> {
    if (waiting.length === 0) return;
    // Nothing is being done any more (a cancelled request gets no answer), or for too long.
    process.once('beforeExit', () => answers.emit('all'));
    setTimeout(() => answers.emit('all'), longestWait).unref();
    await once(answers, 'all');
  }
  return { input: stdin.pipe(splitLines(take, allAnswered)), output };
}

/** The id of a request, and the answer to a line that is no message, or whose method is not served. */
function readLine(line: Buffer | null): { refusal: string | null; id?: unknown } {
  const refuse = (code: number, message: string, id: unknown = null) => ({
    refusal: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }),
  });
  if (line === null) return refuse(-32600, 'The line is too long');
  try {
    const message = readMessage(line);
    const unserved = notServed(message);
    if (unserved !== null) return { refusal: unserved };
    const { id, method } = message;
    const wrong = wrongParams(message);
    if (wrong !== null && id !== undefined) return refuse(-32602, wrong, id);
    return { refusal: null, ...(method !== undefined && { id }) };
  } catch (error) {
    const { message } = error as Error;
    return refuse(/ is not valid /.test(message) ? -32700 : -32600, message);
  }
}

/** Takes the lines of a stream without blank ones, null for one that is too long; it ends when all are answered. */
function splitLines(
  take: (line: Buffer | null, pass: (message: Buffer) => void) => void,
  allAnswered: () => Promise<void>,
): Transform {
  const isBlank = (line: Buffer) => line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
  let rest = Buffer.alloc(0);
  let isTooLong = false;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const pass = (message: Buffer) => void this.push(message);
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
        const line = rest.subarray(0, end);
        if (!isTooLong && !isBlank(line)) take(line.length > longestLine ? null : line, pass);
        isTooLong = false;
        rest = rest.subarray(end + 1);
      }
      if (rest.length > longestLine) {
        if (!isTooLong) take(null, pass);
        isTooLong = true;
        rest = Buffer.alloc(0);
      }
      done();
    },
    flush(done) {
      if (!isTooLong && !isBlank(rest)) take(rest, (message) => void this.push(message));
      allAnswered().then(() => done(), done);
    },
  });
}
