import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';

export type Coding = 'identity' | 'gzip' | 'br';

/** A shorter answer fits one packet uncompressed. */
const leastCompressed = 1024;

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
/** The characters of a header that is read; no client sends more. */
const longestHeader = 500;
const remembered = new LRUCache<string, Coding>({ max: 1000, memoMethod: negotiate });

/** The best coding that an `Accept-Encoding` header accepts (RFC 9110 12.5.3): brotli, gzip, or none. */
export function bestCoding(header: string | undefined): Coding {
  return header === undefined || header.length > longestHeader ? 'identity' : remembered.memo(header);
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

/** Compresses off the main thread; null where that does not make it smaller. */
export async function compress(
  bytes: Buffer,
  coding: Exclude<Coding, 'identity'>,
): Promise<Buffer<ArrayBuffer> | null> {
  if (bytes.length < leastCompressed) return null;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliLevel,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const compressed =
    coding === 'gzip' ? await promisify(gzip)(bytes) : await promisify(brotliCompress)(bytes, { params });
  return compressed.length < bytes.length ? compressed : null;
}
