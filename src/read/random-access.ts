import { fstatSync, read } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import yauzl from 'yauzl';

const chunkSize = 64 * 1024;
const outside = () => new Error('it points outside the file');

/** Reads a zip within its bounds: yauzl passes any offset to the file system, which throws where nobody catches. */
export class BoundedReader extends yauzl.RandomAccessReader {
  readonly size: number;
  private readonly handle: number | null;
  private readonly bytes: Buffer | null;

  constructor(origin: number | Buffer) {
    super();
    this.bytes = typeof origin === 'number' ? null : origin;
    this.handle = typeof origin === 'number' ? origin : null;
    this.size = this.handle === null ? this.bytes!.length : fstatSync(this.handle).size;
  }

  /** Node's own stream would close the file. */
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.partsOf(start, end), { objectMode: false });
  }

  private async *partsOf(start: number, end: number): AsyncGenerator<Buffer> {
    if (!this.holds(start, end)) throw outside();
    for (let position = start; position < end; position += chunkSize) {
      const part = Buffer.allocUnsafe(Math.min(chunkSize, end - position));
      await promisify(this.read).call(this, part, 0, part.length, position);
      yield part;
    }
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
    process.nextTick(callback, null);
  }

  private holds(start: number, end: number): boolean {
    return start >= 0 && start <= end && end <= this.size;
  }
}
