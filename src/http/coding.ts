import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { owned } from '../base/bytes.ts';

export type Coding = 'identity' | 'gzip' | 'br';

/** A shorter answer fits one packet uncompressed. */
const leastCompressed = 1024;
const brotliLevel = 5;

/** A strong tag without what tells its coding (RFC 9110 8.8.3). */
const plainTag = (tag: string) =>
  tag
    .trim()
    .replace(/^W\//, '')
    .replace(/-(?:gzip|br)"$/, '"');

/** Whether an `If-None-Match` header names a tag, in any coding. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => each.trim() === '*' || plainTag(each) === plainTag(tag));
}

/** The headers of a 304 in place of an answer with these, by lower-case name. */
export function headersUnchanged({ etag, ...headers }: Record<string, string>): Record<string, string> {
  const {
    'content-type': _type,
    'content-length': _length,
    'content-encoding': _encoding,
    'content-disposition': _disposition,
    ...others
  } = headers;
  return { ...others, etag: plainTag(etag!) };
}

/** The best coding that an `Accept-Encoding` header names (RFC 9110 12.5.3): brotli, gzip, or none. */
export function bestCoding(header = ''): Coding {
  const accepted = header
    .toLowerCase()
    .split(',')
    .filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each))
    .map((each) => each.split(';')[0]!.trim());
  return (['br', 'gzip'] as const).find((coding) => accepted.includes(coding)) ?? 'identity';
}

/** An answer in a coding, compressed off the main thread; as it is where that is not smaller. */
export async function compressed(
  bytes: Buffer<ArrayBuffer>,
  headers: Record<string, string>,
  coding: Coding,
): Promise<{ bytes: Buffer<ArrayBuffer>; headers: Record<string, string> }> {
  if (coding === 'identity' || bytes.length < leastCompressed) return { bytes, headers };
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliLevel,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const smaller =
    coding === 'gzip' ? await promisify(gzip)(bytes) : await promisify(brotliCompress)(bytes, { params });
  if (smaller.length >= bytes.length) return { bytes, headers };
  return {
    bytes: owned(smaller),
    headers: {
      ...headers,
      etag: headers.etag!.replace(/"$/, `-${coding}"`),
      'content-length': String(smaller.length),
      'content-encoding': coding,
    },
  };
}
