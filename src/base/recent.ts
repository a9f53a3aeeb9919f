/**
 * A map that keeps about the last `most` keys in use, for what comes from outside. Two halves stand for an order of use:
 * a key that is used moves to the young one, and when that is full the old one is dropped whole.
 */
export function createRecent<T>(most: number) {
  let young = new Map<string, T>();
  let old = new Map<string, T>();

  function set(key: string, value: T): void {
    if (young.size >= most / 2) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
    old.delete(key);
  }

  return {
    get(key: string): T | undefined {
      const found = young.get(key);
      if (found !== undefined) return found;
      const aged = old.get(key);
      if (aged !== undefined) set(key, aged);
      return aged;
    },
    set,
    delete(key: string): void {
      young.delete(key);
      old.delete(key);
    },
    size: () => young.size + old.size,
  };
}
