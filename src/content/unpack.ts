import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../base/errors.ts';
import { bytesBefore, crcOf, localHeader, type Member, statedCrc } from '../base/zip.ts';
import { decompressor } from './compress.ts';
import type { Part } from './manifest.ts';
import type { PieceReader } from './pieces.ts';

/** Where a part is unpacked to; the manifest was read with names that cannot lead out of a folder. */
export function placeOf(folder: string, part: Part): string {
  if (part.kind === 'catalog') return join(folder, 'catalog.db');
  // The files of one source lie in one folder: that is how an importer knows that they belong together.
  mkdirSync(join(folder, part.source), { recursive: true, mode: 0o700 });
  return join(folder, part.source, part.file);
}

/** Reads a part, which must be what the manifest says, and unpacks it; gives SHA-256 of its content. Throws `CommandError`. */
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
  const hash = createHash('sha256');
  const content = createHash('sha256');
  let crc = 0;
  let unpacked = 0;
  const handle = place === null ? null : openSync(place, 'wx', 0o600);
  const compressed = function* () {
    for (const chunk of reader.chunks(part.bytes)) {
      hash.update(chunk);
      crc = crcOf(chunk, crc);
      yield chunk;
    }
  };
  try {
    await pipeline(
      Readable.from(compressed(), { objectMode: false }),
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
  if (hash.digest('hex') !== part.sha256 || crc !== member.crc)
    throw damaged(reader.name, `${name} does not have the SHA-256 that the manifest states`);
  if (unpacked !== part.unpacked) throw damaged(reader.name, `${name} holds less than the manifest says`);
  return { member, sha256: content.digest('hex') };
}

function writeWhole(handle: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at);
}

/** What a bundle is refused with that is not as it was built. */
export function damaged(name: string, why: string): CommandError {
  return new CommandError(`${name} is refused: ${why}`);
}
