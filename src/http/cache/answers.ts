import { LRUCache } from 'lru-cache';
import { type Viewer, viewerKey } from '../../auth/viewer.ts';
import { type Coding, compress, leastCompressed, tagSuffixes } from '../coding.ts';

/** What says that an answer still holds; a database does. */
export interface Freshness {
  generation(): number;
  audience: { version(subject: string | null, organization: string | null): string };
}

/** An answer as its route made it: headers in lower case, without tag and length. `tag` names the bytes in any coding. */
export interface Made {
  bytes: Buffer<ArrayBuffer>;
  headers: Record<string, string>;
  tag: string;
}

/** An answer ready to be sent; `lines` are its headers as Node's `writeHead` takes them fastest: name and value in turn. */
export type Variant = { headers: Record<string, string>; lines: string[]; body: Buffer<ArrayBuffer> };

export interface Kept {
  /** For the checks of a request: the template of its route, its `x-access`, and whether it counts as expensive. */
  checks: { route: string; access: string; expensive: boolean };
  key: string;
  stamp: string;
  made: Made;
  variants: Map<Coding, Variant>;
  /** Codings that are being made. */
  making: Map<Coding, Promise<Variant>>;
  notModified: Variant;
}

export type Answers = ReturnType<typeof createAnswers>;

/** How long an answer of the catalog may outlive it. */
const staleMilliseconds = 5;
/** What an entry costs beside its bodies. */
const overhead = 2048;

/**
 * Keeps answers to GET as bytes, within a number of bytes: those that nobody asked for longest go first. Each holds as long as
 * `fresh` says what it said when the answer was made.
 */
export function createAnswers(fresh: Freshness, maxSize = 48 * 1024 * 1024) {
  const answers = new LRUCache<string, Kept>({
    maxSize,
    maxEntrySize: maxSize / 8,
    sizeCalculation: ({ variants, key }) =>
      [...variants.values()].reduce((sum, { body }) => sum + body.length, overhead + key.length),
  });
  const counted = { hits: 0, misses: 0 };
  /** The generation when it was last asked for: asking costs more than the rest of a look-up. */
  const recent = { generation: '', at: Number.NEGATIVE_INFINITY };

  function stamp(viewer: Viewer | null, exact = true): string {
    if (exact || performance.now() - recent.at >= staleMilliseconds) {
      recent.generation = String(fresh.generation());
      recent.at = performance.now();
    }
    if (viewer === null) return recent.generation;
    const subject = viewer.kind === 'user' ? viewer.subject : null;
    return `${recent.generation} ${fresh.audience.version(subject, viewer.organization)}`;
  }

  async function encode(kept: Kept, coding: Exclude<Coding, 'identity'>): Promise<Variant> {
    const identity = kept.variants.get('identity')!;
    const bytes =
      identity.body.length < leastCompressed ? identity.body : await compress(identity.body, coding);
    const smaller = bytes.length < identity.body.length;
    const made = smaller ? variant({ ...kept.made, bytes }, coding) : identity;
    kept.variants.set(coding, made);
    // Its size is another now; the same value set again would keep the old one.
    if (answers.peek(kept.key) === kept) {
      answers.delete(kept.key);
      answers.set(kept.key, kept);
    }
    return made;
  }

  return {
    /** How things stand for an answer that is about to be made. */
    stamp,

    /**
     * The answer to an address (path and query as they were routed), `viewer` where it depends on users' data; if it still
     * holds. Where `exact` is false, what of it is the catalog's may be some milliseconds old; users' data never is.
     */
    find(address: string, viewer: Viewer | null, exact = true): Kept | undefined {
      const kept = answers.get(keyOf(address, viewer));
      if (kept === undefined || kept.stamp !== stamp(viewer, exact)) return undefined;
      counted.hits++;
      return kept;
    },

    /** Keeps an answer that was made after `stamped` was taken by `stamp`, unless something changed since. */
    keep(address: string, viewer: Viewer | null, stamped: string, made: Made, checks: Kept['checks']): Kept {
      counted.misses++;
      const { 'content-type': _, 'content-disposition': __, ...headers } = made.headers;
      const kept: Kept = {
        checks,
        made,
        key: keyOf(address, viewer),
        stamp: stamped,
        variants: new Map([['identity', variant(made, 'identity')]]),
        making: new Map(),
        notModified: ready({ ...headers, ETag: `"${made.tag}"` }, Buffer.alloc(0)),
      };
      if (stamped === stamp(viewer)) answers.set(kept.key, kept);
      return kept;
    },

    /** The answer in a coding, compressed once and kept; where that makes it no smaller, as it is. */
    async written(kept: Kept, coding: Coding): Promise<Variant> {
      const found = kept.variants.get(coding);
      // What is not compressed is there from the beginning.
      if (found || coding === 'identity') return found!;
      const making = kept.making.get(coding) ?? encode(kept, coding);
      kept.making.set(coding, making);
      return making;
    },

    stats: () => ({ entries: answers.size, bytes: answers.calculatedSize, ...counted }),
  };
}

/** Neither an address nor the text of a viewer holds a line feed, so that one key is never read as another. */
const keyOf = (address: string, viewer: Viewer | null) =>
  viewer === null ? address : `${viewerKey(viewer)}\n${address}`;

function variant({ bytes, headers, tag }: Made, coding: Coding): Variant {
  const own = { ...headers, ETag: `"${tag}${tagSuffixes[coding]}"`, 'Content-Length': String(bytes.length) };
  return ready(coding === 'identity' ? own : { ...own, 'Content-Encoding': coding }, bytes);
}

const ready = (headers: Record<string, string>, body: Buffer<ArrayBuffer>): Variant => ({
  headers,
  lines: Object.entries(headers).flat(),
  body,
});
