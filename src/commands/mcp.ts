import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Transform, Writable } from 'node:stream';
import { loadKeys } from '../auth/keys.ts';
import { createVerifyUserToken } from '../auth/tokens.ts';
import type { User } from '../auth/viewer.ts';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { hasPrototypeMember, isObject, refuseHeavyJson } from '../base/json.ts';
import { silentLog } from '../base/log.ts';
import { createServices } from '../services.ts';
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
    const { serveLines } = await import('../mcp/stdio.ts');
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
      async catalog() {
        db.renewCatalog();
      },
      async user() {
        if (user === null) throw new Refused('Lists need a user token: start gapstone mcp with --token-file');
        return user();
      },
    };
    const fault = (error: Error) => {
      tell(`gapstone: ${error.stack ?? error.message}`);
      return 'Something went wrong. stderr of gapstone mcp has the details';
    };
    const { input, output } = createLines();
    await serveLines({ services, caller, fault }, process.stdin.pipe(input), output, (error) =>
      tell(`gapstone: ${error.message}`),
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
  const verified = () =>
    verify(token).catch(() => {
      throw new CommandError(`the token in ${file} is not valid: it is expired, or signed with another key`);
    });
  await verified();
  return verified;
}

const longestLine = 1024 * 1024;
const limits = { depth: 16, values: 1000 };

/** Why a line is no message; null for one that may be. */
function wrongLine(line: string): string | null {
  try {
    refuseHeavyJson(line, 'The message', limits);
    const message: unknown = JSON.parse(line);
    if (Array.isArray(message)) return 'Send one message at a time: batches are not supported';
    if (hasPrototypeMember(message)) return 'The message has a member __proto__';
    return isObject(message) && message.jsonrpc === '2.0' ? null : 'The line is not a JSON-RPC message';
  } catch (error) {
    return error instanceof SyntaxError ? 'The line is not JSON' : (error as Error).message;
  }
}

/**
 * The lines of stdin and stdout. Lines that are no message are answered with an error, so that no client waits. The
 * input ends when each request that it had is answered.
 */
function createLines(): { input: Transform; output: Writable } {
  const waiting = new Set<string>();
  let answered = () => {};
  const refuse = (code: number, message: string) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`);
  const take = (line: string, pass: (line: string) => void) => {
    if (line.trim() === '') return;
    const wrong = line.length > longestLine ? 'The line is too long' : wrongLine(line);
    if (wrong !== null) {
      refuse(wrong === 'The line is not JSON' ? -32700 : -32600, wrong);
      return;
    }
    const { id, method } = JSON.parse(line) as { id?: unknown; method?: unknown };
    if (id !== undefined && method !== undefined) waiting.add(JSON.stringify(id));
    pass(`${line}\n`);
  };
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      for (const line of chunk.toString().split('\n').filter(Boolean))
        waiting.delete(JSON.stringify((JSON.parse(line) as { id?: unknown }).id));
      process.stdout.write(chunk, () => done());
      if (waiting.size === 0) answered();
    },
  });
  process.stdout.once('error', (error) => output.destroy(error));
  return {
    input: splitLines(take, refuse, (done) => {
      answered = done;
      if (waiting.size === 0) done();
      else setTimeout(done, longestWait).unref();
    }),
    output,
  };
}

const longestWait = 30_000;

function splitLines(
  take: (line: string, pass: (line: string) => void) => void,
  refuse: (code: number, message: string) => void,
  whenAnswered: (done: () => void) => void,
): Transform {
  let rest = '';
  let isTooLong = false;
  const decoder = new TextDecoder();
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (!isTooLong) take(line, (each) => this.push(each));
        isTooLong = false;
      }
      if (rest.length > longestLine) {
        if (!isTooLong) refuse(-32600, 'The line is too long');
        isTooLong = true;
        rest = '';
      }
      done();
    },
    flush(done) {
      if (!isTooLong) take(rest, (each) => this.push(each));
      whenAnswered(done);
    },
  });
}
