interface Half<T extends object> {
  entries: Map<string, Placed<T>>;
  bytes: number;
}

interface Placed<T extends object> {
  key: string;
  value: T;
  bytes: number;
  half: Half<T>;
}

/** What an entry costs beside its own bytes. */
const overhead = 2048;

/**
 * Keeps values within a number of bytes. Two halves stand for an order of use: what is used moves to the young half,
 * and when that is full the old one is dropped whole.
 */
export function createShelf<T extends object>(mostBytes: number) {
  const empty = (): Half<T> => ({ entries: new Map(), bytes: 0 });
  let young = empty();
  let old = empty();
  let places = new WeakMap<T, Placed<T>>();

  function put(key: string, placed: Placed<T>): void {
    if (young.bytes + placed.bytes > mostBytes / 2) {
      old = young;
      young = empty();
    }
    placed.half = young;
    young.entries.set(key, placed);
    young.bytes += placed.bytes;
  }

  function take(half: Half<T>, key: string): Placed<T> | undefined {
    const found = half.entries.get(key);
    if (found && half.entries.delete(key)) half.bytes -= found.bytes;
    return found;
  }

  return {
    has: (key: string) => young.entries.has(key) || old.entries.has(key),
    get(key: string): T | undefined {
      const found = young.entries.get(key);
      if (found) return found.value;
      const aged = take(old, key);
      if (aged) put(key, aged);
      return aged?.value;
    },
    /** Keeps a value of so many bytes; one that would fill half of a half alone is not worth it. */
    set(key: string, value: T, bytes: number): void {
      take(young, key);
      take(old, key);
      if (bytes + overhead > mostBytes / 4) return;
      const placed = { key, value, bytes: bytes + overhead, half: young };
      places.set(value, placed);
      put(key, placed);
    },
    /** Counts further bytes of a value that is kept here. */
    grow(value: T, bytes: number): void {
      const placed = places.get(value);
      if (!placed || take(placed.half, placed.key) !== placed) return;
      placed.bytes += bytes;
      if (placed.bytes <= mostBytes / 4) put(placed.key, placed);
    },
    clear(): void {
      young = empty();
      old = empty();
      places = new WeakMap();
    },
    size: () => young.entries.size + old.entries.size,
    bytes: () => young.bytes + old.bytes,
  };
}
