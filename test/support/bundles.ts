import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ImportOptions, runImport } from '../../importers/run.ts';
import { crcOf, directory, localHeader } from '../../src/base/zip.ts';
import { type BuildOptions, type Built, buildBundle } from '../../src/content/bundle.ts';
import type { Manifest } from '../../src/content/manifest.ts';
import type { TrustedKey } from '../../src/content/read-bundle.ts';
import {
  makeKey,
  publicFileOf,
  readPrivateKey,
  readPublicKey,
  sign,
} from '../../src/content/signing-keys.ts';
import { openCatalog } from '../../src/db/database.ts';
import { scratchFolder } from './scratch.ts';

/** A key that is trusted for a channel, and the file of its private half. */
export interface SampleKey extends TrustedKey {
  file: string;
}

export function sampleKey(name: string, channel: string | null = 'main'): SampleKey {
  const file = join(scratchFolder(), name);
  makeKey(file);
  return { name, channel, file, ...readPublicKey(publicFileOf(file)) };
}

/** Makes a catalog of files, one run for each list of paths, and gives its file. */
export async function sampleCatalog(
  runs: string[][],
  { folder = scratchFolder(), ...options }: ImportOptions & { folder?: string } = {},
): Promise<string> {
  const file = join(folder, 'catalog.db');
  using db = openCatalog(file, { create: true });
  for (const paths of runs) await runImport(db, paths, options);
  return file;
}

export const sampleTime = new Date('2026-10-01T00:00:00.000Z');

/** Builds a bundle in a folder of its own. */
export function build(
  catalog: string,
  key: SampleKey | null,
  options: Partial<BuildOptions> = {},
): Promise<Built> {
  return buildBundle(catalog, join(scratchFolder(), 'bundle'), {
    ...{ channel: 'main', sequence: 1, time: sampleTime, expires: null, split: null, since: null },
    key: key === null ? null : readPrivateKey(key.file),
    ...options,
  });
}

/** A member of a zip as it is to be written. */
export interface RawMember {
  name: string;
  content: Buffer;
}

/** The members of a bundle, read from the format alone: stored, one after the other. */
export function membersOf(file: string): RawMember[] {
  const bytes = readFileSync(file);
  const members: RawMember[] = [];
  for (let at = 0; bytes.readUInt32LE(at) === 0x04034b50; ) {
    const [length, nameLength] = [bytes.readUInt32LE(at + 18), bytes.readUInt16LE(at + 26)];
    const start = at + 30 + nameLength;
    members.push({
      name: bytes.toString('latin1', at + 30, start),
      content: bytes.subarray(start, start + length),
    });
    at = start + length;
  }
  return members;
}

/** Writes members as a bundle is written. */
export function writeMembers(members: RawMember[]): string {
  const stated = members.map(({ name, content }) => ({ name, bytes: content.length, crc: crcOf(content) }));
  const parts = members.flatMap(({ content }, index) => [localHeader(stated[index]!), content]);
  const file = join(scratchFolder(), 'bundle');
  writeFileSync(file, Buffer.concat([...parts, directory(stated)]));
  return file;
}

/** A bundle whose maker may sign and means harm: the manifest is changed in place, or another text given, and signed anew. */
export function resigned(
  file: string,
  key: SampleKey,
  change: (manifest: Manifest, members: RawMember[]) => unknown,
): string {
  const members = membersOf(file);
  const manifest = JSON.parse(members[0]!.content.toString()) as Manifest;
  const text = change(manifest, members);
  members[0]!.content = Buffer.from(
    typeof text === 'string' ? text : `${JSON.stringify(manifest, null, 1)}\n`,
  );
  members[1]!.content = sign(members[0]!.content, readPrivateKey(key.file));
  return writeMembers(members);
}
