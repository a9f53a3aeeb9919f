import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable, type Writable } from 'node:stream';
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
      const input = Readable.from(messagesIn(process.stdin, process.stdout));
      // The library adds a listener for each answer that waits for a slow reader.
      process.stdout.setMaxListeners(0);
      await serveLines({ ask: askInline(db, services), caller, fault }, input, process.stdout, (error) =>
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

/**
 * The messages of the input, a line each, until all are answered. A line that is no message is answered at once with an
 * error, so that no client waits.
 */
async function* messagesIn(input: Readable, output: Writable): AsyncGenerator<Buffer> {
  // One character for each byte, so that text that is not UTF-8 is seen.
  input.setEncoding('latin1');
  for await (const text of createInterface({ input })) {
    if (text.trim() === '') continue;
    const line = Buffer.from(`${text}\n`, 'latin1');
    const refusal = refusalOf(line);
    if (refusal === null) yield line;
    else output.write(`${refusal}\n`);
  }
  // The process has nothing to do: each request is answered or cancelled.
  await once(process, 'beforeExit');
}

/** The answer to a line that is no message, or whose method is not served; null for any other. */
function refusalOf(line: Buffer): string | null {
  const refuse = (code: number, message: string, id: unknown = null) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  if (line.length > longestLine) return refuse(-32600, 'The line is too long');
  try {
    const message = readMessage(line);
    const wrong = message.id === undefined ? null : wrongParams(message);
    return notServed(message) ?? (wrong === null ? null : refuse(-32602, wrong, message.id));
  } catch (error) {
    const { message } = error as Error;
    return refuse(/ is not valid /.test(message) ? -32700 : -32600, message);
  }
}
