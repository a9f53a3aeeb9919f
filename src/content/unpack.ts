import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../base/errors.ts';
import { writeWhole } from '../base/files.ts';
import { bytesBefore, localHeader, type Member, statedCrc } from '../base/zip.ts';
import { createCounter, decompressor } from './compress.ts';
import type { Part } from './manifest.ts';
import type { PieceReader } from './pieces.ts';

/** The file for a part; the manifest was checked for names that could leave the folder. */
export function placeOf(folder: string, part: Part): string {
  if (part.kind === 'catalog') return join(folder, 'catalog.db');
  // The files of one source share a folder: that is how the importer groups them.
  mkdirSync(join(folder, part.source), { recursive: true, mode: 0o700 });
  return join(folder, part.source, part.file);
}

/** Reads and unpacks a part; gives the SHA-256 of its content. Throws `CommandError` for damage. */
export async function readPart(
  reader: PieceReader,
  name: string,
  part: Part,
  place: string | null,
): Promise<{ member: Member; sha256: string }> {
  const header = reader.read(bytesBefore({ name }));
  const member = { name, bytes: part.bytes, crc: statedCrc(header) };
  if (!localHeader(member).equals(header))
    throw damaged(reader.name, `the member ${name} does not stand where it should`);
  const compressed = createCounter();
  const content = createHash('sha256');
  let unpacked = 0;
  const handle = place === null ? null : openSync(place, 'wx', 0o600);
  try {
    await pipeline(
      Readable.from(reader.chunks(part.bytes), { objectMode: false }),
      compressed.stream,
      decompressor(),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) {
          unpacked += chunk.length;
          if (unpacked > part.unpacked)
            throw damaged(reader.name, `${name} holds more than the manifest says`);
          content.update(chunk);
          if (handle !== null) writeWhole(handle, chunk);
        }
      },
    );
    if (handle !== null) fsyncSync(handle);
  } catch (error) {
    if (error instanceof CommandError || (error as { syscall?: string }).syscall !== undefined) throw error;
    throw damaged(reader.name, `${name} cannot be unpacked`);
  } finally {
    if (handle !== null) closeSync(handle);
  }
  const { sha256, crc } = compressed.totals();
  if (sha256 !== part.sha256 || crc !== member.crc)
    throw damaged(reader.name, `${name} does not have the SHA-256 that the manifest states`);
  if (unpacked !== part.unpacked) throw damaged(reader.name, `${name} holds less than the manifest says`);
  return { member, sha256: content.digest('hex') };
}

/** The error for a damaged bundle. */
export function damaged(name: string, why: string): CommandError {
  return new CommandError(`${name} is refused: ${why}`);
}
