import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';

/** The files of a zip by name, in their order, each checked against its size and CRC-32, read by a package that we do not write with. */
export async function readZip(
  bytes: Uint8Array,
  isWanted: (name: string) => boolean = () => true,
): Promise<Map<string, Buffer>> {
  const options = { lazyEntries: true, strictFileNames: true } as const;
  const zip = await yauzl.fromBufferPromise(Buffer.from(bytes), options);
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    if (!isWanted(entry.fileName)) continue;
    if (files.has(entry.fileName)) throw new Error(`${entry.fileName} is there twice`);
    files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  }
  return files;
}
