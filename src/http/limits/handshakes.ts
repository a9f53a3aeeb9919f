import { LRUCache } from 'lru-cache';

/** Bytes of a handshake: one with a chain of four certificates takes 8 KB, and half a record of what follows 16 KB. */
export const mostOfHandshake = 24 * 1024;
const refusedMilliseconds = 60_000;
/** The least recently added addresses are forgotten. */
const mostAddresses = 10_000;

/**
 * The addresses that sent more in a TLS handshake than a client needs (rule D43.1): OpenSSL verifies up to 100 KB of
 * certificates before anybody knows who sent them. Keys are those of `addressKey`;
 * `clock` gives monotonic milliseconds.
 */
export function createHandshakeLimit(clock: () => number = () => performance.now()) {
  const until = new LRUCache<string, number>({ max: mostAddresses });
  return {
    /** Whether a handshake that received so many bytes was too large. Then its address is refused for a minute. */
    isTooLarge(key: string, bytes: number): boolean {
      if (bytes <= mostOfHandshake) return false;
      until.set(key, clock() + refusedMilliseconds);
      return true;
    },
    isRefused: (key: string): boolean => clock() < (until.get(key) ?? 0),
  };
}
