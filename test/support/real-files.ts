import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readZip } from './read-zip.ts';
import { hasReferenceData, reference, shipped } from './reference.ts';

/** A benchmark file as it lies on disk or in a published zip, and its text. */
export interface BenchmarkFile {
  source: string;
  bytes: Buffer;
  text: string;
}

/** Where the files of `benchmarkFiles` lie: what an import must be given to have them all. */
export const benchmarkPaths = [
  shipped('stigs'),
  ...(hasReferenceData ? [reference('xccdf'), reference('zips'), reference('xccdf-malformed')] : []),
];

/** Every manual benchmark of the package, and where the reference data is present every real one, loose or zipped. */
export async function benchmarkFiles(): Promise<BenchmarkFile[]> {
  const files = inFolder(shipped('stigs'), utf8);
  if (!hasReferenceData) return files;
  files.push(...inFolder(reference('xccdf'), utf8), ...inFolder(reference('xccdf-malformed'), windows1252));
  for (const name of readdirSync(reference('zips')).sort()) {
    const path = reference('zips', name);
    const found = await readZip(readFileSync(path), (each) => each.endsWith('Manual-xccdf.xml'));
    for (const [each, bytes] of found) files.push({ source: `${path}!/${each}`, bytes, text: utf8(bytes) });
  }
  return files;
}

const utf8 = (bytes: Buffer) => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

// Node's own decoder takes these for control characters (rule S2.8).
const quirks = new Map(
  [...'…‘’“”•–—'].map((character, index) => [
    [0x85, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97][index]!,
    character,
  ]),
);
export const windows1252 = (bytes: Buffer) =>
  bytes.toString('latin1').replace(/[\u0080-\u009f]/g, (each) => quirks.get(each.charCodeAt(0)) ?? each);

function inFolder(folder: string, decode: (bytes: Buffer) => string): BenchmarkFile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.xml'))
    .sort()
    .map((name) => {
      const source = join(folder, name);
      const bytes = readFileSync(source);
      return { source, bytes, text: decode(bytes) };
    });
}
