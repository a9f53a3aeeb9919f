import { crc32, deflateRawSync } from 'node:zlib';

/** A member of a zip: its `bytes` in the zip, and the `crc` of its content. */
export interface Member {
  name: string;
  bytes: number;
  crc: number;
  /** The size of the content, where it is deflated; absent where it is stored. */
  unpacked?: number;
}

/** The most bytes of a zip without ZIP64, and of each number in it. */
export const largestZip = 0xffff_ffff;

/** 1 January 1980 in DOS form: equal contents give equal zips. */
const date = 0x21;
const localBytes = 30;
const centralBytes = 46;
const endBytes = 22;

/** The bytes before the content of a member (APPNOTE 4.3.7); Gapstone's zips add no extra field. */
export function localHeader(member: Member): Buffer {
  const header = Buffer.alloc(localBytes);
  header.writeUInt32LE(0x04034b50, 0);
  writeCommon(header, 4, member);
  return Buffer.concat([header, Buffer.from(member.name)]);
}

/** The bytes after the content of the last member (APPNOTE 4.3.12 and 4.3.16). */
export function directory(members: Member[]): Buffer {
  const parts: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const header = Buffer.alloc(centralBytes);
    header.writeUInt32LE(0x02014b50, 0);
    header.writeUInt16LE((3 << 8) | 20, 4);
    writeCommon(header, 6, member);
    // File mode 0600.
    header.writeUInt32LE((0o100600 << 16) >>> 0, 38);
    header.writeUInt32LE(offset, 42);
    parts.push(header, Buffer.from(member.name));
    offset += bytesBefore(member) + member.bytes;
  }
  const end = Buffer.alloc(endBytes);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(
    parts.reduce((sum, { length }) => sum + length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, end]);
}

/** The length of a local header. */
const bytesBefore = ({ name }: { name: string }): number => localBytes + Buffer.byteLength(name);

/** The length of a zip of these members. */
export function sizeOfZip(members: { name: string; bytes: number }[]): number {
  const each = members.map(
    ({ name, bytes }) => localBytes + centralBytes + 2 * Buffer.byteLength(name) + bytes,
  );
  return each.reduce((sum, bytes) => sum + bytes, endBytes);
}

/** Writes the fields that both headers of a member share. */
function writeCommon(header: Buffer, at: number, { name, bytes, crc, unpacked }: Member): void {
  const nameBytes = Buffer.byteLength(name);
  header.writeUInt16LE(20, at);
  // Bit 11: the name is UTF-8.
  if (nameBytes !== name.length) header.writeUInt16LE(0x800, at + 2);
  if (unpacked !== undefined) header.writeUInt16LE(8, at + 4);
  header.writeUInt16LE(date, at + 8);
  header.writeUInt32LE(crc, at + 10);
  header.writeUInt32LE(bytes, at + 14);
  header.writeUInt32LE(unpacked ?? bytes, at + 18);
  header.writeUInt16LE(nameBytes, at + 22);
}

/** A zip of files, each compressed. */
export function zipOf(files: { name: string; content: Buffer }[]): Uint8Array<ArrayBuffer> {
  const members: Member[] = [];
  const parts: Buffer[] = [];
  for (const { name, content } of files) {
    const packed = deflateRawSync(content);
    const member = { name, bytes: packed.length, crc: crc32(content), unpacked: content.length };
    members.push(member);
    parts.push(localHeader(member), packed);
  }
  return new Uint8Array(Buffer.concat([...parts, directory(members)]));
}
