import { statfsSync } from 'node:fs';
import type { Log } from '../base/log.ts';
import { systemEvent } from './event.ts';
import type { AuditStream } from './stream.ts';

/** Above this share of the disk a warning is due (V-222483); below the other one it ends. */
const high = 0.75;
const low = 0.7;

/** The used share of a folder's file system, not counting space reserved for root. */
export function shareTaken(folder: string): number {
  const { blocks, bfree, bavail } = statfsSync(folder);
  const taken = blocks - bfree;
  return taken + bavail === 0 ? 1 : taken / (taken + bavail);
}

/** Gives a check of the stream's disk that reports when it fills beyond 75 % and when it has room again. */
export function createWatermark(audit: AuditStream, log: Log, share: () => number): () => void {
  let above = false;
  return () => {
    let taken: number;
    try {
      taken = share();
    } catch (error) {
      log.warn('the free space for the audit stream cannot be read', { reason: (error as Error).message });
      return;
    }
    if (above ? taken >= low : taken < high) return;
    above = !above;
    const percent = Math.round(taken * 100);
    if (above) log.warn('the disk for the audit stream is filling up', { percent });
    else log.info('the disk for the audit stream has space again', { percent });
    const how = above ? ({ outcome: 'failure', reason: 'DISK_FILLING' } as const) : {};
    audit.note(systemEvent('disk.watermark', { percent }, { objectType: 'disk', ...how }));
  };
}
