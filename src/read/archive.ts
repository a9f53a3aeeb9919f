import { fstatSync, read } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { ImportError } from './import-error.ts';

/** The bounds of rule S2.4. */
export const archiveLimits = {
  entries: 20_000,
  entryBytes: 64 * 1024 * 1024,
  totalBytes: 8 * 1024 * 1024 * 1024,
  ratio: 200,
  ratioFrom: 1024 * 1024,
  depth: 3,
};

/** One file of an archive; `read` inflates it and throws `ImportError` when it is damaged or too large. */
export interface Member {
  name: string;
  read(): Promise<Buffer>;
}

/** Counts the bytes inflated in one run, over all its archives. */
export interface InflateBudget {
  left: number;
}

export function newInflateBudget(): InflateBudget {
  return { left: archiveLimits.totalBytes };
}

/** True for bytes that begin like a zip file. */
export function looksLikeZip(bytes: Uint8Array): boolean {
  return /^504b(?:0304|0506)$/.test(Buffer.from(bytes.subarray(0, 4)).toString('hex'));
}

/**
 * Opens a zip from an open file, which stays open, or from bytes. Checks the whole directory before it inflates
 * anything. Members are in order of names, their data in memory. A backslash in a name is a separator (rule D53.3).
 * Throws `ImportError` for a damaged or hostile archive: names that are absolute or leave it, links, colliding names,
 * overlapping or encrypted members.
 */
export async function openArchive(
  origin: number | Buffer,
  budget: InflateBudget,
): Promise<{ members: Member[]; close(): void }> {
  const options = { lazyEntries: true, strictFileNames: false, autoClose: false, validateEntrySizes: true };
  let zip: ZipFile;
  try {
    const reader = new BoundedReader(origin);
    zip = await yauzl.fromRandomAccessReaderPromise(reader, reader.size, options);
  } catch (error) {
    throw new ImportError(`the zip cannot be opened: ${(error as Error).message}`);
  }
  try {
    const entries = await readDirectory(zip);
    checkDirectory(entries);
    const members = entries
      .filter((entry) => !entry.fileName.endsWith('/'))
      .sort((a, b) => (a.fileName < b.fileName ? -1 : 1))
      .map((entry) => ({ name: entry.fileName, read: () => inflate(zip, entry, budget) }));
    return { members, close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw error;
  }
}

function readDirectory(zip: ZipFile): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    if (zip.entryCount > archiveLimits.entries) {
      reject(new ImportError(`the zip contains more than ${archiveLimits.entries} files`));
      return;
    }
    const entries: Entry[] = [];
    zip.on('entry', (entry: Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', (error: Error) =>
      reject(new ImportError(`the zip is refused: ${error.message.slice(0, 200)}`)),
    );
    zip.readEntry();
  });
}

function checkDirectory(entries: Entry[]): void {
  const seen = new Set<string>();
  for (const entry of entries) {
    const name = entry.fileName;
    const shown = JSON.stringify(name.slice(0, 100));
    if (/[\u0000-\u001f\u007f]/.test(name))
      throw new ImportError(`the zip contains a name with control characters: ${shown}`);
    // Undecodable bytes could give two names the same form, and neither would be the file's.
    if (name.includes('\ufffd'))
      throw new ImportError(`the zip contains a name that is not valid text: ${shown}`);
    const key = name.toLowerCase().replace(/\/$/, '');
    if (seen.has(key)) throw new ImportError(`the zip contains two files named ${shown}`);
    seen.add(key);
    const madeByUnix = entry.versionMadeBy >>> 8 === 3 || entry.versionMadeBy >>> 8 === 19;
    const type = madeByUnix ? (entry.externalFileAttributes >>> 16) & 0xf000 : 0;
    if (type !== 0 && type !== 0x8000 && type !== 0x4000) {
      throw new ImportError(`the zip contains a link or device: ${shown}`);
    }
  }
  const ranges = entries
    .map((entry) => ({
      start: entry.relativeOffsetOfLocalHeader,
      end: entry.relativeOffsetOfLocalHeader + 30 + entry.compressedSize,
    }))
    .sort((a, b) => a.start - b.start);
  ranges.forEach((range, index) => {
    const next = ranges[index + 1];
    if (next && next.start < range.end) throw new ImportError('the zip contains files that overlap');
  });
}

async function inflate(zip: ZipFile, entry: Entry, budget: InflateBudget): Promise<Buffer> {
  if (entry.isEncrypted()) throw new ImportError('the file is encrypted');
  if (entry.uncompressedSize > archiveLimits.entryBytes) {
    throw new ImportError(`the file is larger than ${archiveLimits.entryBytes / 1024 / 1024} MB`);
  }
  const ratio = entry.uncompressedSize / Math.max(1, entry.compressedSize);
  if (entry.uncompressedSize > archiveLimits.ratioFrom && ratio > archiveLimits.ratio) {
    throw new ImportError(
      `the file is compressed more than ${archiveLimits.ratio}:1, which is not plausible for a document`,
    );
  }
  budget.left -= entry.uncompressedSize;
  if (budget.left < 0) throw new ImportError('the archives of this import contain more than 8 GB');
  const parts: Buffer[] = [];
  try {
    // yauzl stops at the first byte past the declared size: a false directory costs nothing.
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
  } catch (error) {
    throw new ImportError(`the file cannot be unpacked: ${(error as Error).message}`);
  }
  const data = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  if (crc32(data) !== entry.crc32) throw new ImportError('the file is damaged: its checksum is wrong');
  return data;
}

const chunkSize = 64 * 1024;

/** Reads a zip within its bounds: yauzl passes any offset to the file system, which throws where nobody catches. */
class BoundedReader extends yauzl.RandomAccessReader {
  private readonly origin: number | Buffer;
  readonly size: number;

  constructor(origin: number | Buffer) {
    super();
    this.origin = origin;
    this.size = typeof origin === 'number' ? fstatSync(origin).size : origin.length;
  }

  /** Node's own stream would close the file. */
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.partsOf(start, end), { objectMode: false });
  }

  private async *partsOf(start: number, end: number): AsyncGenerator<Buffer> {
    for (let position = start; position < end; position += chunkSize) {
      const part = Buffer.allocUnsafe(Math.min(chunkSize, end - position));
      const count = await promisify(this.read).call(this, part, 0, part.length, position);
      yield part.subarray(0, count);
    }
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, count?: number) => void,
  ): void {
    if (position < 0 || position + length > this.size)
      process.nextTick(callback, new Error('it points outside the file'));
    else if (typeof this.origin === 'number') read(this.origin, buffer, offset, length, position, callback);
    else process.nextTick(callback, null, this.origin.copy(buffer, offset, position, position + length));
  }
}
