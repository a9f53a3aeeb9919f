import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import { shipped } from './reference.ts';
import { scratchFolder } from './scratch.ts';

/** What every import reads. */
const classes = ['roles/classes.csv', 'roles/class-roles.csv'];

/** The facts that a copy of the program has: its first start takes a moment. */
export const facts = ['controls/nist-800-171_rev2.csv'];

/** A copy of the program with some of the data, which a test may change as a new version would. Gives its folder. */
export function littleProgram(data = [...facts, 'stigs', 'regulatory']): string {
  const home = scratchFolder();
  for (const name of ['package.json', 'node_modules']) symlinkSync(join(packageRoot, name), join(home, name));
  cpSync(join(packageRoot, 'migrations'), join(home, 'migrations'), { recursive: true });
  for (const name of ['src', 'chunks'])
    cpSync(join(packageRoot, 'dist', name), join(home, 'dist', name), { recursive: true });
  for (const name of [...data, ...classes])
    cpSync(shipped(...name.split('/')), join(home, 'data', name), { recursive: true });
  return home;
}

/** What stands before a command line so that the program of a folder runs it. */
export const runBy = (home: string) => [
  ...['sh', '-c', 'node=$1; shift 2; exec "$node" "$0" "$@"'],
  join(home, 'dist', 'src', 'cli.js'),
];
