import { LRUCache } from 'lru-cache';
import { type Viewer, viewerKey } from '../../auth/viewer.ts';
import { owned } from '../../base/bytes.ts';
import { type Coding, compress, leastCompressed, tagSuffixes } from '../coding.ts';

/** Says whether an answer is still valid; a database implements it. */
export interface Freshness {
  catalogVersion(): string;
  audience: { version(subject: string | null, organization: string | null): string };
}

/** An answer of a route: headers in lower case, without tag and length. `tag` stands for the bytes in every coding. */
export interface Made {
  bytes: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
  tag: string;
}

/** An answer ready to send; `lines` are the headers in the fastest form for Node's `writeHead`. */
export type Variant = { headers: Record<string, string>; lines: string[]; body: Buffer<ArrayBuffer> };

export interface Kept {
  /** What the fast path checks: the template of the route, its `x-access`, and whether it counts as expensive. */
  checks: { route: string; access: string; expensive: boolean };
  key: string;
  stamp: string;
  made: Made & { bytes: Buffer<ArrayBuffer> };
  variants: Map<Coding, Variant>;
  making: Map<Coding, Promise<Variant>>;
  notModified: Variant;
}

export type Answers = ReturnType<typeof createAnswers>;

/** How long an answer may be served after the catalog changed. */
const staleMilliseconds = 5;
const overhead = 2048;

/** A cache of answers to GET of at most `maxSize` bytes; an entry is valid while `fresh` gives its stamp. */
export function createAnswers(fresh: Freshness, maxSize = 48 * 1024 * 1024) {
  const answers = new LRUCache<string, Kept>({
    maxSize,
    maxEntrySize: maxSize / 8,
    sizeCalculation: ({ variants, key }) =>
      [...variants.values()].reduce((sum, { body }) => sum + body.length, overhead + key.length),
  });
  const counted = { hits: 0, misses: 0 };
  /** The last catalog version read: reading it costs more than the rest of a look-up. */
  const recent = { catalogVersion: '', at: Number.NEGATIVE_INFINITY };

  function stamp(viewer: Viewer | null, exact = true): string {
    if (exact || performance.now() - recent.at >= staleMilliseconds) {
      recent.catalogVersion = fresh.catalogVersion();
      recent.at = performance.now();
    }
    if (viewer === null) return recent.catalogVersion;
    const subject = viewer.kind === 'user' ? viewer.subject : null;
    return `${recent.catalogVersion} ${fresh.audience.version(subject, viewer.organization)}`;
  }

  async function encode(kept: Kept, coding: Exclude<Coding, 'identity'>): Promise<Variant> {
    const identity = kept.variants.get('identity')!;
    const bytes =
      identity.body.length < leastCompressed ? identity.body : await compress(identity.body, coding);
    const smaller = bytes.length < identity.body.length;
    const made = smaller ? variant({ ...kept.made, bytes: owned(bytes) }, coding) : identity;
    kept.variants.set(coding, made);
    // LRUCache computes the size again only for a new entry.
    if (answers.peek(kept.key) === kept) {
      answers.delete(kept.key);
      answers.set(kept.key, kept);
    }
    return made;
  }

  return {
    /** The state of the data (catalog and, for a viewer, users' data) before an answer is made. */
    stamp,

    /**
     * The valid answer to an address (path and query as routed), `viewer` where it depends on users' data. With `exact`
     * false the catalog may be a few milliseconds older; users' data never is.
     */
    find(address: string, viewer: Viewer | null, exact = true): Kept | undefined {
      const kept = answers.get(keyOf(address, viewer));
      if (kept === undefined || kept.stamp !== stamp(viewer, exact)) return undefined;
      counted.hits++;
      return kept;
    },

    /** Caches an answer made after `stamp` gave `stamped`, unless the data changed since. */
    keep(address: string, viewer: Viewer | null, stamped: string, made: Made, checks: Kept['checks']): Kept {
      counted.misses++;
      const { 'content-type': _, 'content-disposition': __, ...headers } = made.headers;
      const own = { ...made, bytes: owned(made.bytes) };
      const kept: Kept = {
        checks,
        made: own,
        key: keyOf(address, viewer),
        stamp: stamped,
        variants: new Map([['identity', variant(own, 'identity')]]),
        making: new Map(),
        notModified: ready({ ...headers, ETag: `"${made.tag}"` }, Buffer.alloc(0)),
      };
      if (stamped === stamp(viewer)) answers.set(kept.key, kept);
      return kept;
    },

    /** The answer in a coding, compressed once; uncompressed where compression does not make it smaller. */
    async written(kept: Kept, coding: Coding): Promise<Variant> {
      const found = kept.variants.get(coding);
      if (found || coding === 'identity') return found!;
      const making =
        kept.making.get(coding) ?? encode(kept, coding).finally(() => kept.making.delete(coding));
      kept.making.set(coding, making);
      return making;
    },

    stats: () => ({ entries: answers.size, bytes: answers.calculatedSize, ...counted }),
  };
}

/** Neither an address nor a viewer's key contains a line feed, so that no two pairs have one key. */
const keyOf = (address: string, viewer: Viewer | null) =>
  viewer === null ? address : `${viewerKey(viewer)}\n${address}`;

function variant({ bytes, headers, tag }: Kept['made'], coding: Coding): Variant {
  const own = { ...headers, ETag: `"${tag}${tagSuffixes[coding]}"`, 'Content-Length': String(bytes.length) };
  return ready(coding === 'identity' ? own : { ...own, 'Content-Encoding': coding }, bytes);
}

const ready = (headers: Record<string, string>, body: Buffer<ArrayBuffer>): Variant => ({
  headers,
  lines: Object.entries(headers).flat(),
  body,
});
