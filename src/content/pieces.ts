import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CommandError } from '../base/errors.ts';
import { isThere, publishNew, syncPath, whyRefused } from '../base/files.ts';

/** As many as three digits can number. */
const mostPieces = 999;
const chunkBytes = 1 << 20;

const pieceName = (file: string, index: number) => `${file}.${String(index + 1).padStart(3, '0')}`;

/** The bytes of a file, or of all its pieces, in order, each read once. */
export type PieceReader = ReturnType<typeof openPieces>;

/** Opens a file or its pieces by the first name or without a number. Throws `CommandError`. */
export function openPieces(file: string) {
  const isCut = file.endsWith('.001') || (!isThere(file) && isThere(pieceName(file, 0)));
  const name = isCut && file.endsWith('.001') ? file.slice(0, -4) : file;
  const handles: number[] = [];
  const close = () => {
    for (const handle of handles.splice(0)) closeSync(handle);
  };
  let sizes: number[];
  try {
    if (isCut)
      for (let index = 0; isThere(pieceName(name, index)); index++)
        handles.push(openFile(pieceName(name, index)));
    else handles.push(openFile(file));
    sizes = handles.map((handle) => fstatSync(handle).size);
  } catch (error) {
    close();
    throw error;
  }
  const size = sizes.reduce((sum, each) => sum + each, 0);
  let piece = 0;
  let inPiece = 0;
  let done = 0;

  /** Gives the next bytes. Throws `CommandError` where there are fewer. */
  function read(length: number): Buffer {
    if (length > size - done)
      throw new CommandError(
        `${name} ends too early: after ${size} bytes${isCut ? ` in ${handles.length} pieces` : ''}`,
      );
    const bytes = Buffer.allocUnsafe(length);
    for (let filled = 0; filled < length; ) {
      const want = Math.min(length - filled, sizes[piece]! - inPiece);
      const count = want === 0 ? 0 : readSync(handles[piece]!, bytes, filled, want, inPiece);
      if (count === 0 && want > 0) throw new CommandError(`${name} became shorter while it was read`);
      filled += count;
      inPiece += count;
      if (inPiece === sizes[piece]) [piece, inPiece] = [piece + 1, 0];
    }
    done += length;
    return bytes;
  }

  return {
    /** The file name without a piece number. */
    name,
    size,
    pieces: isCut ? handles.length : 0,
    read,
    *chunks(length: number): Generator<Buffer> {
      for (let rest = length; rest > 0; rest -= Math.min(rest, chunkBytes))
        yield read(Math.min(rest, chunkBytes));
    },
    [Symbol.dispose]: close,
  };
}

function openFile(file: string): number {
  try {
    // Opening a pipe would block.
    if (!statSync(file).isFile()) throw new CommandError(`${file} is not a file`);
    return openSync(file, 'r');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} cannot be read: ${whyRefused(file, error)}`);
  }
}

/** Throws `CommandError` where the file or a piece of it exists: pieces of two bundles would mix. */
export function refuseTakenPieces(file: string): void {
  const folder = dirname(file);
  if (!isThere(folder)) throw new CommandError(`the folder of ${file} does not exist`);
  const own = basename(file);
  const isOwn = (name: string) => name.startsWith(own) && /^(\.\d{3})?$/.test(name.slice(own.length));
  const taken = readdirSync(folder).find(isOwn);
  if (taken) throw new CommandError(`${join(folder, taken)} already exists: choose another name`);
}

/** Writes a file, or pieces of a size, beside `temporary`; `publish` renames them. */
export function createPieces(temporary: string, pieceBytes: number | null) {
  const limit = pieceBytes ?? Number.POSITIVE_INFINITY;
  const nameOf = (index: number) => (pieceBytes === null ? temporary : pieceName(temporary, index));
  let index = 0;
  let handle = openSync(nameOf(0), 'wx', 0o600);
  let inPiece = 0;
  const close = () => {
    closeSync(handle);
    for (let piece = 0; piece <= index; piece++) syncPath(nameOf(piece));
  };
  return {
    write(bytes: Buffer): void {
      for (let at = 0; at < bytes.length; ) {
        if (inPiece === limit) {
          closeSync(handle);
          if (++index === mostPieces)
            throw new CommandError(`--split is too small: there would be more than ${mostPieces} pieces`);
          handle = openSync(nameOf(index), 'wx', 0o600);
          inPiece = 0;
        }
        const count = writeSync(handle, bytes, at, Math.min(bytes.length - at, limit - inPiece));
        at += count;
        inPiece += count;
      }
    },
    close,
    /** Renames the pieces, the first one last: once it exists, all do. */
    publish(file: string): string[] {
      close();
      const names: string[] = [];
      for (let piece = index; piece >= 0; piece--) {
        const name = pieceBytes === null ? file : pieceName(file, piece);
        publishNew(nameOf(piece), name);
        names.unshift(name);
      }
      return names;
    },
  };
}
