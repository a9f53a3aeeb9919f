import { type AppError, unavailable } from '../../base/errors.ts';
import type { Rejection } from './limiter.ts';

const mebibyte = 1024 * 1024;

/** The most bytes of request bodies in memory: in total and for one caller. */
export interface BodyLimits {
  total: number;
  perCaller: number;
}

/** Limits for bodies of at most `maxBody` bytes. */
export const bodyLimits = (maxBody: number): BodyLimits => ({ total: 64 * maxBody, perCaller: 16 * maxBody });
export const uploadBodyLimits: BodyLimits = { total: 192 * mebibyte, perCaller: 96 * mebibyte };

/** A body being received or processed. */
export type HeldBody = ReturnType<BodyBudget['hold']>;

interface Entry {
  bytes: number;
  drop: (() => void) | null;
}

export type BodyBudget = ReturnType<typeof createBodyBudget>;

/**
 * Bounds the memory of request bodies, complete or not (rule S2.9). A caller may hold `perCaller` bytes, and at most as
 * many as stay free, so that the next caller always finds room. To make room, the caller that holds most loses its
 * oldest incomplete body, unless the requesting caller would then hold more.
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

  /** Drops one incomplete body of the caller that holds most, if that is more than `bytes`. Gives whether it did. */
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
      // Nothing awaits it once the body is complete, and an unhandled rejection would end the process.
      dropped.catch(() => undefined);
      return {
        /** Rejects with 503 when the body is dropped to make room for another caller. */
        dropped,
        /** Counts received bytes. Throws 503 when there is no room for them. */
        take(bytes: number): void {
          const after = own.bytes + bytes;
          if (after > perCaller) throw busy();
          while (after > total - (held + bytes)) if (!makeRoom(after)) throw busy();
          entry.bytes += bytes;
          own.bytes += bytes;
          held += bytes;
        },
        /** The body is complete: it can no longer be dropped. */
        whole(): void {
          entry.drop = null;
        },
        /** Frees its bytes; call it once at the end. */
        release,
      };
    },
    held: () => held,
  };
}
