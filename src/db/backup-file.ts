import { createWriteStream, lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import yazl from 'yazl';
import { CommandError } from '../base/errors.ts';
import { isThere, sha256OfFile, statIfThere } from '../base/files.ts';
import { connectReadOnly } from './connect.ts';
import { copyDatabase, requireRoom, writeNewFile } from './copy.ts';
import type { Files } from './database.ts';
import type { Kind } from './schema.ts';

/** A backup: one file, with the schema version of each database in it. */
export interface Backup {
  file: string;
  bytes: number;
  sha256: string;
  schema: { [K in Kind]?: number };
}

/** The name of a database in a backup of both. */
export const memberOf = (kind: Kind) => `${kind}.db`;

/**
 * Backs up both databases, each in one consistent state, while they are in use: a zip of two compressed databases
 * without logs.
 * `usersOnly`: users' data only, as a plain database. Missing users' data is left out. Throws `CommandError` and then
 * leaves no file behind.
 */
export async function backUp(files: Files, file: string, usersOnly = false): Promise<Backup> {
  for (const own of [files.db, files.usersDb])
    if (resolve(file) === resolve(own)) throw new CommandError(`${file} is the database itself`);
  if (usersOnly) {
    const { kind, schema, ...copy } = await copyOf('users', files.usersDb, file);
    return { ...copy, schema: { [kind]: schema } };
  }
  // Room for the copies and for the zip of them.
  requireRoom(file, 2 * (sizeOf(files.db) + sizeOf(files.usersDb)));
  return writeNewFile(file, async (temporary) => {
    const inFolder = (kind: Kind) => join(dirname(temporary), memberOf(kind));
    const copies = [await copyOf('catalog', files.db, inFolder('catalog'))];
    if (isThere(files.usersDb)) copies.push(await copyOf('users', files.usersDb, inFolder('users')));
    const zip = new yazl.ZipFile();
    zip.on('error', (error: Error) => (zip.outputStream as PassThrough).destroy(error));
    for (const { kind } of copies) zip.addFile(inFolder(kind), memberOf(kind), { compressionLevel: 6 });
    zip.end();
    await pipeline(zip.outputStream, createWriteStream(temporary, { flags: 'wx', mode: 0o600 }));
    return {
      file,
      bytes: lstatSync(temporary).size,
      sha256: sha256OfFile(temporary),
      schema: Object.fromEntries(copies.map((each) => [each.kind, each.schema])),
    };
  });
}

const sizeOf = (file: string) => statIfThere(file)?.size ?? 0;

async function copyOf(kind: Kind, from: string, to: string) {
  using sqlite = connectReadOnly(from, kind, { anySchema: true });
  return await copyDatabase(sqlite, to);
}
