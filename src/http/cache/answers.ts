import { LRUCache } from 'lru-cache';
import type { Viewer } from '../../auth/viewer.ts';
import type { Made } from '../env.ts';
import { type Coding, compress } from './coding.ts';

/** What says that an answer still holds; a database does. */
export interface Freshness {
  generation(): number;
  audience: { version(subject: string | null, organization: string | null): string };
}

/** An answer ready to be sent. */
export interface Variant {
  headers: Record<string, string>;
  /** The same as Node's `writeHead` takes them fastest: a name and its value in turn. */
  lines: string[];
  body: Buffer<ArrayBuffer>;
}

/** What the checks of a request need to know of a kept answer. */
export interface About {
  /** The template of its route. */
  route: string;
  /** Who may have it, in the word of `x-access`. */
  access: string;
  /** Whether it counts as expensive where callers are limited. */
  expensive: boolean;
}

export interface Kept extends About {
  key: string;
  stamp: string;
  /** Names its bytes, whatever their coding. */
  tag: string;
  variants: Map<Coding, Variant>;
  /** Codings that are being made. */
  making: Map<Coding, Promise<Variant>>;
  notModified: Variant;
}

export type Answers = ReturnType<typeof createAnswers>;

/** How long an answer of the catalog may outlive it. */
const staleMilliseconds = 5;
const defaultBytes = 48 * 1024 * 1024;
/** What an entry costs beside its bodies. */
const overhead = 2048;
/** An address longer than that is not worth a place. */
const longestAddress = 2048;
/** A coding has a tag of its own: strong tags stand for bytes (RFC 9110 8.8.3). */
const suffixes: Record<Coding, string> = { identity: '', gzip: '-gz', br: '-br' };

/**
 * Keeps answers to GET as bytes, within a number of bytes: those that nobody asked for longest go first. Each holds as long as
 * `fresh` says what it said when the answer was made.
 */
export function createAnswers(fresh: Freshness, maxSize = defaultBytes) {
  const answers = new LRUCache<string, Kept>({
    maxSize,
    maxEntrySize: maxSize / 8,
    sizeCalculation: ({ variants }) =>
      [...variants.values()].reduce((sum, { body }) => sum + body.length, overhead),
  });
  const counted = { hits: 0, misses: 0 };

  /** The generation as it was some milliseconds ago at most: asking costs more than the rest of a look-up. */
  const recent = { generation: '', at: Number.NEGATIVE_INFINITY };

  function recentGeneration(): string {
    return performance.now() - recent.at < staleMilliseconds ? recent.generation : exactGeneration();
  }

  function exactGeneration(): string {
    recent.generation = String(fresh.generation());
    recent.at = performance.now();
    return recent.generation;
  }

  function stampOf(generation: string, viewer: Viewer | null): string {
    if (viewer === null) return generation;
    const subject = viewer.kind === 'user' ? viewer.subject : null;
    return `${generation} ${fresh.audience.version(subject, viewer.organization)}`;
  }

  const stamp = (viewer: Viewer | null) => stampOf(exactGeneration(), viewer);

  async function encode(kept: Kept, coding: Exclude<Coding, 'identity'>): Promise<Variant> {
    const identity = kept.variants.get('identity')!;
    const body = await compress(identity.body, coding);
    const { ETag: _, 'Content-Length': __, ...headers } = identity.headers;
    const made =
      body.length < identity.body.length
        ? variant({ bytes: body, headers, tag: kept.tag }, coding)
        : identity;
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
      if (kept === undefined) return undefined;
      if (kept.stamp !== stampOf(exact ? exactGeneration() : recentGeneration(), viewer)) return undefined;
      counted.hits++;
      return kept;
    },

    /** Keeps an answer that was made after `stamped` was taken by `stamp`, unless something changed since. */
    keep(address: string, viewer: Viewer | null, stamped: string, made: Made, about: About): Kept {
      counted.misses++;
      const { 'Content-Type': _, 'Content-Disposition': __, ...headers } = made.headers;
      const kept: Kept = {
        ...about,
        key: keyOf(address, viewer),
        stamp: stamped,
        tag: made.tag,
        variants: new Map([['identity', variant(made, 'identity')]]),
        making: new Map(),
        notModified: ready({ ...headers, ETag: `"${made.tag}"` }, Buffer.alloc(0)),
      };
      if (stamped === stamp(viewer) && address.length <= longestAddress) answers.set(kept.key, kept);
      return kept;
    },

    /** The answer in a coding, compressed once and kept; where that makes it no smaller, as it is. */
    async written(kept: Kept, coding: Coding): Promise<Variant> {
      const found = kept.variants.get(coding);
      // What is not compressed is there from the beginning.
      if (found || coding === 'identity') return found!;
      const making = kept.making.get(coding) ?? encode(kept, coding);
      kept.making.set(coding, making);
      return making.finally(() => kept.making.delete(coding));
    },

    stats: () => ({ entries: answers.size, bytes: answers.calculatedSize, ...counted }),
  };
}

/** Neither an address nor the text of a viewer holds a line feed, so that one key is never read as another. */
function keyOf(address: string, viewer: Viewer | null): string {
  return viewer === null ? address : `${callerOf(viewer)}\n${address}`;
}

const callers = new WeakMap<Viewer, string>();

/** Who is asking, in one text: the same for the same person with the same rights. */
export function callerOf(viewer: Viewer): string {
  let caller = callers.get(viewer);
  if (caller === undefined) {
    caller =
      viewer.kind === 'integration'
        ? `integration ${viewer.id}`
        : JSON.stringify([viewer.subject, viewer.organization, ...[...viewer.entitlements].sort()]);
    callers.set(viewer, caller);
  }
  return caller;
}

function variant({ bytes, headers, tag }: Made, coding: Coding): Variant {
  const own = { ...headers, ETag: `"${tag}${suffixes[coding]}"`, 'Content-Length': String(bytes.length) };
  return ready(coding === 'identity' ? own : { ...own, 'Content-Encoding': coding }, bytes);
}

const ready = (headers: Record<string, string>, body: Buffer<ArrayBuffer>): Variant => ({
  headers,
  lines: Object.entries(headers).flat(),
  body,
});

/** Whether an `If-None-Match` header names a tag, in any coding. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => {
    const entry = each.trim().replace(/^W\//, '');
    return entry === '*' || Object.values(suffixes).some((suffix) => entry === `"${tag}${suffix}"`);
  });
}
