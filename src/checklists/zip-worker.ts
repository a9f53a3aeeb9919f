import { Readable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { ZipFile } from 'yazl';
import { owned } from '../base/bytes.ts';
import { compressionLevel } from '../base/zip.ts';
import type { ChecklistFile, ChecklistZip } from './host-zip.ts';

// The entry of the worker that writes a zip of checklists: it sends one chunk for each message, and null at the end.

const { files, stigs, between, end } = workerData as ChecklistZip;

/** The content of a checklist, of which one STIG at a time is in memory. */
function contentOf({ head, stigs: own }: ChecklistFile): Readable {
  const pieces = [head, ...own.flatMap((index, place) => [...(place === 0 ? [] : between), index]), end];
  return new Readable({
    read() {
      const piece = pieces.shift() ?? null;
      this.push(typeof piece === 'number' ? gunzipSync(stigs[piece]!) : piece);
    },
  });
}

// The oldest time that a zip has: equal checklists give equal bytes.
const attributes = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true, mode: 0o100600, compressionLevel };

const zip = new ZipFile();
for (const file of files)
  zip.addReadStreamLazy(file.name, attributes, (begin) => begin(null, contentOf(file)));
zip.end();

const chunks = zip.outputStream[Symbol.asyncIterator]() as AsyncIterator<Buffer<ArrayBuffer>>;
parentPort!.on('message', async () => {
  const { value, done } = await chunks.next();
  const bytes = done ? null : owned(value);
  parentPort!.postMessage(bytes, bytes === null ? [] : [bytes.buffer]);
});
