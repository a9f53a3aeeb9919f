import { headText } from '../wire/whole.ts';
import { type Coding, compress } from './coding.ts';
import { createShelf } from './shelf.ts';

/** An answer as its route made it: bytes, headers without `ETag` and length, and the tag of its bytes. */
export interface Made {
  bytes: Buffer;
  headers: Record<string, string>;
  tag: string;
}

/** One way to write a prepared answer. */
export interface Variant {
  /** The body; as a text of one character a byte where it is small, which Node sends in one piece with the head. */
  content: Buffer | string;
  headers: Record<string, string>;
  /** Those headers and the ones of every answer, as they are written. */
  head: string;
}

/** An answer that is kept as bytes. */
export interface Prepared {
  route: string;
  /** Who may have it, in the word of `x-access`. */
  access: string;
  /** Whether its route counts as expensive where callers are limited. */
  expensive: boolean;
  tag: string;
  variants: Map<Coding, Variant>;
  /** Codings that are being made. */
  making: Map<Coding, Promise<Variant>>;
  notModified: Omit<Variant, 'content'>;
}

/** What an answer depends on: the catalog alone, so that all who may see it share it, or all of the database and the caller. */
export type Source = 'catalog' | 'database';

/** What of the database says that an answer holds still. */
export interface Freshness {
  generation(): number;
  recentGeneration(): number;
  changes(): string;
}

export interface PreparedStats {
  entries: number;
  bytes: number;
  hits: number;
  misses: number;
}

export type PreparedAnswers = ReturnType<typeof createPreparedAnswers>;

const defaultBytes = 48 * 1024 * 1024;
/** Beyond it a text costs more than it saves. */
const smallBody = 24 * 1024;
/** A path longer than that is not worth a place. */
const longestTarget = 2048;

/**
 * Keeps answers as bytes, within a number of bytes: those that nobody asked for longest go first. All are dropped when
 * the catalog changes, and those that depend on users' data when anything is written. `common` are the headers of
 * every answer, a name and its value in turn.
 */
export function createPreparedAnswers(db: Freshness, common: readonly string[], mostBytes = defaultBytes) {
  const shelves = {
    catalog: createShelf<Prepared>(mostBytes * 0.75),
    database: createShelf<Prepared>(mostBytes * 0.25),
  };
  const holds = { catalog: -1, database: '' };
  const counted = { hits: 0, misses: 0 };

  /** Drops what no longer holds. Answers of the catalog may be a millisecond old, users' data never. */
  function refresh(source: Source, exact: boolean): void {
    if (source === 'catalog') {
      const generation = exact ? db.generation() : db.recentGeneration();
      if (generation === holds.catalog) return;
      holds.catalog = generation;
    } else {
      const changes = db.changes();
      if (changes === holds.database) return;
      holds.database = changes;
    }
    shelves[source].clear();
  }

  function count(found: Prepared | undefined): Prepared | undefined {
    if (found) counted.hits++;
    else counted.misses++;
    return found;
  }

  const keyOf = (source: Source, target: string, caller: string) =>
    // Neither holds a line feed, so that one is never read as the other.
    source === 'catalog' ? target : `${caller}\n${target}`;

  function headOf(status: number, headers: Record<string, string>): string {
    return headText(status, [...Object.entries(headers).flat(), ...common]);
  }

  function variant(made: Made, body: Buffer, coding: Coding): Variant {
    const headers: Record<string, string> = {
      ...made.headers,
      ETag: `"${made.tag}${suffixes[coding]}"`,
      'Content-Length': String(body.length),
    };
    if (coding !== 'identity') headers['Content-Encoding'] = coding;
    const content = body.length <= smallBody ? body.toString('latin1') : body;
    return { content, headers, head: headOf(200, headers) };
  }

  async function encode(prepared: Prepared, coding: Exclude<Coding, 'identity'>): Promise<Variant> {
    const identity = prepared.variants.get('identity')!;
    const body = await compress(bytesOf(identity), coding);
    const isSmaller = body.length < identity.content.length;
    const { ETag: _, 'Content-Length': __, ...headers } = identity.headers;
    const made = { bytes: body, headers, tag: prepared.tag };
    const written = isSmaller ? variant(made, body, coding) : identity;
    prepared.variants.set(coding, written);
    if (isSmaller) for (const shelf of Object.values(shelves)) shelf.grow(prepared, body.length);
    return written;
  }

  return {
    /** The answer to a target (path and query as sent), kept for `caller` where it depends on users' data. */
    find(source: Source, target: string, caller: string): Prepared | undefined {
      refresh(source, true);
      return count(shelves[source].get(keyOf(source, target, caller)));
    },

    /** The same for whichever source it has, as cheap as can be: what depends on the catalog may be a millisecond old. */
    glance(target: string, caller: string | null): Prepared | undefined {
      if (shelves.catalog.has(target)) {
        refresh('catalog', false);
        return count(shelves.catalog.get(target));
      }
      if (caller === null) return undefined;
      const key = keyOf('database', target, caller);
      if (!shelves.database.has(key)) return undefined;
      refresh('database', true);
      return count(shelves.database.get(key));
    },

    /** What `keep` needs to know of the database; taken before the answer is made, so that it is never newer. */
    stamp(source: Source): number | string {
      refresh(source, true);
      return holds[source];
    },

    /** Keeps an answer that was made after a stamp was taken, unless something changed since. */
    keep(
      source: Source,
      target: string,
      caller: string,
      stamp: number | string,
      made: Made,
      about: Pick<Prepared, 'route' | 'access' | 'expensive'>,
    ): Prepared {
      const headers: Record<string, string> = { ...made.headers, ETag: `"${made.tag}"` };
      delete headers['Content-Type'];
      delete headers['Content-Disposition'];
      const prepared: Prepared = {
        ...about,
        tag: made.tag,
        variants: new Map([['identity', variant(made, made.bytes, 'identity')]]),
        making: new Map(),
        notModified: { headers, head: headOf(304, headers) },
      };
      refresh(source, true);
      if (holds[source] === stamp && target.length <= longestTarget) {
        shelves[source].set(keyOf(source, target, caller), prepared, made.bytes.length);
      }
      return prepared;
    },

    /** The answer in a coding, compressed once and kept; where that makes it no smaller, as it is. */
    async written(prepared: Prepared, coding: Coding): Promise<Variant> {
      const found = prepared.variants.get(coding);
      // What is not compressed is there from the beginning.
      if (found || coding === 'identity') return found!;
      let making = prepared.making.get(coding);
      if (making === undefined) {
        making = encode(prepared, coding).finally(() => prepared.making.delete(coding));
        prepared.making.set(coding, making);
      }
      return making;
    },

    stats: (): PreparedStats => ({
      entries: shelves.catalog.size() + shelves.database.size(),
      bytes: shelves.catalog.bytes() + shelves.database.bytes(),
      ...counted,
    }),
  };
}

/** The body of an answer as it is sent. */
export function bytesOf({ content }: Variant): Buffer {
  return typeof content === 'string' ? Buffer.from(content, 'latin1') : content;
}

/** A coding has a tag of its own: strong tags stand for bytes (RFC 9110 8.8.3). */
const suffixes: Record<Coding, string> = { identity: '', gzip: '-gz', br: '-br' };

/** Whether an `If-None-Match` header names a tag, in any coding. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => {
    const entry = each.trim().replace(/^W\//, '');
    return entry === '*' || Object.values(suffixes).some((suffix) => entry === `"${tag}${suffix}"`);
  });
}
