import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { commandHere } from '../../support/here.ts';
import { putCatalog } from '../../support/prepared.ts';
import { type Running, startServer } from '../../support/running.ts';
import { filesOf, scratchFolder } from '../../support/scratch.ts';

/** A server that runs as a child over a database of its own, and the headers of a user of it. */
export interface Served {
  folder: string;
  /** The catalog. */
  file: string;
  usersFile: string;
  running: Running;
  authorization: Record<string, string>;
}

/** Serves a new database with what is imported of some paths. `under` is a command that runs the server. */
export async function serveOver(
  paths: string[],
  options: { folder?: string; env?: Record<string, string>; under?: string[] } = {},
): Promise<Served> {
  const folder = options.folder ?? scratchFolder();
  const file = join(folder, 'g.db');
  await putCatalog(file, paths);
  const claims = ['--subject', 'alice', '--org', 'red', '--entitlement', 'regdoc', '--entitlement', 'occ'];
  const issued = await commandHere(['token', 'issue', ...claims, '--db', file]);
  assert.is(issued.code, 0, issued.stderr);
  const authorization = { Authorization: `Bearer ${issued.stdout.trim()}` };
  const args = ['serve', '--port', '0', '--db', 'g.db'];
  const running = await startServer(folder, args, options.env ?? {}, options.under ?? []);
  return { folder, file, usersFile: filesOf(file).usersDb, running, authorization };
}

/** Stops it as an operator does, and asserts a clean end. */
export async function stopServed({ running }: Served): Promise<void> {
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null }, running.stderr());
}
