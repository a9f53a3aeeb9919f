import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CommandError } from '../base/errors.ts';
import { freeName, isThere, statIfThere } from '../base/files.ts';
import { packageVersion } from '../base/root.ts';
import { connectReadOnly } from '../db/connect.ts';
import { requireRoom } from '../db/copy.ts';
import { type Kind, listMigrations, namesOfKinds, newestSchema, schemaVersion } from '../db/schema.ts';
import { damageOf } from '../db/schema-check.ts';
import { print } from './command.ts';

/** The upgrade of one file by this version. */
interface FileCheck {
  kind: Kind;
  file: string;
  /** Null where there is no file, or this version cannot read it. */
  schema: number | null;
  newest: number;
  /** The files of the missing migrations, in order. */
  migrations: string[];
  /** Why this version cannot use the file. */
  problem: string | null;
}

const names: [Kind, string][] = [
  ['catalog', 'gapstone.db'],
  ['users', 'gapstone-users.db'],
];

/**
 * Prints what this version would migrate in the data folder of an installation; changes nothing, and a server may be
 * using the files. Gives the exit code: 1 where this version would refuse a file. Throws `CommandError`.
 */
export function checkUpgrade(folder: string, json: boolean | undefined): 0 | 1 {
  if (!statIfThere(folder)?.isDirectory()) throw new CommandError(`${folder} is not a folder`);
  const files = names.map(([kind, name]) => checkFile(kind, join(folder, name)));
  if (files.every(({ schema, problem }) => schema === null && problem === null))
    throw new CommandError(`there is neither ${names.map(([, name]) => name).join(' nor ')} in ${folder}`);
  const ok = files.every(({ problem }) => problem === null);
  print(json, { version: packageVersion, ok, files }, files.map(describe));
  return ok ? 0 : 1;
}

function checkFile(kind: Kind, file: string): FileCheck {
  const migrations = listMigrations(kind);
  const checked: FileCheck = {
    kind,
    file,
    schema: null,
    newest: newestSchema(kind),
    migrations: [],
    problem: null,
  };
  if (!isThere(file)) return checked;
  try {
    using sqlite = connectReadOnly(file, kind, { anySchema: true });
    const schema = schemaVersion(sqlite);
    checked.schema = schema;
    const missing = migrations.filter(({ number }) => number > schema);
    checked.migrations = missing.map((each) => basename(each.file));
    const [damage] = damageOf(sqlite, 'quick');
    if (damage !== undefined) throw new CommandError(`${file} is damaged: ${damage.replace(/\s+/g, ' ')}`);
    if (missing.length > 0) requireRoom(copyOf(checked), statSync(file).size);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    checked.problem = error.message;
  }
  return checked;
}

const copyOf = ({ file, newest }: FileCheck) => freeName(`${file}.before-schema-${newest}`);

function describe(check: FileCheck): string {
  const { kind, file, schema, newest, migrations, problem } = check;
  if (problem !== null) return `refused: ${problem}`;
  if (schema === null) return `${file}: missing; the next start creates a new ${namesOfKinds[kind]}`;
  if (migrations.length === 0) return `${file}: schema ${schema}, nothing to migrate`;
  return `${file}: schema ${schema}, the next start migrates it to ${newest} (${migrations.join(', ')}), and keeps a copy from before as ${copyOf(check)}`;
}
