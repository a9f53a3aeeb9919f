import { crc32, deflateRawSync } from 'node:zlib';

/** One entry of a zip to make; every field beyond name and data is a lie or a rarity that a test wants told. */
export interface ZipEntry {
  name: string | Buffer;
  data?: string | Uint8Array;
  /** Keep the data as it is instead of deflating it. */
  stored?: boolean;
  /** Says another compression method than the one used. */
  method?: number;
  /** Says another CRC-32. */
  crc?: number;
  /** Says another uncompressed size. */
  size?: number;
  /** Says another compressed size. */
  compressedSize?: number;
  /** General purpose bits; bit 0 says encrypted. Bit 11 (names in UTF-8) is always set. */
  flags?: number;
  /** The host that made the entry: 3 is Unix, 0 is DOS. */
  host?: number;
  /** The Unix mode in the external attributes, such as 0o120777 for a symbolic link. */
  mode?: number;
  /** Points to the local header of this entry (its index) instead of one of its own. */
  sameDataAs?: number;
  /** Says, in a zip64 extra field, that the local header is here. */
  zip64Offset?: bigint;
}

/** Makes a zip, hostile where the entries say so. Written from the format alone, apart from what reads it. */
export function makeZip(entries: ZipEntry[], lies: { entryCount?: number } = {}): Buffer {
  const body: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.isBuffer(entry.name) ? entry.name : Buffer.from(entry.name);
    const data = Buffer.from(entry.data ?? '');
    const packed = entry.stored ? data : deflateRawSync(data);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(0x800 | (entry.flags ?? 0), 2);
    head.writeUInt16LE(entry.method ?? (entry.stored ? 0 : 8), 4);
    head.writeUInt16LE(0x21, 8);
    head.writeUInt32LE(entry.crc ?? crc32(data), 10);
    head.writeUInt32LE(entry.compressedSize ?? packed.length, 14);
    head.writeUInt32LE(entry.size ?? data.length, 18);
    head.writeUInt16LE(name.length, 22);
    if (entry.sameDataAs === undefined) {
      offsets.push(offset);
      const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), head, name, packed]);
      body.push(local);
      offset += local.length;
    } else offsets.push(offsets[entry.sameDataAs]!);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(((entry.mode ?? 0) << 16) >>> 0, 6);
    tail.writeUInt32LE(entry.zip64Offset === undefined ? offsets[offsets.length - 1]! : 0xffffffff, 10);
    const extra = Buffer.alloc(entry.zip64Offset === undefined ? 0 : 12);
    if (entry.zip64Offset !== undefined) {
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(8, 2);
      extra.writeBigUInt64LE(entry.zip64Offset, 4);
    }
    const central = Buffer.from(head);
    central.writeUInt16LE(extra.length, 24);
    directory.push(Buffer.from([0x50, 0x4b, 1, 2, 20, entry.host ?? 3]), central, tail, name, extra);
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(lies.entryCount ?? entries.length, 8);
  end.writeUInt16LE(lies.entryCount ?? entries.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...body, ...directory, end]);
}
