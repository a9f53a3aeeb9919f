import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';

export type Coding = 'identity' | 'gzip' | 'br';

/** A shorter answer fits one packet uncompressed. */
export const leastCompressed = 1024;

/** Each coding has its own tag: strong tags stand for bytes (RFC 9110 8.8.3). */
export const tagSuffixes: Record<Coding, string> = { identity: '', gzip: '-gz', br: '-br' };

/** Whether an `If-None-Match` header names a tag, in any coding. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => {
    const entry = each.trim().replace(/^W\//, '');
    return entry === '*' || Object.values(tagSuffixes).some((suffix) => entry === `"${tag}${suffix}"`);
  });
}

const brotliLevel = 5;
/** The characters of a header that are read and cached. */
const longestHeader = 500;
const remembered = new LRUCache<string, Coding>({ max: 1000, memoMethod: negotiate });

/** The best coding that an `Accept-Encoding` header accepts (RFC 9110 12.5.3): brotli, gzip, or none. */
export function bestCoding(header: string | undefined): Coding {
  if (header === undefined) return 'identity';
  // Cut between entries: a cut `br;q=0` would read as `br`.
  const read =
    header.length > longestHeader ? header.slice(0, header.lastIndexOf(',', longestHeader) + 1) : header;
  return remembered.memo(read);
}

function negotiate(header: string): Coding {
  const taken = new Map<string, boolean>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim());
    const quality = parameters.find((each) => each.startsWith('q='));
    taken.set(name, quality === undefined || Number(quality.slice(2)) > 0);
  }
  const takes = (name: string) => taken.get(name) ?? taken.get('*') ?? false;
  if (takes('br')) return 'br';
  if (takes('gzip') || taken.get('x-gzip')) return 'gzip';
  return 'identity';
}

/** Compresses off the main thread; the same bytes give the same result. */
export async function compress(
  bytes: Buffer,
  coding: Exclude<Coding, 'identity'>,
): Promise<Buffer<ArrayBuffer>> {
  if (coding === 'gzip') return promisify(gzip)(bytes);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliLevel,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return promisify(brotliCompress)(bytes, { params });
}
