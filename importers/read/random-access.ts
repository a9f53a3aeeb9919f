import { closeSync, fstatSync, openSync, read } from 'node:fs';
import { Readable } from 'node:stream';
import yauzl from 'yauzl';

const chunkSize = 64 * 1024;
const outside = () => new Error('it points outside the file');

/**
 * Reads a zip from a file or from memory for yauzl, refusing every place outside of it: yauzl hands the places that
 * the zip names on to the file system, which throws where nobody catches.
 */
export class BoundedReader extends yauzl.RandomAccessReader {
  readonly size: number;
  private readonly handle: number | null;
  private readonly bytes: Buffer | null;

  constructor(origin: string | Buffer) {
    super();
    this.bytes = typeof origin === 'string' ? null : origin;
    this.handle = typeof origin === 'string' ? openSync(origin, 'r') : null;
    this.size = this.handle === null ? this.bytes!.length : fstatSync(this.handle).size;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    if (!this.holds(start, end)) {
      return new Readable({
        read() {
          this.destroy(outside());
        },
      });
    }
    if (this.bytes)
      return Readable.from(start === end ? [] : [this.bytes.subarray(start, end)], { objectMode: false });
    if (start === end) return Readable.from([], { objectMode: false });
    return this.streamOf(start, end);
  }

  /** A file's range as a stream that leaves the file open: Node's own closes it once it is destroyed. */
  private streamOf(start: number, end: number): Readable {
    const handle = this.handle!;
    let position = start;
    return new Readable({
      read() {
        const part = Buffer.allocUnsafe(Math.min(chunkSize, end - position));
        if (part.length === 0) this.push(null);
        else {
          read(handle, part, 0, part.length, position, (error, count) => {
            if (error || count === 0) this.destroy(error ?? outside());
            else {
              position += count;
              this.push(part.subarray(0, count));
            }
          });
        }
      },
    });
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    if (!this.holds(position, position + length)) {
      process.nextTick(callback, outside());
    } else if (this.bytes) {
      this.bytes.copy(buffer, offset, position, position + length);
      process.nextTick(callback, null);
    } else {
      read(this.handle!, buffer, offset, length, position, (error, count) => {
        callback(error ?? (count < length ? outside() : null));
      });
    }
  }

  override close(callback: (error: Error | null) => void): void {
    if (this.handle !== null) closeSync(this.handle);
    process.nextTick(callback, null);
  }

  private holds(start: number, end: number): boolean {
    return (
      Number.isSafeInteger(start) &&
      Number.isSafeInteger(end) &&
      start >= 0 &&
      start <= end &&
      end <= this.size
    );
  }
}
