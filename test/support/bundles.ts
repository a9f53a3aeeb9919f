import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ImportOptions, runImport } from '../../importers/run.ts';
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
import { put, scratchFolder } from './scratch.ts';
import { makeZip } from './zip.ts';

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
  key: SampleKey,
  options: Partial<Omit<BuildOptions, 'key'>> = {},
): Promise<Built> {
  return buildBundle(catalog, join(scratchFolder(), 'bundle'), {
    channel: 'main',
    sequence: 1,
    now: sampleTime,
    key: readPrivateKey(key.file),
    ...options,
  });
}

/** A member of a zip as it is to be written. */
export interface RawMember {
  name: string;
  content: Buffer;
}

/** The members of a bundle in the order of its directory: they are stored. */
export function membersOf(file: string): RawMember[] {
  const bytes = readFileSync(file);
  const end = bytes.length - 22;
  const members: RawMember[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const nameEnd = at + 46 + bytes.readUInt16LE(at + 28);
    members.push({
      name: bytes.toString('latin1', at + 46, nameEnd),
      content: bytes.subarray(start, start + bytes.readUInt32LE(at + 20)),
    });
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return members;
}

/** Writes members to a zip, stored. */
export function writeMembers(members: RawMember[]): string {
  return put(
    scratchFolder(),
    'bundle',
    makeZip(members.map(({ name, content }) => ({ name, data: content, stored: true }))),
  );
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
