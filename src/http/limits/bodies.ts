import { type AppError, unavailable } from '../../base/errors.ts';
import type { Rejection } from './limiter.ts';

const mebibyte = 1024 * 1024;

/** The most bytes of request bodies in memory, of all callers and of one. */
export interface BodyLimits {
  total: number;
  perCaller: number;
}

/** For bodies of the usual size, `maxBody` bytes. */
export const bodyLimits = (maxBody: number): BodyLimits => ({ total: 64 * maxBody, perCaller: 16 * maxBody });
export const uploadBodyLimits: BodyLimits = { total: 192 * mebibyte, perCaller: 96 * mebibyte };

/** A body that is arriving, or is being worked on. */
export type HeldBody = ReturnType<BodyBudget['hold']>;

interface Entry {
  bytes: number;
  drop: (() => void) | null;
}

export type BodyBudget = ReturnType<typeof createBodyBudget>;

/**
 * Bounds the memory that request bodies take, whole or not (rule S2.9). A caller may hold `perCaller` bytes, and never more
 * than it leaves free: so there is room for the next caller, whatever others hold. To make that room, the caller who holds
 * most loses the oldest body that is still arriving, unless the newcomer would then hold more.
 */
export function createBodyBudget(
  { total, perCaller }: BodyLimits,
  rejected: (why: Rejection) => void = () => undefined,
) {
  const callers = new Map<string, { bytes: number; entries: Set<Entry> }>();
  let held = 0;

  function busy(): AppError {
    rejected('bodies');
    return unavailable('Too many request bodies are being received. Try again', 5);
  }

  /** Drops one arriving body of the caller who holds most, if that is more than `bytes`. Returns whether it did. */
  function makeRoom(bytes: number): boolean {
    let most = bytes;
    let oldest: Entry | undefined;
    for (const caller of callers.values()) {
      const arriving = [...caller.entries].find(({ drop, bytes: own }) => drop !== null && own > 0);
      if (caller.bytes > most && arriving) [most, oldest] = [caller.bytes, arriving];
    }
    oldest?.drop?.();
    return oldest !== undefined;
  }

  return {
    /** Begins to count a body of a caller. */
    hold(caller: string) {
      const own = callers.get(caller) ?? { bytes: 0, entries: new Set() };
      callers.set(caller, own);
      const entry: Entry = { bytes: 0, drop: null };
      own.entries.add(entry);
      const release = () => {
        own.entries.delete(entry);
        own.bytes -= entry.bytes;
        held -= entry.bytes;
        entry.bytes = 0;
        entry.drop = null;
        if (own.entries.size === 0 && callers.get(caller) === own) callers.delete(caller);
      };
      const dropped = new Promise<never>((_, reject) => {
        entry.drop = () => {
          release();
          reject(busy());
        };
      });
      // Nobody looks at it once the body is whole.
      dropped.catch(() => undefined);
      return {
        /** Rejects with 503 when the body has to make room for those of other callers. */
        dropped,
        /** Counts bytes that arrived. Throws 503 when there is no room for them. */
        take(bytes: number): void {
          const after = own.bytes + bytes;
          if (after > perCaller) throw busy();
          while (after > total - (held + bytes)) if (!makeRoom(after)) throw busy();
          entry.bytes += bytes;
          own.bytes += bytes;
          held += bytes;
        },
        /** Says that it is whole: it makes room for no other any more. */
        whole(): void {
          entry.drop = null;
        },
        /** Gives its bytes back; call it once at the end. */
        release,
      };
    },
    held: () => held,
  };
}
